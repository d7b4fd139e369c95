"""Run every rule that applies, keep the tightest bound per quantity, and record why the others were not used."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import AssessmentInterrupted, InconsistentEvidence, NumericsError, ParameterError
from ..guarantees.accuracy import TOLERANCE, Accuracy, accuracy, computed_with
from ..guarantees.neighbours import Neighbours, check_neighbours
from ..guarantees.privacy import HasPrivacy
from ..numerics.lazy_numpy import np
from ..results import Assessment, Bound, Discarded
from ..results.bound import QUANTITIES, side_of
from ..results.description import describe_release
from ..results.disclosure import coarse, coarse_interval, shown
from ..threats import Threat
from .estimated_prior import widened_assessment
from .question import Case, Inapplicable
from .rarest_value import rarest
from .rule import Finding
from .rules import RULES
from .tradeoff_rates import Rates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..results.bound import Quantity
    from .rule import Rule

__all__ = ["assess", "assess_case"]

_AGREE = 1e-9  # a lower bound above an upper one by more than this is a contradiction
_SAME = 1e-12
_ROUNDING = 4.0 * sys.float_info.epsilon  # of a difference of two probabilities
_FEW_DIGITS = 8
_NO_RAD = "membership compares taking part with not taking part; the advantage compares two records (replace-one)"
_NO_CEILING = "what the raw data would add depends on what is believed beforehand, which this threat leaves open"
_NO_SUCCESS = "over all priors and knowledge the largest success is 1 and not informative; see gain"


@dataclass(slots=True)
class _Ledger:
    """Bounds by quantity, and why the other rules gave none."""

    by_quantity: dict[Quantity, list[tuple[Bound, Finding]]] = field(default_factory=dict)
    discarded: list[tuple[Quantity, str, str, Bound | None]] = field(default_factory=list)  # see Discarded.rows
    # Of bounds that differ in their last digits the first wins, so that those digits reveal nothing.
    coarse: bool = False

    def exact(self, quantity: Quantity) -> bool:
        return any(bound.side == "exact" for bound, _ in self.by_quantity.get(quantity, ()))

    def run(self, rule: Rule, case: Case) -> None:
        needless = rule.engine and all(self.exact(quantity) for quantity in rule.quantities)
        if needless or (rule.unless_exact and self.exact(rule.quantities[0])):
            self.drop(rule, "not run: the exact value is known already")
            return
        try:
            bounds = rule.bounds(case)
        except Inapplicable as reason:
            self.drop(rule, str(reason))
        except NumericsError as failure:
            self.drop(rule, f"failed: {failure}")
        else:
            for bound, finding in bounds:
                self.by_quantity.setdefault(finding.quantity, []).append((bound, finding))

    def sort(self, rules: Sequence[Rule]) -> None:
        """Sort bounds and reasons by rule, so that of equal bounds the first rule wins, whichever was run first."""
        place = {rule.name: i for i, rule in reversed(list(enumerate(rules)))}
        self.discarded.sort(key=lambda row: place[row[1]])
        for rows in self.by_quantity.values():
            rows.sort(key=lambda row: place[row[0].rule])

    def add_success_from(self, rad: Bound, baseline: float) -> None:
        """Add success <= baseline + rad: a false hit is a blind guess (docs/derivations/success-minus-blind.md)."""
        cites = tuple(dict.fromkeys(("dpradar derivation", *rad.cites)))
        value = min(1.0, baseline + rad.value)
        bound = Bound(value=value, side="upper", rule="blind-plus-rad", cites=cites, assumes=rad.assumes)
        bound = replace(bound, neighbours=rad.neighbours)
        self.by_quantity.setdefault("success", []).append((bound, Finding(quantity="success", value=value)))

    def _rank(self, bound: Bound) -> float:
        rank = (bound.low or 0.0) - _AGREE if bound.side == "exact" else bound.value
        return round(rank, _FEW_DIGITS) if self.coarse else rank

    def drop(self, rule: Rule, why: str) -> None:
        self.discarded += [(quantity, rule.name, why, None) for quantity in rule.quantities]

    def best(self, quantity: Quantity) -> tuple[Bound, Finding] | None:
        """Return the tightest bound and move the others to the discarded ones, each with its reason."""
        rows = self.by_quantity.get(quantity, [])
        usable = [row for row in rows if row[0].side != "lower"]
        if not usable:
            return None
        # An exact value beats an upper bound that lies within its interval, or below it by rounding only.
        winner = min(usable, key=lambda row: self._rank(row[0]))
        _check_sandwich(quantity, winner[0], [bound for bound, _ in rows])
        for row in rows:
            if row is not winner:
                why = _discard_reason(row[0], winner[0])
                self.discarded.append((quantity, row[0].rule, why, row[0]))
        return _with_lower_end(winner, rows)


def _with_lower_end(winner: tuple[Bound, Finding], rows: Sequence[tuple[Bound, Finding]]) -> tuple[Bound, Finding]:
    """Return the winner with the best lower end that is proven, where it has none of its own."""
    bound, finding = winner
    proven = [other.low for other, f in rows if other.low is not None and f.certified and other.side != "lower"]
    if bound.low is not None or not proven:
        return winner
    low = min(max(proven), bound.value)
    return replace(bound, low=low, high=bound.value, side=side_of(low, bound.value)), finding


def _discard_reason(bound: Bound, winner: Bound) -> str:
    if bound.side == "lower":
        return f"a lower bound; {winner.rule} bounds it from above"
    if bound.value - winner.value <= _SAME:
        return f"as tight as {winner.rule}"
    return f"looser than {winner.rule} by {bound.value - winner.value:.3g}"


def _check_sandwich(quantity: Quantity, winner: Bound, bounds: Sequence[Bound]) -> None:
    for bound in bounds:
        low = bound.value if bound.side == "lower" else bound.low
        if low is not None and low > winner.value + _AGREE:
            message = (
                f"{quantity} is at least {low:.9g} by {bound.rule} but at most {winner.value:.9g} by {winner.rule}. "
                "One of them is wrong: please report this with the call that led to it."
            )
            raise InconsistentEvidence(message)


def assess(
    what: Any,
    threat: Threat | None = None,
    *,
    neighbours: Neighbours | None = None,
    extra_rules: Sequence[Rule] = (),
    rng: np.random.Generator | None = None,
    tolerance: float | None = None,
    include_prior: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Assessment:
    """Return what someone could learn about one person from a release.

    Guarantee
    ---------
    ``rad``, ``success``, ``gain`` and ``worst_gain`` are exact or upper bounds for the best possible attacker, as their
    ``side`` says; each names its rule and what it assumes.

    Assumes
    -------
    The attacker knows the mechanism, the prior and every other record, and what the threat says of the target. RAD
    always compares two records (replace-one); a guarantee under add/remove is converted by group privacy where that
    is sound.

    Parameters
    ----------
    what
        A mechanism (``GRR``, ``Laplace``, ``Composed``, ...) or a guarantee (``PureDP``, ``ApproxDP``, ...).
    threat
        Who attacks; without one, any prior, knowledge and goal (``Threat.worst()``).
    neighbours
        The relation for ``worst_gain`` when the release itself does not settle it.
    extra_rules
        Further rules to run beside the built-in ones.
    rng
        Randomness for the simulation rule, which runs only where no exact engine applies; seed 0 by default.
    tolerance
        How close the total variation of composed privacy losses is computed from above and from below, relative to
        its size: the grid is refined until it is met. 0.01 by default; the answer is on the safe side in any case.
    include_prior
        Keep all digits of kappa and, where the prior was counted in a table, of the blind guess and of bounds. By
        default they have two, rounded to the safe side, and where no risk is exact they hold for all tables with the
        same counts in steps of up to 5 rows, so that the counts are not found by trying. Exact risks always have all
        their digits, and reveal something about the prior.
    progress
        Called with a line of text before every rule is run. What it raises ends the assessment.

    Notes
    -----
    Ctrl-C raises ``errors.AssessmentInterrupted``, a ``KeyboardInterrupt`` that holds the bounds computed so far.

    Examples
    --------
    >>> import dpradar as dr
    >>> a = dr.assess(dr.GRR(m=100, epsilon=2.0), dr.Threat(dr.Prior.uniform(100), dr.Knowledge.everything()))
    >>> round(a.rad.value, 6), a.rad.side, a.rad.rule
    (0.059453, 'exact', 'exact-grr')
    """
    threat = Threat.worst() if threat is None else threat
    if not isinstance(threat, Threat):
        raise ParameterError("assess.threat", "a Threat, such as Threat(Prior.uniform(10))", repr(threat))
    relation = None if neighbours is None else check_neighbours("assess", neighbours)
    generator = np.random.default_rng(0) if rng is None else rng
    case = Case(what, threat, relation, rng=generator, include_prior=include_prior)
    requested_accuracy = accuracy() if tolerance is None else Accuracy(TOLERANCE.check("assess", tolerance))
    with computed_with(requested_accuracy):
        return assess_case(case, extra_rules, progress=progress)


def assess_case(
    case: Case,
    extra_rules: Sequence[Rule] = (),
    quantities: frozenset[Quantity] = frozenset(QUANTITIES),
    progress: Callable[[str], None] | None = None,
) -> Assessment:
    """Return the assessment of a case; rules that do not bound the requested quantities are not run.

    Nor are those that give evidence from below only, unless everything is wanted.
    """
    _ = case.release  # errors in the description come before any computation
    prior, rounded = case.threat.prior, case.threat.rounded
    if prior is None or prior.measured is None or case.include_prior:
        return _assess_quantities(case, extra_rules, quantities, progress)
    if rounded is case.threat:
        return coarse(_assess_quantities(case, extra_rules, quantities, progress))
    if not prior.is_open and _has_exact_risk(as_counted := _assess_quantities(case, extra_rules, quantities, progress)):
        return coarse(as_counted)
    return coarse(_assess_quantities(case.about_threat(rounded), extra_rules, quantities, progress))


def _has_exact_risk(result: Assessment) -> bool:
    """Whether a risk that depends on the prior is exact, so that no other quantity reveals more about the prior."""
    if result.rad is not None and result.rad.side == "exact":
        return True
    return result.success is not None and result.success.side == "exact" and result.baseline != 1.0


def _assess_quantities(
    case: Case,
    extra_rules: Sequence[Rule],
    quantities: frozenset[Quantity],
    progress: Callable[[str], None] | None,
) -> Assessment:
    estimated = case.threat.prior is not None and case.threat.prior.measured is not None
    ledger = _Ledger(coarse=estimated and not case.include_prior)
    # success <= baseline + rad, and the gain is success minus baseline.
    needed = quantities | ({"success", "rad"} if quantities & {"gain", "success"} else set())
    everything = quantities == frozenset(QUANTITIES)
    rules = [
        rule for rule in (*RULES, *extra_rules) if needed & set(rule.quantities) and (everything or not rule.from_below)
    ]
    rules_run = 0
    try:
        # Engines late: they take longest, and an assessment that is interrupted then has the bounds of the others.
        # After them comes what they may make needless.
        for rule in sorted(rules, key=lambda rule: 2 if rule.unless_exact else rule.engine):
            if progress is not None:
                progress(f"rule {rules_run + 1} of {len(rules)}, {rule.name}")
            ledger.run(rule, case)
            rules_run += 1
        ledger.sort(rules)
        if progress is not None:
            progress("summary of the bounds")
        return _assessment(case, ledger, everything=everything)
    except KeyboardInterrupt:
        # A prior that was counted in a table may be shown only in rounded bounds.
        partial = None if ledger.coarse else _assessment(case, ledger, everything=False)
        raise AssessmentInterrupted(partial, rules_run, len(rules)) from None


def _assessment(case: Case, ledger: _Ledger, *, everything: bool) -> Assessment:
    threat = case.threat
    baseline = None if threat.kind == "worst" else threat.best_blind_guess
    rad = ledger.best("rad")
    if rad is not None and baseline is not None:
        ledger.add_success_from(rad[0], threat.highest_blind_guess)
    success, worst = ledger.best("success"), ledger.best("worst_gain")
    if success is not None and baseline is not None:
        success = _at_least_baseline(success[0], baseline), success[1]
    gain = ledger.best("gain")
    reason: dict[str, str] = {}
    if threat.kind == "membership":
        rad, reason["rad"] = None, _NO_RAD
    if threat.kind == "worst":
        success, reason["success"] = None, _NO_SUCCESS
    gain_bound = gain[0] if gain else None
    if success is not None and baseline is not None:
        gain_bound = _gain_bound(success[0], baseline, None if rad is None else rad[0])
    for name, bound in (("rad", rad), ("success", success), ("gain", gain_bound), ("worst_gain", worst)):
        if bound is None:
            reason.setdefault(name, _first_reason(ledger, name))
    if threat.prior is None:
        reason["ceiling"] = _NO_CEILING
    hit = None if rad is None or rad[1].hit is None else min(1.0, rad[1].hit)  # sums of floats may exceed 1
    result = Assessment(
        release=describe_release(case.what),
        threat=threat.description,
        rad=rad[0] if rad else None,
        success=success[0] if success else None,
        gain=gain_bound,
        worst_gain=worst[0] if worst else None,
        baseline=baseline,
        hit=hit,
        false_hit=None if hit is None or rad is None else max(0.0, hit - rad[0].value),
        ceiling=_ceiling(case, rad) if everything else None,
        rarest=rarest(case) if everything else None,
        reason=reason,
        others=Discarded.rows(ledger.discarded),
        prior=_summary(case),
        neighbours=case.neighbours or getattr(case.what, "neighbours", None),
        version=__version__,
        rates=Rates.of(case) if everything else None,
    )
    if threat.prior is None or threat.prior.measured is None:
        return result
    return widened_assessment(result, case, _largest_tv(case))


def _largest_tv(case: Case) -> float:
    """Return the total variation between any two inputs, also of values that an open prior does not list; else 1."""
    fits_domain = isinstance(case.what, HasPrivacy) or getattr(case.what, "inputs", None) == case.prior.size
    # Other promises are about the values of the prior: a contribution that is not among them may lie further off.
    promise = case.promise("replace-one") if fits_domain or not case.prior.is_open else None
    return 1.0 if promise is None or promise.tv is None else min(1.0, promise.tv)


def _at_least_baseline(success: Bound, baseline: float) -> Bound:
    """Return a success that rounding has not carried below the blind guess, which any attacker reaches."""
    if baseline == 1.0:
        return replace(success, value=1.0, low=1.0, high=1.0, side="exact")
    if success.value >= baseline:
        return success
    return replace(success, value=baseline, high=None if success.high is None else max(success.high, baseline))


def _gain_bound(success: Bound, baseline: float, rad: Bound | None) -> Bound:
    """Return the gain. It may be small beside the rounding of the success; it is never above rad."""
    value = max(0.0, success.value - baseline)
    if success.low is None:
        return replace(success, value=value if rad is None else min(value, rad.value))
    large = rad is None or rad.value == 0.0 or rad.value > _SAME  # (a smaller one may be a gain that rounding hides)
    if success.side == "exact" and value == 0.0 and (large or baseline == 1.0):
        return replace(success, value=0.0, low=0.0, high=0.0)  # the release changes no guess
    error = 0.0 if _SAME * value >= _ROUNDING else _ROUNDING
    low, high = max(0.0, success.low - baseline - error), value + error
    if rad is not None and rad.value < high:
        high = max(rad.value, low)
    return replace(success, value=high, low=low, high=high, side=side_of(low, high))


def _first_reason(ledger: _Ledger, quantity: str) -> str:
    reasons = [f"{rule}: {why}" for bounded, rule, why, _ in ledger.discarded if bounded == quantity]
    return "; ".join(reasons) if reasons else "no rule covers this case"


def _ceiling(case: Case, rad: tuple[Bound, Finding] | None) -> Bound | None:
    """Return what the raw data would add: to two digits unless the result reveals as much about the prior anyway."""
    ceiling, prior = case.threat.ceiling, case.threat.prior
    public = prior is not None and prior.measured is None and prior.is_uniform  # its size is no secret
    exact = case.include_prior or public or (rad is not None and rad[0].side == "exact")
    return ceiling if exact or ceiling is None else coarse_interval(ceiling)


def _summary(case: Case) -> dict[str, Any]:
    """Return what a result keeps of its prior: its size, and kappa to two digits, rounded up."""
    threat = case.threat
    if threat.prior is None:
        return {}
    if case.include_prior:
        return {"size": threat.prior.size, "kappa": threat.kappa, "skew": shown(threat.skew)}
    # kappa moves by at most twice as much as the prior.
    rounding = 0.0 if threat.prior.measured is None else threat.prior.measured.rounding
    return {
        "size": threat.prior.size,
        "kappa": shown(min(1.0, threat.kappa + 2.0 * rounding)),
        "skew": shown(threat.skew),
    }
