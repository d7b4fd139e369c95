"""The optimal attack: Algorithm 1 of [RAD] for every mechanism that can be drawn from, ties broken at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError, UnsupportedError
from ..mechanisms.capabilities import Mechanism, Release
from ..numerics.lazy_numpy import Ints, np
from ..params import shown
from ..threats import Threat
from .continuous_attack import ContinuousAttack
from .posterior_attack import LikeliestValue, PosteriorAttack
from .reported_value import ReportedValue
from .set_report_attack import KnownMember, LikeliestMember, MemberOfFibre, SomeMember

if TYPE_CHECKING:
    from ..threats.hit_classes import Cover
    from .attack_protocol import Attack

__all__ = ["Maximise", "OptimalAttack", "optimal_attack", "separates_values"]

Maximise = Literal["rad", "success"]


@dataclass(frozen=True, eq=False)
class OptimalAttack:
    """The attack that maximises ``rad`` or ``success`` against a release, ready to be run on reports."""

    release: Release
    threat: Threat
    maximise: Maximise
    inner: Attack

    @property
    def name(self) -> str:
        """What the attack is called in results."""
        return f"optimal for {self.maximise}"

    def play(self, reports: Any, targets: Ints, rng: np.random.Generator) -> Any:
        """Attack every report; see :class:`dpradar.attacks.attack_protocol.BatchOutcome`."""
        return self.inner.play(reports, targets, rng)

    def __repr__(self) -> str:
        return f"OptimalAttack({self.maximise}, {self.release.name}, {self.threat!r})"


def optimal_attack(mechanism: Any, threat: Threat, maximise: Maximise = "rad") -> OptimalAttack:
    """Return the attack with the largest ``rad`` (or ``success``) against a mechanism, for the given threat.

    Guarantee
    ---------
    No attack has a larger rad (or success) on average; on a continuous prior up to the grid of 2,000 values on which
    posteriors are compared, so that what it reaches is still reached.

    Assumes
    -------
    The reports come from the mechanism as described. Ties are broken at random.

    Notes
    -----
    [RAD] Theorem 4.3 and Algorithm 1. What it costs per report: nothing (randomised response), the inverse of the
    probability that another value is in the report (set-valued protocols, nothing known), else m likelihoods.

    Examples
    --------
    >>> import numpy as np, dpradar as dr
    >>> oue, rng = dr.OUE(m=5, epsilon=3.0), np.random.default_rng(1)
    >>> best = optimal_attack(oue, dr.Threat(dr.Prior.uniform(5)))
    >>> targets = rng.integers(0, 5, size=1000)
    >>> bool(best.play(oue.at(None).sample(targets, rng), targets, rng).hits.mean() > 0.4)
    True
    """
    if maximise not in ("rad", "success"):
        raise ParameterError("maximise", "'rad' or 'success'", repr(maximise))
    if isinstance(mechanism, type) or not isinstance(mechanism, Mechanism):
        hint = "A guarantee cannot be attacked: it does not say how outputs are drawn."
        raise ParameterError("attack", "given a mechanism, such as GRR(m=10, epsilon=1.0)", repr(mechanism), hint)
    if not isinstance(threat, Threat):
        raise ParameterError("attack", "given a Threat, such as Threat(Prior.uniform(10))", shown(threat))
    if threat.kind != "record":
        hint = "Such as Threat(Prior.uniform(10)) (command line: --m 10, --values 0:100 or --prior 0.5,0.3,0.2)."
        raise ParameterError("attack", "given a threat with a prior", repr(threat), hint)
    release = mechanism.at(threat.prior)
    return OptimalAttack(release, threat, maximise, _select_attack(release, threat, maximise))


def _select_attack(  # noqa: PLR0911 (one return for each kind of release)
    release: Release, threat: Threat, maximise: Maximise
) -> Attack:
    prior = threat.finite
    if prior.interval is not None:
        if release.continuous is None:
            message = f"{release.name} cannot be drawn from with a continuous prior"
            raise UnsupportedError(message)
        return ContinuousAttack(release.continuous, prior.interval, threat, maximise)
    cover, pi = threat.cover, prior.probabilities
    if release.sample is None or release.likelihoods is None:
        message = (
            f"{release.name} cannot be attacked: it does not say how outputs are drawn, or its contributions are so "
            "far from 0 that rounding hides the noise. Use a mechanism; subtract the smallest contribution from all."
        )
        raise UnsupportedError(message)
    separates = separates_values(cover)
    alone = separates and len(cover.blocks) == 1 and cover.blocks[0].members.size == pi.size
    if release.diagonal is not None and separates:
        return ReportedValue(release.diagonal, pi, threat.codes, maximise)
    if release.sets is not None and alone:
        if prior.is_uniform:
            return SomeMember(release.sets)
        return LikeliestMember(release.sets, pi, maximise)
    if release.sets is not None and separates and not cover.blocks:
        return KnownMember(release.sets, pi, maximise)
    if release.sets is not None and separates and maximise == "rad":
        return MemberOfFibre(release.sets, pi, threat.codes)
    if alone and prior.is_uniform:
        return LikeliestValue(release.likelihoods, pi.size)
    return PosteriorAttack(release.likelihoods, pi, cover, maximise)


def separates_values(cover: Cover) -> bool:
    """Return whether a guess is right for one value only, and every fibre can be missed.

    Where nothing is known the one fibre need not be: no report points outside of it.
    """
    single = cover.guesses > 1 and bool(np.all(cover.single_hits == 1))
    alone = len(cover.blocks) == 1 and not cover.single.size
    return single and all(
        block.kind == "singletons" and bool(np.all(block.counts == 1)) and (alone or block.misses > 0)
        for block in cover.blocks
    )
