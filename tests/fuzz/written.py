"""A finding as a pytest file."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

TEMPLATE = '''"""Found by random testing: {kind}.

{message}

Again: python -m tests.fuzz --family {family} --seed {seed} --index {index}
"""

{imports}


def test_{name}({fixtures}):
{body}'''


KINDS = {
    "unsafe": "a number or statement that is not so",
    "internal": "an internal error",
    "too loose": "a bound far above the truth",
}


@dataclass(frozen=True)
class Body:
    """What a test does: its lines, what they import and the fixtures they use."""

    lines: str
    imports: str = "import dpradar as dr"
    fixtures: str = ""


def module_of(family: str, seed: int, index: int, kind: str, message: str, body: Body) -> str:
    """Return the source of a test that fails while the finding is there."""
    return TEMPLATE.format(
        family=family,
        name=f"{family.replace('-', '_')}_{seed}_{index}",
        seed=seed,
        index=index,
        kind=KINDS[kind],
        message=message.replace("\\", "\\\\").replace('"""', "'''"),
        imports=body.imports,
        fixtures=body.fixtures,
        body=indent(body.lines, "    ").rstrip() + "\n",
    )
