"""YAML with one way to write each value, so that export and import are exact inverses.

Keys stand in the order given. A text with a line break, or longer than 80 characters, is a literal
block; everything is in block style. Only YAML's plain values are read: no tags, no dates, no
anchors that could multiply, and no key twice.
"""

from __future__ import annotations

from typing import Any

import yaml

LONG_TEXT_CHARACTERS = 80
LINE_WIDTH = 100
# YAML takes these for line breaks or drops them, unless they are escaped between quotes.
UNUSUAL_BREAKS = frozenset("\r\x85\u2028\u2029\ufeff")


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None
    if UNUSUAL_BREAKS & set(text):
        style = '"'
    elif "\n" in text or len(text) > LONG_TEXT_CHARACTERS:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


class _Loader(yaml.SafeLoader if not yaml.__with_libyaml__ else yaml.CSafeLoader):  # type: ignore[misc]
    """Plain YAML, except that a repeated key is an error and dates stay text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if key_node.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key_node.value!r} stands here twice",
                    problem_mark=key_node.start_mark,
                )
            seen.add(str(key_node.value))
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in _Loader.yaml_implicit_resolvers.items()
}


def dump(data: Any) -> str:
    """Return the canonical YAML of plain data (dict, list, str, int, bool, None)."""
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=LINE_WIDTH,
        default_flow_style=False,
    )


def load(text: str) -> Any:
    """Return the plain data of a YAML text; `yaml.YAMLError` with line and column if it is none."""
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="aliases (*name) are not allowed here; write the value out",
                problem_mark=event.start_mark,  # type: ignore[arg-type]  # libyaml has its own Mark
            )
    return yaml.load(text, Loader=_Loader)  # noqa: S506  a subclass of the safe loader
