"""Training runs that Opacus has recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import ParameterError
from ...params import shown
from ..dpsgd import DPSGD
from .accounted import Accounted

__all__ = ["from_opacus"]

_POISSON_SAMPLER = ("opacus.utils.uniform_sampler", "UniformWithReplacementSampler")
_ALLOWED = "a PrivacyEngine, an accountant, or its history [(noise_multiplier, sample_rate, steps), ...]"


def from_opacus(source: Any, *, data_loader: Any = None) -> DPSGD | Accounted:
    """Return the training run that an Opacus engine or accountant has recorded so far.

    Guarantee
    ---------
    The steps are composed from their exact privacy losses, whichever accountant recorded them. Its own epsilon is not
    used: that of the ``gdp`` accountant is an approximation that lies below the truth.

    Assumes
    -------
    Batches were drawn by Poisson sampling at the recorded rate, as ``make_private`` does by default; ``assumes`` of
    every number says so. Opacus writes the same history with ``poisson_sampling=False``, and the numbers do not hold
    then. The history does not show it, the loader does: pass the one that was trained with.

    Parameters
    ----------
    source
        A ``PrivacyEngine``, its ``accountant`` (rdp, prv or gdp), the accountant's ``state_dict()``, or the history as
        a list. Opacus itself is not imported, so a saved history can be read without it.
    data_loader
        The loader that ``make_private`` returned. It is refused unless it draws its batches by Opacus' Poisson sampler,
        ``UniformWithReplacementSampler``, at a rate of the history.

    Notes
    -----
    No neighbour relation is needed. What is recorded is the mechanism: gradients clipped to a norm C, noise of
    ``noise_multiplier`` times C. From that follows what it promises under add/remove, which Opacus' own epsilon is
    about, and under replace-one, where two gradients may lie 2 C apart. ``assess`` takes the relation its question
    needs; ``neighbours=`` chooses where the question leaves it open.

    Examples
    --------
    >>> from_opacus([(1.1, 0.01, 500)])
    DPSGD(noise_multiplier=1.1, sample_rate=0.01, steps=500)
    >>> from_opacus([(1.1, 0.01, 500), (0.9, 0.01, 100), (1.1, 0.01, 500)])
    Accounted(Opacus: DPSGD(noise_multiplier=1.1, sample_rate=0.01, steps=1000) + DPSGD(..., steps=100))
    """
    counts: dict[tuple[float, float], int] = {}
    for entry in _history(source):
        step = _step(entry)
        key = (step.noise_multiplier, step.sample_rate)
        counts[key] = counts.get(key, 0) + step.steps
    if not counts:
        hint = "Nothing was trained yet: the accountant records steps as the optimiser takes them."
        raise ParameterError("from_opacus.history", "at least one recorded step", "an empty history", hint)
    if data_loader is not None:
        _check_loader(data_loader, [rate for _, rate in counts])
    runs = [DPSGD(noise, rate, steps) for (noise, rate), steps in counts.items()]
    return runs[0] if len(runs) == 1 else Accounted("Opacus", tuple((run, 1) for run in runs))


def _history(source: Any) -> Sequence[Any]:
    history = getattr(source, "accountant", source)
    history = getattr(history, "history", history)
    if isinstance(history, Mapping):
        history = history.get("history")
    if isinstance(history, Sequence) and not isinstance(history, str):
        return history
    raise ParameterError("from_opacus", f"given {_ALLOWED}", shown(source))


def _check_loader(loader: Any, rates: Sequence[float]) -> None:
    """Raise unless batches are drawn by Poisson sampling at a recorded rate; rate 1 takes every record each time."""
    sampler = getattr(loader, "batch_sampler", None)
    kind = type(sampler)
    # The class itself: one that is derived from it may draw otherwise.
    if (kind.__module__, kind.__name__) != _POISSON_SAMPLER:
        hint = "Without Poisson sampling (poisson_sampling=False, a shuffled loader) the recorded numbers do not hold."
        allowed = f"a loader whose batch_sampler is Opacus' {_POISSON_SAMPLER[1]}"
        raise ParameterError("from_opacus.data_loader", allowed, kind.__name__, hint)
    rate = float(sampler.sample_rate)  # type: ignore[union-attr]
    if not any(math.isclose(rate, one, rel_tol=1e-9) for one in rates):
        hint = "Pass the loader that was trained with, or the history of the training that used this one."
        allowed = f"one that samples at a recorded rate ({', '.join(f'{one:g}' for one in rates)})"
        raise ParameterError("from_opacus.data_loader", allowed, f"rate {rate:g}", hint)


def _step(entry: Any) -> DPSGD:
    if not isinstance(entry, Sequence) or len(entry) != 3:
        raise ParameterError("from_opacus.history", "(noise_multiplier, sample_rate, steps) for each", shown(entry))
    return DPSGD(*entry)
