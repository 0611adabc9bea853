"""Allow-list for HTML in texts. Everything else is removed, whoever wrote it."""

from __future__ import annotations

import functools
import re

import nh3
from pygments.token import STANDARD_TYPES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALLOWED_TAGS = _words(
    "p br hr em strong b i u s del ins sub sup small mark code pre kbd samp var blockquote q cite "
    "abbr ul ol li dl dt dd h3 h4 h5 h6 table caption thead tbody tfoot tr th td a img div span "
    "details summary figure figcaption"
)
# Attributes that this site writes and authors may not.
_OWN_TAGS = frozenset({"input"})
# Not for translation: programs and formulas.
_UNTRANSLATED = re.compile(r"<(code|kbd|pre|samp|var)(?=[ >])")
_HEADINGS = ("h3", "h4", "h5", "h6")
_ATTRIBUTES: dict[str, set[str]] = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "details": {"open"},
    "div": {"tabindex", "role", "aria-label"},
    "input": {"type", "disabled", "checked", "aria-label"},
    "img": {"src", "alt", "title", "width", "height"},
    "li": {"id"},
    "ol": {"start"},
    "sup": {"id"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    **{tag: {"id"} for tag in _HEADINGS},
}
_TOKEN_CLASSES = frozenset(name for name in STANDARD_TYPES.values() if name)
_ALIGNED = {"align-left", "align-center", "align-right"}
_CLASSES: dict[str, set[str]] = {
    "a": {"footnote-ref", "footnote-backref"},
    "li": {"task"},
    "div": {"highlight", "arithmatex", "footnote", "table-scroll"},
    "span": {"arithmatex", *_TOKEN_CLASSES},
    "td": _ALIGNED,
    "th": _ALIGNED,
}
_SCHEMES = frozenset({"http", "https", "mailto"})
_ID = re.compile(r"[\w:.-]{1,200}")


def is_on_this_site(address: str) -> bool:
    """Return whether a picture's address is on this site: the page's policy blocks all others."""
    return re.match(r"/(?![/\\])", address) is not None


def is_allowed_link(address: str) -> bool:
    """Return whether a link's address has no scheme or an allowed one."""
    scheme = re.match(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):", address)
    return scheme is None or scheme.group(1).lower() in _SCHEMES


def _filter(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "id":
        return value if _ID.fullmatch(value) else None
    if tag == "img" and attribute == "src":
        return value if is_on_this_site(value) else None
    if tag == "div":
        allowed = {"tabindex": {"0"}, "role": {"group"}, "aria-label": {"Table"}}
        return value if value in allowed.get(attribute, {value}) else None
    return value


@functools.cache
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=set(ALLOWED_TAGS | _OWN_TAGS),
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        attribute_filter=_filter,
        set_tag_attribute_values={
            "pre": {"tabindex": "0"},
            "input": {"type": "checkbox", "disabled": "disabled"},
        },
        url_schemes=set(_SCHEMES),
        link_rel="noopener",
        strip_comments=True,
    )


def clean_html(html: str) -> str:
    """Return the HTML reduced to the allowed elements, attributes, classes and schemes."""
    cleaned: str = _cleaner().clean(html)
    # Here, because the cleaner writes several attributes in no fixed order.
    return _UNTRANSLATED.sub(r'<\1 translate="no"', cleaned)
