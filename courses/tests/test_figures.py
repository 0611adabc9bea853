"""Figures as content: from files to the page and back, and errors in them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from django.conf import settings
from django.test import Client

from courses import services
from courses.content import yaml_format
from courses.content.errors import ContentError
from courses.content.exporter import export_course
from courses.content.importer import load_course
from courses.figures import figure_page, kinds
from courses.figures.axes import Axis, Plane, decades
from courses.figures.kinds.norm_geometry import NormGeometry, NormGeometryParameters
from courses.figures.kinds.scale_law import Scale
from courses.figures.kinds.universal_approximation import fit, sup_errors
from courses.figures.simulate_residual import DATA_PATH, mean_over_seeds
from courses.figures.svg import Drawing, path
from courses.models import Chapter, Course, Figure

from .admin_forms import change_url, errors_at, form_data, prefix_of, send
from .conftest import CHAPTER_URL
from .test_figures_models import CASES

SVG = "{http://www.w3.org/2000/svg}"
# In the order that a person may write them, which is not that of the kind.
SOFTMAX = {"temperature": 2.0, "logits": [1.0, 2, -0.5]}


def figure(**changes: Any) -> dict[str, Any]:
    return {
        "key": "bars",
        "kind": "softmax-temperature",
        "title": "Bars & more",
        "caption": "What $T$ does.\n",
        "part": "formula-mean",
        "links": ["formula-mean", "line-total"],
        "parameters": SOFTMAX,
    } | changes


def with_figures(folder: Path, *figures: dict[str, Any]) -> Path:
    """Put figures into the first chapter's file."""
    file = folder / "rows" / "chapter.yaml"
    file.write_text(yaml_format.dump(yaml_format.load(file.read_text()) | {"figures": [*figures]}))
    return folder


def load(folder: Path, *figures: dict[str, Any]) -> Chapter:
    report = load_course(with_figures(folder, *figures))
    assert not report.failed, report.failed
    return Chapter.objects.select_related("current_revision").get(slug="rows")


@pytest.mark.django_db
def test_a_figure_comes_back_as_it_was_written(course_files: Path, tmp_path: Path) -> None:
    load(course_files, figure(), figure(key="again", parameters={"logits": [0.1, 1e-06]}))
    export_course(Course.objects.get(), tmp_path / "out")
    exported = yaml_format.load((tmp_path / "out/tiny-course/rows/chapter.yaml").read_text())
    assert exported["figures"] == [
        figure(),
        figure(key="again", parameters={"logits": [0.1, 1e-06]}),
    ]
    assert list(exported["figures"][0]["parameters"]) == ["logits", "temperature"]
    assert load_course(tmp_path / "out/tiny-course").failed == []
    again = tmp_path / "again"
    export_course(Course.objects.get(), again)
    for file in (tmp_path / "out").rglob("*.yaml"):
        assert (again / file.relative_to(tmp_path / "out")).read_bytes() == file.read_bytes()


@pytest.mark.django_db
def test_a_chapter_without_figures_says_nothing_of_them(
    tiny_course: Course, client: Client
) -> None:
    html = client.get(CHAPTER_URL).content.decode()
    assert "with-figures.js" not in html


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("part", "before", "after"),
    [
        ("intuition", "an indented item", 'id="part-formulas"'),
        ("heading-one", "Under one.", "Under two."),
        ("formula-mean", 'id="formula-mean"', 'id="formula-square"'),
        ("formulas", 'id="formula-square"', 'id="part-derivation"'),
        ("step-start", 'id="step-start"', 'id="step-divide"'),
        ("mechanism-adding", 'id="mechanism-adding"', 'id="part-code"'),
        ("summary", 'id="part-summary"', 'class="pager"'),
    ],
)
def test_a_figure_stands_where_its_author_put_it(
    course_files: Path, client: Client, part: str, before: str, after: str
) -> None:
    file = course_files / "rows" / "chapter.yaml"
    data = yaml_format.load(file.read_text())
    data["intuition"] += "\n### One\n\nUnder one.\n\n### Two\n\nUnder two.\n"
    data["summary_text"] = data["summary_text"] or "All of it.\n"
    file.write_text(yaml_format.dump(data))
    load(course_files, figure(part=part))
    html = client.get(CHAPTER_URL).content.decode()
    article = html[html.index("<article") :]
    assert article.count('id="figure-bars"') == 1
    assert article.index(before) < article.index('id="figure-bars"') < article.index(after)
    assert 'data-links="formula-mean line-total"' in article
    assert html.count("js/chapter-with-figures.js") == html.count("css/chapter.css") == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"kind": "pie"}, "kind", "softmax-temperature"),
        ({"parameters": {"logits": [1.0]}}, "parameters", "at least 2 items"),
        ({"parameters": {"logit": [1.0, 2.0]}}, "parameters", "logit"),
        ({"parameters": {"logits": [1.0, 1.0]}}, "parameters", "uniform"),
        ({"part": "formula-median"}, "part", "formula-mean"),
        ({"part": "heading-none"}, "part", "heading-none"),
        ({"part": "quiz"}, "part", "intuition"),
        ({"links": ["step-nine"]}, "links", "step-nine"),
        ({"caption": "a $\\nosuch$"}, "caption", "nosuch"),
    ],
)
def test_a_wrong_figure_is_refused_at_its_field(
    rows: Chapter, changes: dict[str, Any], field: str, said: str
) -> None:
    Figure.objects.create(chapter=rows, position=1, **figure(**changes))
    with pytest.raises(ContentError) as caught:
        services.publish_chapter(rows, None)
    assert set(caught.value.errors) == {f"figures/bars/{field}"}
    assert said in caught.value.errors[f"figures/bars/{field}"][0].message


@pytest.mark.django_db
def test_texts_may_link_to_figures_that_are_there(rows: Chapter) -> None:
    Figure.objects.create(chapter=rows, position=1, **figure(caption="See [it](#figure-bars)."))
    services.publish_chapter(rows, None)
    Figure.objects.update(caption="See [it](#figure-pie).")
    with pytest.raises(ContentError, match="no such figure"):
        services.publish_chapter(rows, None)


@pytest.mark.django_db
def test_an_author_edits_a_figure_and_sees_its_errors(author: Client, rows: Chapter) -> None:
    Figure.objects.create(chapter=rows, position=1, **figure())
    url = change_url(rows)
    form = author.get(url)
    prefix = prefix_of(form, "figures", "bars")
    wrong = send(author, url, form_data(form), **{f"{prefix}-parameters": '{"logits": [1.0]}'})
    assert wrong.status_code == 200
    assert "at least 2" in str(errors_at(wrong, "figures", prefix)["parameters"])
    right = send(author, url, form_data(form), **{f"{prefix}-parameters": '{"logits": [1.0, 4.0]}'})
    assert right.status_code == 302
    rows.refresh_from_db()
    assert rows.current_revision is not None
    (shown,) = rows.current_revision.page["figures"]
    assert "(1.00, 4.00)" in shown["svg"]


@pytest.mark.parametrize(("name", "given"), CASES, ids=lambda value: str(value)[:30])
def test_a_picture_is_described_and_can_take_the_pages_colours(
    name: str, given: dict[str, Any]
) -> None:
    page = figure_page("some-key", name, "A < title", given)
    markup = page["svg"].replace("<svg", f'<svg xmlns="{SVG[1:-1]}"', 1)
    svg = ElementTree.fromstring(markup)  # noqa: S314  our own
    title, text = svg.find(f"{SVG}title"), svg.find(f"{SVG}desc")
    assert title is not None
    assert text is not None
    assert title.text == "A < title"
    assert (svg.get("aria-labelledby"), svg.get("aria-describedby")) == (
        title.get("id"),
        text.get("id"),
    )
    assert len(text.text or "") > 80
    for element in svg.iter():
        assert not {"style", "fill", "stroke", "onclick"} & set(element.attrib), element.attrib
        assert "nan" not in element.get("d", "") + element.get("transform", "")
    ids = re.findall(r'\sid="([^"]+)"', page["svg"])
    assert len(ids) == len(set(ids))
    assert all("some-key" in one for one in ids)


@pytest.mark.parametrize(("name", "given"), CASES, ids=lambda value: str(value)[:30])
def test_all_that_moves_is_named_alike_in_picture_table_and_controls(
    name: str, given: dict[str, Any]
) -> None:
    kind = kinds()[name]
    parameters = kind.parameters.model_validate(given)
    page = figure_page("key", name, "Title", given)
    controls = [one for group in page["groups"] for one in group["controls"]]
    keys = {one["key"] for one in controls}
    view = kind.view(parameters, {one.key: one.value for one in kind.controls(parameters)})
    for part in re.findall(r'<path[^>]* data-part="([^"]+)"', page["svg"]):
        assert part in view.lines
    for part in re.findall(r'<g[^>]* data-part="([^"]+)"', page["svg"]):
        assert part in view.points
    for dragged in re.findall(r'data-drag="([^"]+)"', page["svg"]):
        assert set(dragged.split()) <= keys
    assert {one["key"] for one in controls if one["kind"] == "range"} <= set(view.texts)
    assert {goal["key"] for goal in page["goals"]} == set(view.goals)
    planes = json.loads(page["script"])["planes"]
    assert set(re.findall(r'data-plane="([^"]+)"', page["svg"])) | {"main"} == set(planes)


def test_rmsnorm_and_layernorm_of_the_picture_are_those_of_numpy() -> None:
    kind = NormGeometry()
    given = NormGeometryParameters(x=[1.2, -0.4, 2.0], gamma=[1.0, 0.5, 2.0], eps=1e-3)
    x, gamma = np.array(given.x), np.array(given.gamma)
    texts = kind.view(given, {one.key: one.value for one in kind.controls(given)}).texts
    rms_y = x / np.sqrt(np.mean(x**2) + 1e-3) * gamma
    ln_y = (x - x.mean()) / np.sqrt(x.var() + 1e-3) * gamma
    assert numbers_in(texts["rms-y"]) == pytest.approx(rms_y, abs=5.1e-3)
    assert numbers_in(texts["ln-y"]) == pytest.approx(ln_y, abs=5.1e-3)


def numbers_in(text: str) -> Sequence[float]:
    return [float(number) for number in text.strip("()").replace("−", "-").split(", ")]


@pytest.mark.parametrize("alpha", [1e-5, 1e-4, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("eps", [1e-12, 1e-6, 1e-2])
def test_the_scale_laws_closed_form_is_the_jacobian(alpha: float, eps: float) -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])

    def jacobian(row: np.ndarray, eps: float) -> np.ndarray:
        rms = np.sqrt(np.mean(row**2) + eps)
        return (np.eye(4) - np.outer(row / rms, row / rms) / 4) / rms

    exact, law = jacobian(alpha * x, eps), jacobian(x, 0.0) / alpha
    scale = Scale(list(x), eps)
    assert scale.gradient(alpha) == pytest.approx(np.linalg.norm(exact), rel=1e-9)
    assert scale.law(alpha) == pytest.approx(np.linalg.norm(law), rel=1e-12)
    off = np.linalg.norm(exact - law) / np.linalg.norm(law)
    assert scale.error(alpha) == pytest.approx(off, rel=1e-6, abs=1e-12)
    y = alpha * x / np.sqrt(np.mean((alpha * x) ** 2) + eps)
    assert scale.size(alpha) == pytest.approx(np.sqrt(np.mean(y**2)), rel=1e-12)


def test_the_law_is_off_by_what_the_chapter_says() -> None:
    scale = Scale([1.0, 2.0, 3.0, 4.0], 1e-6)
    assert scale.error(1e-3) == pytest.approx(0.088, abs=5e-4)
    assert scale.error(1e-4) == pytest.approx(0.75, abs=5e-3)
    assert scale.error(scale.edge()) == pytest.approx(0.01, rel=1e-6)


def test_hidden_units_approximate_only_continuous_functions() -> None:
    smooth = sup_errors("wave", "relu")
    assert smooth[39] < 0.01 < smooth[19] < smooth[9]
    assert sup_errors("abs", "square")[39] == pytest.approx(3 / 16, rel=1e-2)
    assert min(sup_errors("step", "relu")) >= 1
    assert sup_errors("abs", "relu")[2] < 1e-12
    output, error = fit("square", "tanh", 5)
    assert np.max(error) == np.max(np.abs(np.linspace(-1, 1, 201) ** 2 - output))


@pytest.mark.parametrize("gain", [1.0, 0.25])
def test_the_simulation_gives_its_data_again(gain: float) -> None:
    blocks = 3
    stored = json.loads(DATA_PATH.read_text())["variances"][f"{gain:g}"]
    for name, variances in mean_over_seeds(gain, blocks).items():
        assert variances == pytest.approx(stored[name][: blocks + 1], rel=2e-4)


def test_an_axis_maps_ends_to_ends_and_decades_to_equal_steps() -> None:
    axis = Axis(1e-2, 1e2, 10, 90, log=True)
    places = [axis(10.0**exponent) for exponent in range(-2, 3)]
    assert places == pytest.approx([10, 30, 50, 70, 90])
    assert Axis(-1, 1, 100, 0)(0.5) == pytest.approx(25)
    assert axis(0.0) < -100
    assert [label for _, label in decades(1e-3, 1e3, 2)] == ["10⁻²", "1", "10²"]


def test_a_path_is_through_its_points() -> None:
    assert path([(0.04, 1), (2.26, -1.5), (2.26, 0)], closed=True) == "M0 1l2.3 -2.5 0 1.5z"
    assert path([]) == ""
    assert path([(1, 2)]) == "M1 2"


def test_the_reference_names_every_kind_with_its_parameters_and_their_values() -> None:
    page = (Path(settings.BASE_DIR) / "docs/reference/figures.md").read_text(encoding="utf-8")
    sections = re.split(r"^### `(.+)`$", page, flags=re.MULTILINE)[1:]
    documented = {
        name: re.findall(r"^\| `(\w+)` \| .* \| (.+) \|$", text, flags=re.MULTILINE)
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }
    in_words = {"[]": {"ones", "z1, z2, ..."}}
    assert list(documented) == list(kinds())
    for name, rows in documented.items():
        fields = kinds()[name].parameters.model_fields
        assert [parameter for parameter, _ in rows] == list(fields)
        for parameter, value in rows:
            field = fields[parameter]
            default = "must be given" if field.is_required() else str(field.default)
            assert value in in_words.get(default, {default}), (name, parameter)


def test_texts_of_a_drawing_cannot_bring_markup() -> None:
    drawing = Drawing("k", 10, 10, {"main": Plane(Axis(0, 1, 0, 10), Axis(0, 1, 10, 0))})
    drawing.text((1, 2), "<b>&", data_x='"')
    assert '<text class="label" x="1" y="2" data-x="&quot;">&lt;b&gt;&amp;</text>' in (
        drawing.markup("t", "d")
    )
