"""[SauerThesis] Tables 6.2 to 6.5: settings of the attacks, and what guessing without a report reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import measurement_em, measurement_grr
from .hop_noise import HopNoise
from .mobility_data import PRINTED, SHARES, town
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from .mobility_data import Town
    from .table import Cell

    Progress = Callable[[str], None]

__all__ = ["baselines", "baselines_within", "settings"]


def _quiet(_: str) -> None:
    """Say nothing."""


def settings(mechanism: str) -> Table:
    """Return Table 6.2 ("GRR", CORR) or Table 6.5 ("EM", UNI and CORR): the thesis' settings beside those used here.

    Examples
    --------
    >>> settings("GRR").rows[-1]["thesis"]
    '0, 0.1'
    """
    trials = measurement_grr.TRIALS if mechanism == "GRR" else measurement_em.TRIALS
    epsilons = "1, ..., 20" if mechanism == "GRR" else "1, 2, 4, ..., 20"
    etas = "0" if mechanism == "GRR" else "Porto 0, 9, 26, 44, 70; Beijing 0, 9, 28, 46, 74"
    rows = (
        ("epsilon", "privacy budget", "1, ..., 20", epsilons),
        (
            "eta",
            "hops a guess may be off",
            etas,
            "0" if mechanism == "GRR" else "0, 0.1, 0.3, 0.5, 0.8 of the diameter",
        ),
        ("I", "targets drawn", "1,000", f"{trials:,}"),
        ("J", "reports per target", "5", "1"),
        ("tau", "probability threshold of CORR", "0, 0.1" if mechanism == "GRR" else "0", "the same"),
    )
    columns = ("parameter", "meaning", "thesis", "here")
    return Table(columns, tuple(dict(zip(columns, row, strict=True)) for row in rows))


def _towns(data: Path | None, progress: Progress, places: Sequence[Town] | None) -> Sequence[Town]:
    return [town(name, data, progress) for name in PRINTED] if places is None else places


def baselines(data: Path | None = None, progress: Progress = _quiet, *, places: Sequence[Town] | None = None) -> Table:
    """Return Table 6.3: Σ π² and the largest probability, beside what the thesis prints."""
    columns = ("place", "stand_in", "m", "diameter", "kappa", "kappa_printed", "kappa_plus", "kappa_plus_printed")
    rows: list[dict[str, Cell]] = []
    for one in _towns(data, progress, places):
        pi, published = np.asarray(one.prior.probabilities), PRINTED.get(one.name)
        printed = (None, None) if published is None else (published.collision, published.largest)
        place = (one.name, one.stand_in, one.roads.size, one.roads.diameter)
        values = (*place, one.prior.collision, printed[0], float(pi.max()), printed[1])
        rows.append(dict(zip(columns, values, strict=True)))
    return Table(columns, tuple(rows))


def baselines_within(
    data: Path | None = None, progress: Progress = _quiet, *, places: Sequence[Town] | None = None
) -> Table:
    """Return Table 6.4: the best blind guess within eta hops, beside what the thesis prints."""
    columns = ("place", "stand_in", "eta", "share_of_diameter", "kappa_plus", "kappa_plus_printed", "kappa")
    rows: list[dict[str, Cell]] = []
    for one in _towns(data, progress, places):
        noise, pi, published = HopNoise.of(one.roads), np.asarray(one.prior.probabilities), PRINTED.get(one.name)
        for i, (eta, share) in enumerate(zip(one.etas, SHARES, strict=True)):
            best = float(np.max(noise.share_within(eta, pi)))
            printed = None if published is None else published.within[i]
            values = (one.name, one.stand_in, eta, share, min(best, 1.0), printed, one.prior.collision)
            rows.append(dict(zip(columns, values, strict=True)))
    return Table(columns, tuple(rows))
