"""The exact attack on released gradients: which candidate's clipped gradients are in the noisy sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import Floats, Ints, np
from ..params import Param, as_floats

__all__ = ["CLIP", "NOISE", "RATE", "GradientScores", "check_norms", "printed_rule"]


NOISE = Param(
    name="noise_multiplier",
    low=1e-100,  # beyond these its square leaves the range of numbers
    high=1e100,
    what="the standard deviation of the noise over the clipping norm",
    typical=(0.5, 50.0),
    more_private="up",
)
CLIP = Param(
    name="clip",
    low=1e-15,  # beyond these its square leaves the range of numbers of single precision
    high=1e15,
    what="the norm to which gradients are clipped",
    typical=(0.01, 10.0),
)
RATE = Param(
    name="sample_rate",
    low=0.0,
    high=1.0,
    low_open=True,
    what="the probability that a record takes part in a step",
    typical=(0.001, 1.0),
)
_ROWS = "Rows of equal length."
_LONGER = 1e-4  # a clipped gradient may be longer than the clipping norm by this share: single precision


@dataclass(slots=True)
class GradientScores:
    """Log-likelihoods of the candidates, added up step by step; memory does not grow with parameters or steps.

    One row for each run (training) that is attacked at once, one column for each candidate.

    Notes
    -----
    [RAD] Section 7.2 of our notes; Algorithm 2 of the paper, corrected. The target's part of the noisy sum is
    N(mu_z, C^2 sigma^2 I) in a step in which it takes part and pure noise otherwise, independently over the steps given
    the parameters, so LL_z = sum_t ln(1 - q + q exp((<r_t, mu_zt> - |mu_zt|^2/2) / (C^2 sigma^2))). Exact when it is
    known which of the other records took part, which is what ``r_t`` is cleaned of.

    Examples
    --------
    >>> scores = GradientScores(runs=1, candidates=2, clip=1.0, noise_multiplier=0.5)
    >>> scores.add(residual=np.array([[0.9, 0.1]]), gradients=np.eye(2)[None])
    >>> scores.likelihoods.round(3).tolist()
    [[1.6, -1.6]]
    """

    runs: int
    candidates: int
    clip: float
    noise_multiplier: float
    sample_rate: float = 1.0
    steps: int = 0
    likelihoods: Floats = field(init=False)
    plain: Floats = field(init=False)  # sums of inner products alone: what the printed rule looks at
    distances: Floats = field(init=False)  # squared, between candidates, over the noise: sums of steps

    def __post_init__(self) -> None:
        self.clip = CLIP.check("GradientScores", self.clip)
        self.noise_multiplier = NOISE.check("GradientScores", self.noise_multiplier)
        self.sample_rate = RATE.check("GradientScores", self.sample_rate)
        for name, least in (("runs", 1), ("candidates", 2)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ParameterError(f"GradientScores.{name}", f"a whole number at least {least}", repr(value))
        self.likelihoods = np.zeros((self.runs, self.candidates))
        self.plain = np.zeros((self.runs, self.candidates))
        self.distances = np.zeros((self.candidates, self.candidates))

    @property
    def variance(self) -> float:
        """The variance of the noise on each parameter."""
        return (self.clip * self.noise_multiplier) ** 2

    def add(self, residual: Any, gradients: Any) -> None:
        """Add one step: what is left of the noisy sum (runs x parameters), and the candidates' clipped gradients.

        ``gradients`` has the shape (runs, candidates, parameters), or (candidates, parameters) when all runs share it.
        """
        residuals = as_floats("GradientScores.add", "a table of numbers for each run", residual, _ROWS)
        means = as_floats("GradientScores.add", "tables of numbers", gradients, _ROWS)
        means = means[None] if means.ndim == 2 else means
        fits = means.ndim == 3 and means.shape[0] in (1, self.runs) and means.shape[1] == self.candidates
        if residuals.ndim != 2 or residuals.shape[0] != self.runs or not fits or means.shape[2] != residuals.shape[1]:
            allowed = f"residual ({self.runs}, parameters) and gradients ({self.runs}, {self.candidates}, parameters)"
            raise ParameterError("GradientScores.add", allowed, f"{residuals.shape} and {means.shape}")
        same_gradients = means.shape[0] == 1
        with np.errstate(invalid="ignore", over="ignore"):  # add_products looks for what is not finite
            products = residuals @ means[0].T if same_gradients else (means @ residuals[:, :, None])[:, :, 0]
            gram = means @ means.transpose(0, 2, 1)
        self.add_products(products, gram)

    def add_products(self, products: Any, gram: Any) -> None:
        """Add one step from inner products: <residual, mu_i> (runs x candidates) and <mu_i, mu_j> (runs or 1, i, j)."""
        inner = as_floats("GradientScores.add_products", "a table of numbers", products, _ROWS)
        table = as_floats("GradientScores.add_products", "tables of numbers", gram, _ROWS)
        shape, m = (self.runs, self.candidates), self.candidates
        if inner.shape != shape or table.shape not in ((self.runs, m, m), (1, m, m)):
            allowed = f"products {shape} and a Gram matrix {(self.runs, m, m)}"
            raise ParameterError("GradientScores.add_products", allowed, f"{inner.shape} and {table.shape}")
        _check_finite(inner)
        check_norms(table, self.clip)
        norms = np.diagonal(table, axis1=1, axis2=2)
        loss = (inner - 0.5 * norms) / self.variance
        if self.sample_rate < 1.0:
            # ln(1 - q + q e^x), without overflow
            loss = np.logaddexp(np.log1p(-self.sample_rate), np.log(self.sample_rate) + loss)
        self.likelihoods += loss
        self.plain += inner
        mean_norms = norms.mean(axis=0)
        self.distances += (mean_norms[:, None] + mean_norms[None, :] - 2.0 * table.mean(axis=0)) / self.variance
        self.steps += 1


def check_norms(gram: Floats, clip: float) -> None:
    """Raise unless the gradients with these inner products are finite and clipped."""
    _check_finite(gram)
    longest = float(np.diagonal(gram, axis1=-2, axis2=-1).max()) ** 0.5
    if longest > clip * (1.0 + _LONGER):
        hint = "Clip them before they are added."
        raise ParameterError("gradients", f"clipped to norm {clip:g}", f"one of norm {longest:g}", hint)


def _check_finite(numbers: Floats) -> None:
    if not np.all(np.isfinite(numbers)):
        hint = "The training has diverged, or the gradients were not computed."
        raise ParameterError("gradients", "finite numbers", "nan or infinite ones", hint)


def printed_rule(plain: Any, codes: Any) -> Ints:
    """Return the guess of the rule that [RAD] prints (Algorithm 2) for each run and each kind of knowledge.

    ``plain`` are the sums of inner products (runs x candidates), ``codes`` what is known of each candidate. The result
    has one column per kind of knowledge: the candidate with the largest inner product among those that fit, if it
    exceeds the average over all candidates, else -1 ("not a member").

    Notes
    -----
    Kept for comparison only. The density of all steps is a mixture of products, not a product of mixtures; Jensen's
    inequality is used as an equivalence; the norms are dropped. It finds less than there is to find: docs/derivations/
    gradients.md.

    Examples
    --------
    >>> printed_rule([[3.0, 1.0, 2.0]], [0, 0, 1]).tolist()
    [[0, -1]]
    """
    sums, kinds = as_floats("printed_rule.plain", "a table of numbers", plain, _ROWS), np.asarray(codes)
    if sums.ndim != 2 or kinds.shape != sums.shape[1:] or not np.all(np.isfinite(sums)):
        allowed = "finite sums (runs x candidates) with one code for each candidate"
        raise ParameterError("printed_rule", allowed, f"shapes {sums.shape} and {kinds.shape}")
    excess = sums - sums.mean(axis=1, keepdims=True)
    guesses = []
    for kind in np.unique(kinds):
        members = np.flatnonzero(kinds == kind)
        best = members[excess[:, members].argmax(axis=1)]
        guesses.append(np.where(excess[np.arange(sums.shape[0]), best] > 0.0, best, -1))
    return np.stack(guesses, axis=1)
