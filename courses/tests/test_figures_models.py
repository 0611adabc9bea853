"""The two implementations of each figure's model agree over many states."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import numpy as np
import pytest
import quickjs

from courses.figures import kinds, read
from courses.figures.base import Choice, Range, View, initial_state
from courses.figures.numbers import shown
from tests.node_tools import build_static
from tests.platform.instance import PROJECT
from tests.tiers import examples

STATIC = PROJECT / "static"
GENERATED = ("js/chapter.js", "js/chapter-with-figures.js", "css/chapter.css")
# For each kind: parameters to try it with. A kind without an entry fails the first test.
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "norm-geometry": [
        {"x": [2.0, 0.5]},
        {"x": [1.5, -0.5, 2.0], "gamma": [1.0, 0.5, 2.0], "eps": 1e-5, "turn": 40.0},
    ],
    "residual-stream": [{}, {"gain": 0.5, "depth": 30}],
    "scale-law": [{"x": [1.0, 2.0, 3.0, 4.0]}, {"x": [0.5, -2.0], "eps": 1e-4, "alpha": 0.01}],
    "softmax-temperature": [
        {"logits": [2.0, 1.0, 0.5, -1.0]},
        {"logits": [0.0, 30.0], "labels": ["no", "yes"], "temperature": 5.0},
    ],
    "universal-approximation": [{}, {"function": "abs", "activation": "square", "units": 20}],
}
STATES_OF_EACH = examples(8)
# Of what a chapter with figures is sent beyond one without, and of the style sheet.
MOST_BYTES = 12_000
CASES = [(name, given) for name, samples in SAMPLES.items() for given in samples]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the sources of scripts and styles make, with the models alone beside it."""
    return build_static(tmp_path_factory.mktemp("static"))


@pytest.fixture(scope="module")
def script(built: Path) -> quickjs.Context:
    context = quickjs.Context()
    context.eval((built / "js" / "figure-models.js").read_text(encoding="utf-8"))
    return context


def in_script(script: quickjs.Context, call: str, *arguments: Any) -> Any:
    """Return what a call in JavaScript gives; numbers go over as JSON, which is exact."""
    return json.loads(
        script.eval(f"JSON.stringify({call}({','.join(map(json.dumps, arguments))}))")
    )


def states(name: str, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The first state, both ends of every control, and states at random."""
    kind, parameters = read(name, given)
    controls = kind.controls(parameters)
    start = initial_state(controls)
    yield start
    rng = random.Random(f"{name} {given}")
    places: dict[str, list[Any]] = {}
    for control in controls:
        if isinstance(control, Range):
            steps = round((control.high - control.low) / control.step)
            places[control.key] = [
                round(control.low + place * control.step, 9) for place in range(steps + 1)
            ]
        elif isinstance(control, Choice):
            places[control.key] = [value for value, _ in control.options]
        else:
            places[control.key] = [False, True]
        yield start | {control.key: places[control.key][0]}
        yield start | {control.key: places[control.key][-1]}
    for _ in range(STATES_OF_EACH):
        yield {key: rng.choice(values) for key, values in places.items()}


def assert_same(view: View, other: dict[str, Any]) -> None:
    assert other["texts"] == view.texts
    assert other["goals"] == view.goals
    for mine, theirs in ((view.lines, other["lines"]), (view.points, other["points"])):
        assert set(theirs) == set(mine)
        for key, points in mine.items():
            np.testing.assert_allclose(
                np.array(theirs[key]), np.array(points), rtol=1e-7, atol=1e-9, err_msg=key
            )


def test_every_kind_has_a_sample_and_a_script() -> None:
    assert set(SAMPLES) == set(kinds())
    assert {path.stem for path in STATIC.glob("js/figures/kinds/*.js")} == set(kinds())


@pytest.mark.parametrize(("name", "given"), CASES, ids=lambda value: str(value)[:30])
def test_script_and_server_agree(script: quickjs.Context, name: str, given: dict[str, Any]) -> None:
    kind, parameters = read(name, given)
    data = kind.script_data(parameters)
    for state in states(name, given):
        here = kind.view(parameters, state)
        there = in_script(script, f"figureModels[{name!r}].view", data, state)
        assert_same(here, there)


# What a learner may do to solve each task of each kind, from the first sample's first state.
SOLUTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "norm-geometry": {"same": {"x1": 1.5, "x2": -1.5}, "nothing": {"x1": 0.6, "x2": 0.6}},
    "residual-stream": {
        "exploded": {"depth": 14},
        "diluted": {"depth": 44},
        "tamed": {"depth": 48, "gain": "0.25"},
    },
    "scale-law": {"off": {"alpha": -3.0}, "moved": {"alpha": -2.0, "eps": -4.0}},
    "softmax-temperature": {
        "flat": {"temperature": 1.6},
        "sharp": {"temperature": -1.0},
        "overflow": {"shift": 100.0},
    },
    "universal-approximation": {
        "close": {"units": 40},
        "polynomial": {"units": 40, "function": "abs", "activation": "square"},
        "jump": {"units": 30, "function": "step"},
    },
}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_task_can_be_solved_and_none_is_at_the_start(name: str) -> None:
    kind, given = read(name, SAMPLES[name][0])
    start = initial_state(kind.controls(given))
    goals = [goal.key for goal in kind.goals(given)]
    assert kind.view(given, start).goals == dict.fromkeys(goals, False)
    assert list(SOLUTIONS[name]) == goals
    for goal, moved in SOLUTIONS[name].items():
        assert set(moved) <= set(start)
        assert kind.view(given, start | moved).goals[goal], goal


@pytest.mark.parametrize(("name", "given"), CASES, ids=lambda value: str(value)[:30])
def test_sliders_start_where_a_browser_lets_them_stand(name: str, given: dict[str, Any]) -> None:
    kind, parameters = read(name, given)
    for control in kind.controls(parameters):
        if isinstance(control, Range):
            steps = (control.start - control.low) / control.step
            assert abs(steps - round(steps)) < 1e-6, control.key
            assert abs(control.start - control.value) <= control.step / 2 + 1e-9
            assert control.low <= control.start <= control.high


@pytest.mark.parametrize("temperature", [0.01, 0.0123, 0.7, 1.0, 3.0, 100.0])
def test_a_slider_of_powers_starts_exactly_at_its_authors_value(temperature: float) -> None:
    kind, given = read("softmax-temperature", {"logits": [0.0, 1.0], "temperature": temperature})
    slider = next(one for one in kind.controls(given) if one.key == "temperature")
    assert isinstance(slider, Range)
    assert 10**slider.start == pytest.approx(temperature, rel=1e-8)
    assert 10**slider.low * (1 + 1e-8) >= 0.01
    assert slider.low - math.log10(0.01) < slider.step


@pytest.mark.parametrize("name", GENERATED)
def test_the_bundled_scripts_match_their_sources(built: Path, name: str) -> None:
    made, kept = ((folder / name).read_bytes() for folder in (built, STATIC))
    assert made == kept, f"static/{name} is not what its sources make: npm run build"


@pytest.mark.parametrize("name", GENERATED)
def test_generated_files_are_marked_as_generated(name: str) -> None:
    assert "Generated by static/build.mjs" in (STATIC / name).read_text("utf-8").splitlines()[0]
    attributes = (PROJECT / ".gitattributes").read_text().splitlines()
    assert f"/static/{name} linguist-generated -diff" in attributes


def test_script_and_styles_are_small() -> None:
    names = ("js/chapter-with-figures.js", "js/chapter.js", "css/figures.css")
    script, chapters, sheet = (len(brotli.compress((STATIC / name).read_bytes())) for name in names)
    assert 0 < script - chapters + sheet < MOST_BYTES


@pytest.mark.parametrize("given", SAMPLES["norm-geometry"], ids=["plane", "space"])
def test_a_dragged_row_lands_under_the_pointer(
    script: quickjs.Context, given: dict[str, Any]
) -> None:
    kind, parameters = read("norm-geometry", given)
    state = initial_state(kind.controls(parameters))
    data = kind.script_data(parameters)
    moved = in_script(script, "figureModels['norm-geometry'].drag", data, state, [0.7, -1.1])
    assert set(moved) == {f"x{n}" for n in range(1, len(given["x"]) + 1)}
    assert kind.view(parameters, state | moved).points["x"] == pytest.approx((0.7, -1.1))


@pytest.mark.parametrize(
    "value",
    [0.0, 1.0, -1.0, 9999.5, 0.00012345, 0.000099999, 123456.0, 999999.6, 1e-6, -3.2e12, 1e300],
)
@pytest.mark.parametrize("digits", [3, 4])
def test_numbers_look_the_same_before_and_after_the_script(
    script: quickjs.Context, value: float, digits: int
) -> None:
    assert in_script(script, "figureModels.numbers.shown", value, digits) == shown(value, digits)


def test_non_finite_numbers_are_written_in_words(script: quickjs.Context) -> None:
    assert shown(math.inf) == script.eval("figureModels.numbers.shown(Infinity)") == "∞"
    assert shown(-math.inf) == script.eval("figureModels.numbers.shown(-Infinity)") == "−∞"
