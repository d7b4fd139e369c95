"""A threat: prior, knowledge and goal together, or one of the three questions that need less."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError
from ..numerics.lazy_numpy import Floats, Ints, np
from ..numerics.rounding import two_digits
from ..params import Param
from ..results.description import Description
from .ceiling import RawData, raw_data
from .frequency_cells import rounded_prior
from .goal import Goal
from .hit_classes import Cover, cover
from .knowledge import Knowledge
from .prior import Continuous, Prior

if TYPE_CHECKING:
    from ..results.bound import Bound

__all__ = ["Threat"]

MEMBERSHIP = Param(
    name="prior", low=0.0, high=1.0, what="the probability that the target took part", typical=(0.01, 0.99)
)
BASELINE = Param(name="baseline", low=0.0, high=1.0, what="the success of the best blind guess", typical=(0.01, 0.99))


@dataclass(frozen=True, eq=False)
class Threat:
    """Who attacks: what is believed, what is known of the target, and what counts as success.

    Examples
    --------
    >>> Threat(Prior.uniform(10)).best_blind_guess
    0.1
    >>> Threat(Prior.uniform(10), Knowledge.everything()).best_blind_guess
    1.0
    >>> Threat.membership(0.5)
    Threat.membership(0.5)
    """

    prior: Prior | None
    knowledge: Knowledge = field(default_factory=Knowledge.nothing)
    goal: Goal = field(default_factory=Goal.exact)
    kind: Literal["record", "membership", "baseline", "worst"] = "record"
    level: float | None = None

    def __post_init__(self) -> None:
        if self.kind != "record":
            return
        if not isinstance(self.prior, Prior):
            raise ParameterError("Threat.prior", "a Prior, such as Prior.uniform(10)", repr(self.prior))
        if not isinstance(self.knowledge, Knowledge):
            raise ParameterError("Threat.knowledge", "a Knowledge, such as Knowledge.nothing()", repr(self.knowledge))
        if not isinstance(self.goal, Goal):
            raise ParameterError("Threat.goal", "a Goal, such as Goal.exact()", repr(self.goal))
        if self.prior.is_continuous:
            self._check_continuous()
        else:
            _ = self.cover  # labels of the wrong length and the like show up here, not in the middle of a computation

    def _check_continuous(self) -> None:
        if self.knowledge.kind not in ("nothing", "everything"):
            raise ParameterError(
                "Threat.knowledge",
                "nothing or everything with a continuous prior",
                repr(self.knowledge),
                "Cut the interval into values (Prior.of) to say more.",
            )
        if not (self.goal.kind == "exact" or self.goal.is_absolute):
            raise ParameterError("Threat.goal", "exact or within(eta) with a continuous prior", repr(self.goal))

    @classmethod
    def membership(cls, prior: float) -> Threat:
        """Two worlds, the target in or out, with this prior probability of being in: the add/remove question."""
        return cls(None, kind="membership", level=MEMBERSHIP.check("Threat.membership", prior))

    @classmethod
    def baseline(cls, baseline: float) -> Threat:
        """Only the success of the best blind guess is known."""
        return cls(None, kind="baseline", level=BASELINE.check("Threat.baseline", baseline))

    @classmethod
    def worst(cls) -> Threat:
        """Any prior, any knowledge, any goal."""
        return cls(None, kind="worst")

    @cached_property
    def cover(self) -> Cover:
        """Which guesses are right for which values, fibre by fibre (finite priors)."""
        return cover(self.finite, self.codes, self.goal, self.cells)

    @cached_property
    def cells(self) -> Ints | None:
        """The cell of each value where a guess names one cell; None where the goal has no cells (finite priors)."""
        return self.goal.partition(self.finite)

    @cached_property
    def skew(self) -> float:
        """How many times as likely the likeliest answer is as the rarest one that is possible.

        Answers are the values, or the classes where the goal is to name one. 1 for a continuous prior.
        """
        if self.finite.is_continuous:
            return 1.0
        weights: Floats = self.finite.probabilities
        if self.goal.kind != "exact" and self.cells is not None:
            weights = np.asarray(np.bincount(self.cells, weights=weights), dtype=float)
        possible = weights[weights > 0.0]
        return float(possible.max() / possible.min())

    @property
    def finite(self) -> Prior:
        """The prior, which must be there."""
        if self.prior is None:
            raise ParameterError("Threat", "about a prior here", repr(self))
        return self.prior

    @cached_property
    def codes(self) -> Ints:
        """What the attacker knows of each value, as a number."""
        return self.knowledge.codes(self.finite)

    @property
    def kappa(self) -> float:
        """kappa_pi, the probability that two independent records agree."""
        return self.finite.collision

    @property
    def apart(self) -> float:
        """1 - kappa_pi, the probability that two independent records differ."""
        return self.finite.disagreement

    @cached_property
    def _blind(self) -> tuple[float, float, float]:
        prior = self.finite
        if prior.interval is not None:
            return _continuous_kappas(prior.interval, self.goal)
        unknown = np.zeros(prior.size, dtype=np.intp)
        nothing_known = self.knowledge.kind == "nothing"
        alone = (self.cover if nothing_known else cover(prior, unknown, self.goal, self.cells)).blocks[0]
        single_mass = prior.probabilities[alone.members]
        best = float(alone.best(single_mass))
        return float(alone.worst(single_mass)), best, best

    @property
    def kappa_plus(self) -> float:
        """The success of the best blind guess of an attacker who knows nothing of the target."""
        return min(self._blind[2], 1.0)

    @property
    def kappa_minus(self) -> float:
        """The success of the worst blind guess of an attacker who knows nothing of the target."""
        return min(self._blind[0], 1.0)

    @cached_property
    def best_blind_guess(self) -> float:
        """The baseline: the best success without the release, with the knowledge there is."""
        if self.kind == "baseline":
            return float(self.level)  # type: ignore[arg-type]
        if self.kind == "membership":
            return max(float(self.level), 1.0 - float(self.level))  # type: ignore[arg-type]
        prior = self.finite
        if prior.is_continuous:
            return 1.0 if self.knowledge.kind == "everything" else self._blind[1]
        if self.cover.is_sure(prior.probabilities):
            return 1.0  # a sum of probabilities may miss it by rounding
        return min(float(self.cover.best_total(prior.probabilities)), 1.0)

    @property
    def highest_blind_guess(self) -> float:
        """The baseline from above: with a continuous prior the best window is known between two ends only."""
        between = self.prior is not None and self.prior.is_continuous and self.knowledge.kind == "nothing"
        return self.kappa_plus if between else self.best_blind_guess

    @cached_property
    def is_settled(self) -> bool:
        """Whether no release can be of use: one possible value, or all guesses equally right (finite priors)."""
        finite = self.prior is not None and not self.prior.is_continuous
        return finite and self.cover.is_settled(self.finite.probabilities)

    @cached_property
    def least_blind_guess(self) -> float:
        """The baseline if only values of the prior may be guessed, also where the prior is open; else the baseline."""
        if self.prior is None or not self.prior.is_open or not self.goal.is_absolute:
            return self.best_blind_guess
        listed = replace(self.prior, measured=None)
        return min(float(cover(listed, self.codes, self.goal).best_total(listed.probabilities)), self.best_blind_guess)

    @property
    def leaves_guesses_out(self) -> bool:
        """Whether a value that is not listed may be a better guess, by a loss that is known for listed ones only."""
        return (
            self.prior is not None and self.prior.is_open and self.goal.kind == "within" and not self.goal.is_absolute
        )

    @cached_property
    def raw(self) -> RawData:
        """What publishing the raw data would give this attacker (a threat with a prior)."""
        return raw_data(self)

    @property
    def ceiling(self) -> Bound | None:
        """The rad of publishing the raw data; None without a prior."""
        return None if self.prior is None else self.raw.bound()

    @cached_property
    def fibre_baselines(self) -> tuple[Floats, Floats]:
        """The probability of each fibre, and the best blind guess inside it."""
        pi = self.finite.probabilities
        single = self.cover.single
        masses, tops = self.cover.masses(pi)
        weight = np.concatenate([pi[single], masses])
        top = np.concatenate([pi[single] * (self.cover.single_hits > 0), tops])
        possible = weight > 0.0
        return weight[possible], np.minimum(top[possible] / weight[possible], 1.0)

    @cached_property
    def rounded(self) -> Threat:
        """The threat with frequencies that several tables share; itself where the prior was not counted in one."""
        if self.prior is None or self.prior.measured is None or self.prior.measured.rounding > 0.0:
            return self
        prior = rounded_prior(self.prior)
        return self if prior is self.prior else replace(self, prior=prior)

    @property
    def reported_baseline(self) -> float:
        """The baseline as results hold it: of a prior counted in a table rounded, and down to two digits."""
        if self.prior is None or self.prior.measured is None:
            return self.best_blind_guess
        return two_digits(float(f"{self.rounded.lowest_blind_guess:.12g}"), "down")

    @property
    def lowest_blind_guess(self) -> float:
        """The baseline from below where the frequencies are rounded."""
        rounding = 0.0 if self.prior is None or self.prior.measured is None else self.prior.measured.rounding
        if rounding == 0.0 or self.cover.is_sure(self.finite.probabilities):
            return self.best_blind_guess
        return max(0.0, self.best_blind_guess - rounding)

    @cached_property
    def description(self) -> Description:
        """What results hold of it: no label, no frequency."""
        if self.kind != "record":
            level = {} if self.level is None else {"level": float(self.level)}
            return Description(kind=self.kind, options=level, text=repr(self))
        options = {"prior": self._prior_options, "knowledge": self.knowledge.summary, "goal": self.goal.summary}
        return Description(kind=self.kind, options=options, text=repr(self))

    @property
    def _prior_options(self) -> dict[str, Any]:
        prior = self.finite if self.prior is None else self.prior
        if prior.interval is not None:
            return {"kind": "continuous", "low": float(prior.interval.low), "high": float(prior.interval.high)}
        if prior.measured is not None:
            return {"kind": "counted", "size": prior.size}
        return {"kind": "uniform" if prior.is_uniform else "probabilities", "size": prior.size}

    @property
    def _prior_text(self) -> str:
        """The prior in words that a result may hold: no frequency."""
        plain = self.finite.measured is None and not self.finite.is_continuous
        return f"Prior({self.finite.size} values)" if plain else repr(self.prior)

    def __repr__(self) -> str:
        if self.kind == "record":
            return f"Threat({self._prior_text}, {self.knowledge!r}, {self.goal!r})"
        return f"Threat.{self.kind}({'' if self.level is None else format(self.level, 'g')})"


def _continuous_kappas(law: Continuous, goal: Goal) -> tuple[float, float, float]:
    """Return kappa- from below, kappa+ as attained on a grid, and kappa+ from above."""
    if goal.kind == "exact" or goal.eta == 0.0:
        return 0.0, 0.0, 0.0
    if goal.eta >= law.high - law.low:
        return 1.0, 1.0, 1.0
    # The window's mass F(g + eta) - F(g - eta) is compared on a grid that is fine both in value and in probability;
    # between two grid points monotonicity of F bounds it on either side.
    n = 20_001
    grid = np.concatenate([np.linspace(law.low, law.high, n), law.quantile(np.linspace(0.0, 1.0, n))])
    centres = np.concatenate([grid, grid - goal.eta, grid + goal.eta, [law.low + goal.eta, law.high - goal.eta]])
    centres = np.unique(np.clip(centres, law.low, law.high))
    up, down = law.cdf(centres + goal.eta), law.cdf(centres - goal.eta)
    attained = float(np.max(up - down))
    above = float(np.max(np.minimum(up[1:] - down[:-1], 1.0)))
    below = float(np.min(np.maximum(up[:-1] - down[1:], 0.0)))
    return below, attained, max(above, attained)
