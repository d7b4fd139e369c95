"""Test an implementation for what the rules describe: each finding rests on an audit, with its confidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._version import __version__
from ...attacks.attack_runs import checked_seed
from ...audits import audit
from ...audits.audit_options import SIGNIFICANCE, TRIALS
from ...audits.output_sources import source_of
from ...errors import ParameterError
from ...guarantees.privacy import HasPrivacy
from ...numerics.lazy_numpy import Array, Bools, Floats, Int64s, np
from ...results.lint import LintFinding, LintReport
from .rule_texts import make_finding

if TYPE_CHECKING:
    from ...audits.audit_plan import Progress
    from ...audits.output_sources import OutputSource
    from ...results.audit import AuditResult, Witness

__all__ = ["last_bits", "lint_sampler"]

_PROBE = 24  # outputs by which their kind is recognised
_MOST_PARTS = 8  # coordinates that are looked at one by one
_MANTISSA = 53
_ROWS = (list, tuple, set, frozenset, Mapping)
_REMEDY = "Spend less in this output, or claim what it costs."


@dataclass(frozen=True, slots=True)
class _SamplerTest:
    """One way to look at the outputs: a rule, and what is made of an output before it is audited."""

    rule: str
    view: Callable[[Any], Any] | None = None
    pair: int | None = None  # the only pair of databases it is about
    about: str = ""


def last_bits(outputs: Floats) -> Int64s:
    """Return for each number the power of 2 of its last bit that is set; large for 0 and for what is no number.

    Examples
    --------
    >>> last_bits(np.array([1.0, 0.5, 6.0, 0.1])).tolist()
    [0, -1, 1, -55]
    """
    numbers = np.asarray(outputs, dtype=float)
    fraction, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    whole = np.abs(np.ldexp(fraction, _MANTISSA)).astype(np.int64)
    low = whole & -whole
    zeros = np.where(whole == 0, 0, np.frexp(np.maximum(low, 1).astype(float))[1] - 1)
    position = np.where(whole == 0, 2_000, exponent - _MANTISSA + zeros)
    return np.where(np.isfinite(numbers), position, 3_000).astype(np.int64)


def lint_sampler(  # noqa: PLR0913 (keywords that stand for themselves)
    sampler: Any,
    *,
    claim: Any,
    domain: Any = None,
    pairs: Any = None,
    trials: int = 100_000,
    significance: float = 0.05,
    seed: int | None = None,
    vectorised: bool | None = None,
    output_kind: Any = "auto",
    progress: Progress | None = None,
) -> LintReport:
    """Draw outputs of an implementation and look for what a private one never does.

    Looked for: an output that one input never has (support), no randomness at all, rows that are released only where
    they are present (with ``pairs`` of databases and outputs that are sets, lists or mappings of rows), low bits of
    floating-point noise that give the value away, one coordinate that breaks the claim alone, and any other event that
    does. ``sampler``, ``claim``, ``domain`` and ``pairs`` are those of :func:`dpradar.audit`.

    Guarantee
    ---------
    If the claim is true, some finding is made with probability at most ``significance``, which the looks share. No
    finding proves nothing.

    Notes
    -----
    Doctoral thesis, Propositions 3.5, 3.6, Theorem 4.25; Mironov (2012) for low bits. Every look is a function of the
    outputs, so the claim has to hold for it too.

    Examples
    --------
    >>> import dpradar as dr
    >>> from dpradar.granularity import lint_sampler
    >>> claim = dr.PureDP(1.0, neighbours="replace-one")
    >>> noisy = lambda inputs, rng: inputs + rng.laplace(0.0, 1.0, len(inputs))
    >>> report = lint_sampler(noisy, claim=claim, domain=2, trials=20_000, seed=1)
    >>> report.refuted, [finding.rule for finding in report.findings]
    (True, ['float-noise'])
    """
    if not isinstance(claim, HasPrivacy):
        hint = "Such as PureDP(1.0, neighbours='replace-one')."
        raise ParameterError("lint_sampler.claim", "a guarantee", type(claim).__name__, hint)
    total = int(TRIALS.check("lint_sampler", trials))
    level = SIGNIFICANCE.check("lint_sampler", significance)
    root = np.random.SeedSequence(checked_seed("lint_sampler", seed))
    probe = np.random.default_rng(root.spawn(1)[0])
    source = source_of(sampler, domain, pairs, vectorised=vectorised, requested_kind=output_kind, probe=probe)
    if source.log is not None:
        raise ParameterError("lint_sampler.sampler", "a function or a program", "a log", "Audit a log: dpradar audit.")
    looks = _sampler_tests(source, pairs, probe)
    each = max(int(TRIALS.low), total // (len(looks) + 1))
    counts = [max(each, total - each * (len(looks) - 1)), *([each] * (len(looks) - 1))]  # the first is the most general
    seeds = [int(one.generate_state(1)[0]) for one in root.spawn(len(looks))]
    findings: list[LintFinding] = []
    n_outputs, claim_text = 0, ""
    for look, count, start in zip(looks, counts, seeds, strict=True):
        result = _run_audit(source, look, claim, count, level / len(looks), start, output_kind)
        n_outputs += result.trials if result.interrupted else count
        claim_text = result.claim.text
        if progress is not None:
            progress(min(n_outputs, total), total)
        if result.refuted:
            findings.append(_finding(look, result, plain=bool(findings)))
        if result.interrupted:
            if not findings:
                raise KeyboardInterrupt  # what was not looked at is no evidence
            break
    return LintReport(
        subject=f"a sampler over {len(source.names)} inputs",
        claim=claim_text,
        findings=_without_repeats(findings),
        checked=tuple(dict.fromkeys(look.rule for look in looks)),
        notes=(f"{n_outputs:,} outputs, {len(looks)} looks, significance {level:g} in all",),
        seed=root.entropy if isinstance(root.entropy, int) else None,
        version=__version__,
    )


# --------------------------------------------------------------------------------------------------------------- looks


def _sampler_tests(source: OutputSource, pairs: Any, rng: np.random.Generator) -> list[_SamplerTest]:
    """Return the ways to look at outputs of this kind."""
    raw = source.draw(np.resize(np.arange(len(source.names)), _PROBE), rng)
    looks = [_SamplerTest("claim")]
    if isinstance(raw, tuple) and len(raw) > 1 and all(len(part) == _PROBE for part in raw):
        each = range(min(len(raw), _MOST_PARTS))
        return looks + [_SamplerTest("marginal", _part_of(k), about=f"output {k + 1}") for k in each]
    rows = raw if isinstance(raw, np.ndarray) else list(raw)
    array = _numbers(rows)
    if array is not None and array.dtype.kind == "f":
        each = range(min(array.shape[1] if array.ndim == 2 else 1, _MOST_PARTS))
        names = [f"coordinate {k}" if array.ndim == 2 else "" for k in each]
        looks += [_SamplerTest("float-noise", _bits_of(k), about=names[k]) for k in each]
        looks += [_SamplerTest("marginal", _column_of(k), about=names[k]) for k in each if len(each) > 1]
    elif pairs is not None and all(isinstance(one, _ROWS) for one in rows):
        looks += [look for k, pair in enumerate(pairs) if (look := _rows_look(k, pair)) is not None]
    return looks


def _numbers(rows: Any) -> Array | None:
    if any(isinstance(one, (Set, Mapping, str)) for one in rows):
        return None
    try:
        array = np.asarray(rows)
    except ValueError:
        return None
    return array if array.ndim in (1, 2) and array.dtype.kind in "iuf" else None


def _part_of(k: int) -> Callable[[Any], Any]:
    return lambda raw: raw[k]


def _column_of(k: int) -> Callable[[Any], Any]:
    return lambda raw: np.asarray(raw)[:, k]


def _bits_of(k: int) -> Callable[[Any], Any]:
    def view(raw: Any) -> Int64s:
        array = np.asarray(raw, dtype=float)
        return last_bits(array if array.ndim == 1 else array[:, k])

    return view


def _rows_look(number: int, pair: Any) -> _SamplerTest | None:
    """Return the look at the rows that only one database of a pair has."""
    if not all(isinstance(data, _ROWS) for data in pair):
        return None
    try:
        one, two = (set(data) for data in pair)
    except TypeError:
        return None
    only = one - two or two - one
    if not only:
        return None
    rows = ", ".join(sorted(map(repr, only))[:3])

    def view(raw: Any) -> Bools:
        return np.array([any(row in only for row in released) for released in raw])

    return _SamplerTest(
        "present-rows", view, pair=number, about=f"a row that only one database of the pair has ({rows})"
    )


# -------------------------------------------------------------------------------------------------------------- audits


def _run_audit(
    source: OutputSource,
    look: _SamplerTest,
    claim: Any,
    trials: int,
    level: float,
    seed: int,
    output_kind: Any,
) -> AuditResult:
    """Return the audit of one look."""
    view = look.view if look.view is not None else lambda raw: raw
    kind = (
        output_kind if look.view is None else "categorical" if look.rule in ("float-noise", "present-rows") else "auto"
    )
    settings = {"claim": claim, "trials": trials, "significance": level, "seed": seed, "output_kind": kind}
    if source.pairs is None:

        def many(inputs: Any, rng: np.random.Generator) -> Any:
            return view(source.draw(np.asarray(inputs, dtype=np.intp), rng))

        return audit(many, domain=len(source.names), **settings)

    def one(number: int, count: int, rng: np.random.Generator) -> Any:
        return view(source.draw(np.full(count, number, dtype=np.intp), rng))

    pairs = [pair for k, pair in enumerate(source.pairs) if look.pair in (None, k)]
    return audit(one, pairs=pairs, **settings)


def _finding(look: _SamplerTest, result: AuditResult, *, plain: bool) -> LintFinding:
    """Return a refutation under the rule that it shows; those about support need an event that one input never has.

    ``plain``: it is already known that something is wrong.
    """
    rule, text = _rule_of_witness(look, result.witness, plain=plain), ""
    if result.witness is not None:
        witness = result.witness
        about = f" ({look.about})" if look.about else ""
        event = {
            "present-rows": look.about,
            "float-noise": f"the last bit that is set, as a power of 2: {witness.event}{about}",
        }.get(look.rule, f"{witness.event}{about}")
        text = (
            f"{event}: seen {witness.seen_first:,} of {witness.drawn_first:,} times for {witness.first}, "
            f"{witness.seen_other:,} of {witness.drawn_other:,} for {witness.other}"
        )
    numbers = {}
    if rule == "marginal":
        numbers = {"reason": "An event of this output is likelier than the claim allows.", "remedy": _REMEDY}
    where = look.about if rule in ("marginal", "float-noise") else ""
    return make_finding(rule, "refutes", where=where, witness=text, evidence=result, **numbers)


def _rule_of_witness(look: _SamplerTest, witness: Witness | None, *, plain: bool) -> str:
    if look.rule == "marginal" or witness is None:
        return look.rule
    if not witness.never:  # too little noise shows in the low bits as well, but then not in them alone
        return "float-noise" if look.rule == "float-noise" and not plain else "claim"
    if look.rule != "claim":
        return look.rule
    return "deterministic" if witness.seen_first == witness.drawn_first else "support"


def _without_repeats(findings: list[LintFinding]) -> tuple[LintFinding, ...]:
    """Keep the findings that say most exactly what is wrong, and one plain refutation where there is nothing else."""
    names = {finding.rule for finding in findings}
    implied = {"claim"}
    if names & {"deterministic", "support"}:
        implied.add("float-noise")
    if "present-rows" in names:
        implied |= {"deterministic", "support"}
    return tuple([finding for finding in findings if finding.rule not in implied] or findings[:1])
