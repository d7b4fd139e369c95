"""A limit on risk, epsilon or cost that a calibration must keep."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from ..bounds.assess import assess_case
from ..bounds.question import Case
from ..bounds.tradeoff_rates import Rates, question_relations
from ..errors import ParameterError
from ..guarantees.approx import DELTA
from ..guarantees.epsilon import epsilon_at, smallest_delta
from ..guarantees.neighbours import Neighbours, check_neighbours
from ..mechanisms.cost import cost_of
from ..numerics.rounding import two_digits
from ..options import About, Choice
from ..options.tables import options_in
from ..params import Param
from ..results.bound import QUANTITIES
from ..results.calibration import ACCURACY, Achieved
from ..results.ceiling import ACKNOWLEDGE, Raw
from ..results.tradeoff import FPR
from ..threats import Threat
from ..threats.attackers import ATTACKERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..guarantees.privacy import Privacy
    from ..threats import Prior

__all__ = ["AT", "COSTS", "COST_KEYS", "RISKS", "RISK_KEYS", "UNRESOLVED", "Limit"]

RISKS = ("rad", "gain", "success", "worst_gain", "tpr", "epsilon")
COSTS = ("error", "variance", "frequency_error")
UNRESOLVED = "privacy losses cannot be resolved below delta"
_PROBABILITY = Param(
    name="limit", low=0.0, high=1.0, what="the largest probability that is accepted", typical=(0.01, 0.9)
)
_REPORTS = Param(name="limit", integer=True, low=1, what="the number of reports that a frequency is estimated from")
_ROUNDING = 1e-12
_POSITIVE = Param(name="limit", low=0.0, what="the largest value that is accepted", typical=(0.1, 10.0))
_NOT_MEMBERSHIP = tuple(name for name in ATTACKERS if name != "membership")
_NOT_WORST = tuple(name for name in ATTACKERS if name != "worst")


def _probability(label: str, example: str = "0.1", attackers: tuple[str, ...] = ()) -> About:
    """Return the description of a limit on a probability; ``attackers``: those under whom it means something."""
    return About(_PROBABILITY.what, example, more_private="down", label=label, slider=(0.001, 1.0), attackers=attackers)


def _positive(label: str, example: str = "", file_help: str = "", slider: tuple[float, float] | None = None) -> About:
    """Return the description of a limit on another number."""
    return About(_POSITIVE.what, example, more_private="down", label=label, slider=slider, file_help=file_help)


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """The most that is accepted under a threat.

    Risk: ``rad``, ``success``, ``gain``, ``worst_gain``, ``tpr`` at ``fpr``, ``epsilon`` at ``delta``. Accuracy:
    ``error`` (exceeded by 5 of 100 released numbers), ``variance``, ``frequency_error`` (of a local protocol, from
    ``reports`` reports, 1 unless given). Several may be given at once. Without a threat the limit is about every prior,
    knowledge and goal. ``neighbours`` says which relation ``worst_gain``, ``tpr`` and ``epsilon`` are about, where the
    release does not. ``acknowledge="near-ceiling"`` accepts a release that hardly protects better than publishing the
    raw data would.

    Examples
    --------
    >>> Limit(Threat.baseline(0.1), gain=0.2)
    Limit(gain <= 0.2, Threat.baseline(0.1))
    >>> Limit(tpr=0.05, fpr=0.01)
    Limit(tpr at fpr 0.01 <= 0.05, Threat.worst())
    """

    threat: Threat | None = None
    rad: (
        Annotated[float, _PROBABILITY, _probability("what taking part adds (rad)", attackers=_NOT_MEMBERSHIP)] | None
    ) = None
    success: (
        Annotated[float, _PROBABILITY, _probability("right after the release (success)", "0.6", _NOT_WORST)] | None
    ) = None
    gain: Annotated[float, _PROBABILITY, _probability("more than by guessing blindly (gain)")] | None = None
    worst_gain: (
        Annotated[float, _PROBABILITY, _probability("more than by guessing, any attacker (worst gain)")] | None
    ) = None
    tpr: Annotated[float, _PROBABILITY, _probability("members found (tpr)")] | None = None
    fpr: (
        Annotated[
            float,
            FPR,
            About(
                "the false-positive rate at which tpr is limited",
                example="0.01",
                label="non-members wrongly flagged (fpr)",
                slider=(1e-4, 0.5),
                beside="tpr",
            ),
        ]
        | None
    ) = None
    epsilon: Annotated[float, _POSITIVE, _positive("epsilon", "1", slider=(0.05, 12.0))] | None = None
    delta: (
        Annotated[
            float,
            DELTA,
            About(
                "the delta at which epsilon is limited",
                example="1e-5",
                label="at delta",
                slider=(1e-10, 0.1),
                beside="epsilon",
            ),
        ]
        | None
    ) = None
    error: Annotated[
        float, _POSITIVE,
        _positive("error in 95 of 100 releases", "100.0", "95 of 100 released numbers are closer than this"),
    ] | None = None  # fmt: skip
    variance: Annotated[float, _POSITIVE, _positive("variance of the noise")] | None = None
    frequency_error: Annotated[
        float, _POSITIVE,
        _positive("error of a frequency from one report", "0.05", "standard deviation of an estimated frequency"),
    ] | None = None  # fmt: skip
    neighbours: Neighbours | None = None
    reports: Annotated[
        float, _REPORTS,
        About(_REPORTS.what, "10000", file_help="estimated from this many reports", beside="frequency_error"),
    ] | None = None  # fmt: skip
    acknowledge: (
        Annotated[
            str,
            Choice.of(ACKNOWLEDGE, labels=("yes, accept it",)),
            About(
                "the consent to a release that is hardly better than publishing the raw data",
                label="near the raw data (acknowledge)",
                form_help="Accept a release that is hardly better than publishing the raw data.",
                unset="no",
                folded=True,
                excludes=("epsilon",),
            ),
        ]
        | None
    ) = None

    def __post_init__(self) -> None:
        threat: object = self.threat
        if threat is not None and not isinstance(threat, Threat):
            hint = "Limits are given by name: Limit(threat, rad=0.1)."
            raise ParameterError("Limit.threat", "a Threat, such as Threat(Prior.uniform(10))", repr(threat), hint)
        if self.neighbours is not None:
            check_neighbours("Limit", self.neighbours)
        for option in options_in(Limit):
            object.__setattr__(self, option.name, option.check("Limit", getattr(self, option.name)))
        for name, other in AT.items():
            self._check_together(name, other)
        if self.reports is not None and self.frequency_error is None:
            hint = "It is the number of reports that a frequency is estimated from."
            raise ParameterError("Limit.reports", "given together with frequency_error", f"{self.reports}", hint)
        if not self.risks and not self.costs:
            allowed = "given something to limit: " + ", ".join([*QUANTITIES, *AT, *COSTS])
            raise ParameterError("Limit", allowed, "nothing", "Such as Limit(threat, rad=0.1).")
        self._check_sense()

    def _check_together(self, name: str, other: str) -> None:
        if (getattr(self, name) is None) != (getattr(self, other) is None):
            raise ParameterError(f"Limit.{name}", f"given together with {other}", "one of them", f"Add {other}=...")

    def _check_sense(self) -> None:
        kind = self.attacker.kind
        if kind == "membership" and self.rad is not None:
            raise ParameterError("Limit.rad", "left out for membership", f"{self.rad:g}", "Limit success or gain.")
        if kind == "worst" and self.success is not None:
            raise ParameterError("Limit.success", "left out without a threat", f"{self.success:g}", "Limit gain.")

    @property
    def attacker(self) -> Threat:
        """The threat; without one, any."""
        return Threat.worst() if self.threat is None else self.threat

    @property
    def risks(self) -> dict[str, float]:
        """The risks that are limited."""
        return {name: value for name in (*QUANTITIES, *AT) if (value := getattr(self, name)) is not None}

    @property
    def costs(self) -> dict[str, float]:
        """The errors that are limited."""
        return {name: value for name in COSTS if (value := getattr(self, name)) is not None}

    def raw(self, name: str, *, exact: bool = True) -> Raw | None:
        """Return what publishing the raw data would give for one of the risks; None where that is not a share.

        A lower end: with a prior its rad and its success; without one the most that some prior reaches. Of a prior that
        was counted in a table two digits of what several tables share, unless the risk beside it is ``exact``.
        """
        if name == "epsilon" or name in COSTS:
            return None
        threat = self.attacker
        if threat.prior is not None and threat.prior.measured is not None and not exact:
            shared = replace(self, threat=threat.rounded)
            least = shared.attacker.lowest_blind_guess if name == "success" else self.fpr or 0.0
            least, most = (two_digits(float(f"{end:.12g}"), "down") for end in (least, shared._most(name)))
            return Raw(least=least, most=most)
        success = 1.0 if threat.kind == "worst" else threat.best_blind_guess
        least = {"tpr": self.fpr or 0.0, "success": success}.get(name, 0.0)
        return Raw(least=least, most=self._most(name))

    def _most(self, name: str) -> float:
        threat = self.attacker
        success = 1.0 if threat.prior is None else threat.raw.success[0]
        if name == "success":
            return success
        if name == "gain":
            measured = None if threat.prior is None else threat.prior.measured
            blind = 0.0 if threat.kind == "worst" else threat.best_blind_guess + (measured.further if measured else 0.0)
            return max(0.0, success - blind)
        return threat.raw.rad[0] if name == "rad" and threat.prior is not None else 1.0

    @property
    def unreachable_reason(self) -> str | None:
        """Why no release at all keeps the limit; None where one might."""
        if self.success is not None and self.success < self.attacker.rounded.lowest_blind_guess - _ROUNDING:
            least = self.attacker.reported_baseline
            return f"success is at least {least:.4g} without any release, by the best blind guess ({self.attacker!r})"
        if self.tpr is not None and self.fpr is not None and self.tpr < self.fpr:
            return f"tpr is at least the fpr of {self.fpr:g}, by accusing people at random"
        return None

    def achieved(self, what: Any, about: Prior | None = None) -> list[Achieved]:
        """Return what a release gives for every risk that is limited."""
        case = Case(what, self.attacker, self.neighbours, about=about if self.attacker.prior is None else None)
        return [self._achieved_risk(case, name, limit) for name, limit in self.risks.items()]

    def _achieved_risk(self, case: Case, name: str, limit: float) -> Achieved:
        threat, quantity = self.attacker.description, name
        if name == "tpr":
            bound = Rates.of(case).tpr(self.fpr or 0.0)
            quantity = f"tpr at fpr {self.fpr:g}"
        elif name == "epsilon":
            quantity = f"epsilon at delta {self.delta:g}"
            promises = [promise for r in question_relations(case) if (promise := case.promise(r)) is not None]
            value = max((epsilon_at(promise, self.delta or 0.0) for promise in promises), default=math.inf)
            rule = _epsilon_rule(promises, self.delta or 0.0, value)
            relations = " or ".join(sorted({promise.relation for promise in promises}))
            return Achieved(quantity=quantity, value=value, limit=limit, threat=threat, rule=rule, neighbours=relations)
        else:
            quantities: Any = frozenset({name})
            assessed = assess_case(case, quantities=quantities).bounds[name]  # type: ignore[index]
            if assessed is None:
                hint = "Choose another quantity, or a threat with a prior."
                raise ParameterError(f"Limit.{name}", "a quantity that is known here", "one that is not", hint)
            bound = assessed
        return Achieved(
            quantity=quantity,
            value=bound.value,
            limit=limit,
            threat=threat,
            rule=bound.rule,
            side=bound.side,
            raw=self.raw(name, exact=bound.side == "exact"),
            acknowledge=ACKNOWLEDGE if self.acknowledge else "",
            neighbours=bound.neighbours or "",
        )

    def costs_of(self, what: Any) -> list[Achieved]:
        """Return what a release costs for every error that is limited."""
        release_costs = cost_of(what)
        costs = []
        for name, limit in self.costs.items():
            if name not in release_costs:
                names = ", ".join(release_costs) or "none"
                hint = f"Known costs of {what!r}: {names}."
                raise ParameterError(f"Limit.{name}", "a cost that the mechanism knows", f"{limit:g}", hint)
            quantity, value = name, release_costs[name]
            if name == "frequency_error" and self.reports is not None:
                quantity, value = f"{name} from {self.reports:,} reports", value / math.sqrt(self.reports)
            costs.append(Achieved(quantity=quantity, value=value, limit=limit, threat=ACCURACY, rule="cost"))
        return costs

    def __repr__(self) -> str:
        parts = []
        for name, value in {**self.risks, **self.costs}.items():
            at = {"tpr": f" at fpr {self.fpr}", "epsilon": f" at delta {self.delta}"}.get(name, "")
            at = f" from {self.reports:,} reports" if name == "frequency_error" and self.reports is not None else at
            parts.append(f"{name}{at} <= {value:g}")
        return f"Limit({', '.join(parts)}, {self.attacker!r})"


COST_KEYS = options_in(Limit, *COSTS, "reports")
RISK_KEYS = tuple(option for option in options_in(Limit) if option not in COST_KEYS)
AT = {option.about.beside: option.name for option in RISK_KEYS if option.about.beside}  # tpr at fpr, epsilon at delta


def _epsilon_rule(promises: Sequence[Privacy], delta: float, epsilon: float) -> str:
    """Return what the epsilon rests on, or why none was found although the release may have one."""
    floors = [floor for promise in promises if (floor := smallest_delta(promise)) is not None and floor > delta]
    if not floors:
        return "privacy profile"
    reason = f"{UNRESOLVED} {max(floors):.1g}"
    return reason if math.isinf(epsilon) else f"Renyi divergences or pure epsilon, because {reason}"
