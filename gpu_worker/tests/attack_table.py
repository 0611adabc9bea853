"""Generates the table of attacks in docs/explanation/sandbox.md from the attacks themselves.

python -m gpu_worker.tests.attack_table writes it.
"""

from __future__ import annotations

from pathlib import Path

from gpu_worker.tests.containment import LAYERS, Attack, attacks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "sandbox.md"
BEGIN = "<!-- attacks: made by python -m gpu_worker.tests.attack_table -->\n"
END = "<!-- end of attacks -->\n"


def table() -> str:
    """Return the table in Markdown."""
    head = "| no. | what is tried | namespaces | Landlock | seccomp | always | what remains |\n"
    rows = [head, "| --- | --- | --- | --- | --- | --- | --- |\n"]
    rows += [_row(attack) for attack in attacks(everywhere=True)]
    return "".join(rows)


def _row(attack: Attack) -> str:
    cells = [attack.number, attack.tries]
    for layer in LAYERS:
        needed = attack.alone.get(layer)
        since = f" (from ABI {needed})" if needed and needed > 1 else ""
        cells.append(f"stops{since}" if needed else "")
    cells += [attack.always, attack.residual]
    return f"| {' | '.join(cells)} |\n"


def with_table(page: str) -> str:
    """Return the page with its table made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table() + END + after


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
