"""``dpradar calibrate MECHANISM ... --limit rad=0.1``: the parameter that is left out is chosen."""

from __future__ import annotations

import difflib
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..calibration import Limit
from ..calibration.calibrate import DEFAULT_PRECISION, calibrate_family
from ..calibration.calibrate_options import FREE
from ..calibration.limit import AT
from ..calibration.release_family import Family, family_of_template
from ..errors import ParameterError
from ..options.reading import FLAGS, number
from ..options.tables import options_in
from ..spec.model import RELATION
from ..spec.question import release_of, sized, threat_of
from .described_options import click_option
from .main import EXIT_INTERRUPTED, EXIT_UNMET
from .progress import show_progress
from .release_options import ReleaseGroup, further_options, release_options

if TYPE_CHECKING:
    from ..params import Param
    from ..results import Calibration
    from ..spec.release_kinds import Kind
    from ..threats import Threat

__all__ = ["group"]

_LIMITS = {option.name: option for option in options_in(Limit)}
_EXAMPLES = ("tpr=0.05@fpr=0.01", "epsilon=1@delta=1e-5, or epsilon=1@delta=0")


def _command(kind: Kind) -> click.Command:
    options = [*release_options(kind, free=True), *further_options(kind)]
    options.append(
        click.Option(
            ["--limit", "limits"],
            multiple=True,
            required=True,
            metavar="NAME=VALUE",
            help="rad=0.1, success=..., gain=..., worst_gain=..., tpr=0.05@fpr=0.01, epsilon=1@delta=1e-5, or of the "
            "accuracy error=..., variance=..., frequency_error=...@reports=N (1 unless given). May be given several "
            "times. rad=0.1@acknowledge=near-ceiling accepts a release that hardly protects.",
        )
    )
    options.append(click_option(FREE))
    return click.Command(kind.name, params=options, callback=partial(_run, kind), help=kind.help)


def _free(kind: Kind, options: dict[str, Any]) -> Param:
    """Return the parameter to choose: the one named, or the one of those that make noise that is not given."""
    candidates = {param.name: param for param in kind.params if param.more_private is not None}
    flag = options.pop(FREE.name)
    if flag is not None:
        name = flag.replace("-", "_")
        if name not in candidates:
            allowed = f"one of {', '.join(candidates) or 'none'}"
            raise ParameterError(FLAGS(FREE.name), allowed, repr(flag), "It is chosen for you.")
        return candidates[name]
    free = [param for param in candidates.values() if options[param.name] is None]
    if len(free) != 1:
        got = ", ".join(param.name for param in free) or "none"
        flags = ", ".join(map(FLAGS, candidates))
        hint = f"Leave out {flags}." if len(candidates) == 1 else f"Give all of {flags} but the one to choose."
        raise ParameterError("calibrate", "left with one parameter to choose", got, hint)
    return free[0]


def _limit(text: str, threat: Threat, neighbours: Any) -> Limit:
    """Return NAME=VALUE, or NAME=VALUE@fpr=X, as a limit."""
    if text.count("=") > 1 and "@" not in text:
        hint = "Such as epsilon=1@delta=1e-5 or tpr=0.05@fpr=0.01; limits of different things each have a --limit."
        raise ParameterError("--limit", "NAME=VALUE, or NAME=VALUE@NAME=VALUE", repr(text), hint)
    settings: dict[str, Any] = {}
    for part in text.removesuffix("@").split("@"):
        name, equals, value = part.partition("=")
        if not equals:
            hint = "Such as --limit rad=0.1 or --limit tpr=0.05@fpr=0.01."
            raise ParameterError("--limit", "NAME=VALUE", repr(text), hint)
        key = name.strip().replace("-", "_")
        if key not in _LIMITS:
            near = difflib.get_close_matches(key, _LIMITS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else "See --help."
            raise ParameterError("--limit", f"about one of {', '.join(sorted(_LIMITS))}", repr(key), hint)
        settings[key] = value.strip() if _LIMITS[key].param is None else number(value, "--limit")
    for name, at in AT.items():
        if name in settings and at not in settings:
            example = next(text for text in _EXAMPLES if text.startswith(name))
            raise ParameterError("--limit", f"given as {name}=VALUE@{at}=VALUE", repr(text), f"Such as {example}.")
    try:
        return Limit(threat, neighbours=neighbours, **settings)
    except ParameterError as error:
        owner, _, option = error.name.partition(".")
        if owner != "Limit" or option not in _LIMITS:
            raise
        raise ParameterError(f"--limit {option}", error.allowed, error.got, error.hint) from None


def _family(kind: Kind, options: dict[str, Any]) -> Family:
    param = _free(kind, options)
    missing = [p.name for p in kind.params if p is not param and options[p.name] is None]
    if missing:
        flag = FLAGS(missing[0])
        raise ParameterError("calibrate", "given every other parameter", f"no {flag}", f"Add {flag}.")
    return family_of_template(param, lambda x: release_of({**options, param.name: x}, FLAGS))


def _run(kind: Kind, **options: Any) -> int:
    limits, as_json = options.pop("limits"), options.pop("as_json")
    options = dict(sized({**options, "kind": kind.name}, FLAGS))
    family = _family(kind, options)
    threat = threat_of(options, FLAGS)
    parsed_limits = tuple(_limit(text, threat, options[RELATION.name]) for text in limits)
    with show_progress("calibrate") as progress:
        result = calibrate_family(family, parsed_limits, DEFAULT_PRECISION, progress.describe)
    _show(result, as_json=as_json)
    if not result.complete:
        return EXIT_INTERRUPTED
    return 0 if result.met and (result.acknowledged or not result.near_ceiling) else EXIT_UNMET


def _show(result: Calibration, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(result.to_dict()))
        return
    click.echo(result.explain())
    if result.met and (result.acknowledged or not result.near_ceiling):
        flag = FLAGS(result.parameter)
        click.echo(
            f"\nAssess it: dpradar assess with the same options and {flag} {result.value!r}. Machine-readable: --json."
        )


def group() -> click.Group:
    """Return the ``calibrate`` group."""
    help_text = "How much noise keeps the risk within a limit? Name a mechanism or a guarantee."
    return ReleaseGroup("calibrate", _command, _reason_against, help=help_text)


def _reason_against(kind: Kind) -> str:
    has_free_parameter = any(param.more_private is not None for param in kind.params)
    return "" if has_free_parameter else "its noise is not one number"
