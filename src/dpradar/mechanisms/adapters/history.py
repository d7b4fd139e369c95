"""Training runs that Opacus has recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import ParameterError
from ...params import shown
from ..dpsgd import DPSGD
from .accounted import Accounted

__all__ = ["from_opacus"]

_ALLOWED = "a PrivacyEngine, an accountant, or its history [(noise_multiplier, sample_rate, steps), ...]"


def from_opacus(given: Any) -> DPSGD | Accounted:
    """Return the training run that an Opacus engine or accountant has recorded so far.

    Guarantee
    ---------
    The steps are composed from their exact privacy losses, whichever accountant recorded them. Its own epsilon is not
    used: that of the ``gdp`` accountant is an approximation that lies below the truth.

    Assumes
    -------
    Batches were drawn by Poisson sampling at the recorded rate, as ``make_private`` does by default. Opacus writes
    the same history with ``poisson_sampling=False``, which this function cannot see; the numbers do not hold then.

    Parameters
    ----------
    given
        A ``PrivacyEngine``, its ``accountant`` (rdp, prv or gdp), the accountant's ``state_dict()``, or the history as
        a list. Opacus itself is not imported, so a saved history can be read without it.

    Notes
    -----
    No neighbour relation is asked for. What is recorded is the mechanism: gradients clipped to a norm C, noise of
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
    for entry in _history(given):
        step = _step(entry)
        key = (step.noise_multiplier, step.sample_rate)
        counts[key] = counts.get(key, 0) + step.steps
    if not counts:
        hint = "Nothing was trained yet: the accountant records steps as the optimiser takes them."
        raise ParameterError("from_opacus.history", "at least one recorded step", "an empty history", hint)
    runs = [DPSGD(noise, rate, steps) for (noise, rate), steps in counts.items()]
    return runs[0] if len(runs) == 1 else Accounted("Opacus", tuple((run, 1) for run in runs))


def _history(given: Any) -> Sequence[Any]:
    found = getattr(given, "accountant", given)
    found = getattr(found, "history", found)
    if isinstance(found, Mapping):
        found = found.get("history")
    if isinstance(found, Sequence) and not isinstance(found, str):
        return found
    raise ParameterError("from_opacus", f"given {_ALLOWED}", shown(given))


def _step(entry: Any) -> DPSGD:
    if not isinstance(entry, Sequence) or len(entry) != 3:
        raise ParameterError("from_opacus.history", "(noise_multiplier, sample_rate, steps) for each", shown(entry))
    return DPSGD(*entry)
