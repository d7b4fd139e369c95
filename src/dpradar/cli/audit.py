"""``dpradar audit TARGET ...``: draw outputs of someone's implementation and test its claim."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..audits import Executable, Samples, audit
from ..audits.audit_options import AuditOptions
from ..audits.import_by_name import import_object
from ..errors import ParameterError
from ..guarantees.approx import EPSILON
from ..mechanisms.ldp.parameters import M
from ..options.reading import FLAGS, number, words
from ..options.tables import options_in
from ..spec.claims import ClaimOptions
from ..spec.question import release_of
from ..spec.release_kinds import KINDS, kind_named
from ..threats import Prior, Threat
from . import number_types
from .described_options import takes
from .main import EXIT_INTERRUPTED, EXIT_REFUTED, json_option
from .progress import quiet_option, repeat_command, show_progress
from .sampler_options import claim_options, pairs_of, stated_claim

__all__ = ["audit_command"]

_OPTIONS = options_in(AuditOptions)
(_DOMAIN,), (_EPSILON,) = options_in(AuditOptions, "domain"), options_in(ClaimOptions, "claim_epsilon")
_LOGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
_PROTOCOLS = tuple(name for name, kind in KINDS.items() if kind.group == "local")


if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # older releases of click have no type parameter


class _Protocol(_Choice):
    """A local protocol of ours, or one of a plug-in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of the protocol."""
        kind = None if value in self.choices else kind_named(str(value))
        return value if kind is not None and kind.group == "local" else super().convert(value, param, ctx)


@click.command("audit")
@click.argument("target")
@click.option("--program", is_flag=True, help="TARGET is a command line to run: one input a line, one output a line.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["lines", "json"]),
    default="lines",
    show_default=True,
    help="How a program reads inputs and writes outputs: plain text or JSON, one on each line.",
)
@click.option(
    "--seconds", type=number_types.NUMBER, default=60.0, show_default=True, help="Limit for one run of a program."
)
@click.option(
    "--memory", type=number_types.NUMBER, default=2e9, show_default=True, help="Bytes a program may use; 0: no limit."
)
@click.option("--input", "input_column", default="input", show_default=True, help="Column of a log with the inputs.")
@click.option(
    "--output",
    "output_column",
    default="output",
    show_default=True,
    help="Column (or a,b,c) of a log with the outputs.",
)
@claim_options
@click.option(
    "--protocol",
    type=_Protocol(_PROTOCOLS),
    help="Local protocol that the outputs are reports of; the test then uses its likelihood ratio.",
)
@click.option(
    "--rad", "by_rad", is_flag=True, help="Test the claim by the rad of an attack; the prior is uniform unless given."
)
@click.option("--prior", help="With --rad: p1,p2,... or @file.")
@takes(_OPTIONS)
@quiet_option
@json_option
def audit_command(**options: Any) -> int:
    """Test whether the outputs of an implementation contradict its privacy claim.

    TARGET is package.module:function, path/file.py:function, a log (.csv, .tsv, .parquet), or with --program a command
    line. A function takes (inputs, rng), inputs being an array of numbers 0 .. DOMAIN-1, and returns one output each;
    --seed repeats the result if it draws from rng. Exit code 5: the claim is refuted; 0: it is not, which does not
    prove it; 130: interrupted.
    """
    requested = AuditOptions.of(options)
    claim, protocol = stated_claim(options), _protocol(options, requested)
    sampler, pairs = _target(options, requested), pairs_of(options)
    settings = requested.of_logs if isinstance(sampler, Samples) else requested.of_samplers
    if pairs is not None:
        settings["pairs"] = pairs
    threat = _threat(options, requested.domain)
    with show_progress("audit") as progress:
        result = audit(sampler, claim=claim, protocol=protocol, threat=threat, progress=progress.count, **settings)
    result = replace(result, command=repeat_command(result.seed))
    click.echo(json.dumps(result.to_dict()) if options["as_json"] else result.explain())
    if not result.complete:
        return EXIT_INTERRUPTED
    return EXIT_REFUTED if result.refuted else 0


def _protocol(options: dict[str, Any], requested: AuditOptions) -> Any:
    if options["protocol"] is None:
        return None
    size, epsilon = requested.domain, ClaimOptions.of(options).claim_epsilon
    if epsilon is None or size is None:
        allowed = f"used with {FLAGS(_EPSILON.name)} and {FLAGS(_DOMAIN.name)}"
        raise ParameterError("--protocol", allowed, "one of them missing")
    return release_of({"kind": options["protocol"], M.name: size, EPSILON.name: epsilon}, FLAGS)


def _threat(options: dict[str, Any], size: int | None) -> Threat | None:
    if not options["by_rad"]:
        return None
    if options["prior"] is not None:
        probabilities = words(options["prior"], "prior", FLAGS)
        return Threat(Prior.of([number(word, "--prior") for word in probabilities]))
    if size is None:
        raise ParameterError("--rad", f"used with {FLAGS(_DOMAIN.name)} or --prior", "neither")
    FLAGS.check_count(size, _DOMAIN.name)
    return Threat(Prior.uniform(size))


def _target(options: dict[str, Any], requested: AuditOptions) -> Any:
    target = options["target"]
    if options["program"]:
        memory = int(options["memory"]) or None
        return Executable(target, format=options["form"], seconds=options["seconds"], memory=memory)
    if target.lower().endswith(_LOGS):
        columns = options["output_column"].split(",")
        output = columns[0] if len(columns) == 1 else columns
        return Samples.read(target, options["input_column"], output, output_kind=requested.output_kind)
    return import_object(target, "TARGET")
