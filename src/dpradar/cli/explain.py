"""``dpradar explain WORD``: a term, a rule, a mechanism, or a saved result in sentences."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError
from .main import json_option

if TYPE_CHECKING:
    from ..bounds.rule import Rule
    from ..spec import Kind

__all__ = ["explain_command"]


@click.command("explain")
@click.argument("what", metavar="TERM|RULE|NAME|RESULT.json")
@json_option
def explain_command(what: str, *, as_json: bool) -> int:
    """Explain a word, a rule or a saved result.

    A word such as rad or baseline; a rule such as thm-4.2; a mechanism or guarantee such as oue; or a file that --json
    or save() wrote.
    """
    if what.endswith(".json") or Path(what).is_file():
        from ..results import load

        kind, text = "result", load(what).explain()
    else:
        kind, text = _explained(what)
    answer = {"schema": "dpradar/explain/1", "what": what, "kind": kind, "text": text}
    click.echo(json.dumps(answer) if as_json else text)
    return 0


# Bounds that assess makes from those of the rules.
_ADDED = {
    "blind-plus-rad": "success is at most the blind guess plus rad.\nSpeaks about: success.\nGives an upper bound.",
    "prior-region": "what holds for every prior as near to the counted one as the true one may be.\n"
    "For samples, and for tables without their small cells.\nSpeaks about: rad, success, gain.\nGives an upper bound.",
}


def _explained(what: str) -> tuple[str, str]:
    from ..bounds.rules import RULES
    from ..present.glossary import TERMS, term
    from ..spec.release_kinds import KINDS, kind_named

    rules = {rule.name: rule for rule in RULES}
    definition = term(what)
    if definition is not None:
        return "term", f"{what}: {definition}"
    if what in rules:
        return "rule", _rule(rules[what])
    if what in _ADDED:
        return "rule", f"{what}: {_ADDED[what]}"
    if (kind := kind_named(what)) is not None:
        return "release", _kind(what, kind)
    near = difflib.get_close_matches(what.lower(), list(dict.fromkeys([*TERMS, *rules, *_ADDED, *KINDS])), n=3)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "`dpradar list` has the rules and names."
    raise ParameterError("explain", "a term, a rule, a mechanism or a saved result", repr(what), hint)


def _rule(rule: Rule) -> str:
    lines = [f"{rule.name}: {rule.title}.", f"Speaks about: {', '.join(rule.quantities)}."]
    if rule.engine:
        lines.append(
            "Gives the exact value, or a lower bound by simulation." if rule.from_below else "Gives the exact value."
        )
    else:
        lines.append("Gives an upper bound.")
    if rule.cites:
        lines.append(f"Source: {'; '.join(rule.cites)}.")
    return "\n".join(lines)


def _kind(name: str, kind: Kind) -> str:
    lines = [f"{name}: {kind.help}"]
    for param in kind.params:
        more: Any = {"up": "; more of it is more private", "down": "; less of it is more private", None: ""}
        lines.append(f"  {param.name}: {param.what} ({param.allowed}){more[param.more_private]}")
    further = [option for option in kind.names if option not in {param.name for param in kind.params}]
    if further:
        lines.append(f"Further options: {', '.join(further)}.")
    lines.append(
        f"Try it: dpradar new --kind {name}" if not kind.on_command_line else f"Try it: dpradar assess {name} --help"
    )
    return "\n".join(lines)
