"""[GuerraThesis] Table 3.2, mechanisms for trajectories, and Table 6.1, two records that nearly reach 2 epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpradar.correlated import Joint
from dpradar.correlated.finite_models import channel_leakage
from dpradar.granularity.claims import survey

from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .table import Cell

__all__ = ["mechanisms", "two_records"]

_RECORDS = ("r", "p_00", "p_01", "p_10", "p_11", "epsilon", "leakage", "bound")
_SURVEY = ("mechanism", "year", "granularity", "notion", "thesis", "here", "rules")
FACTORS = (3, 10, 100, 1_000)
EPSILON = 1.0


def mechanisms() -> Table:
    """Return Table 3.2: what the thesis says of each mechanism, and what the linter for claims says.

    Examples
    --------
    >>> len(mechanisms().where(thesis="wrong").rows)
    10
    """
    rows = [
        dict(
            zip(
                _SURVEY,
                (
                    one.reference,
                    one.year,
                    one.granularity,
                    one.notion,
                    one.thesis_verdict,
                    one.verdict,
                    ", ".join(one.rules) or None,
                ),
                strict=True,
            )
        )
        for one in survey()
    ]
    return Table(_SURVEY, tuple(rows))


def two_records(factors: Sequence[int] = FACTORS, epsilon: float = EPSILON) -> Table:
    """Return Table 6.1 for several r: the distribution of Example 6.4, and what randomised response leaks under it.

    Each of the two records is answered by randomised response with ``epsilon``, so the general bound is 2 epsilon.

    Examples
    --------
    >>> round(float(two_records([3]).numbers("leakage")[0]), 4)
    1.4624
    """
    flip = 1.0 / (1.0 + math.exp(epsilon))
    answer = np.array([[1.0 - flip, flip], [flip, 1.0 - flip]])
    rows: list[dict[str, Cell]] = []
    for r in factors:
        # Rows are X_1, columns X_2: the transpose of the printed table.
        joint = np.array([[1 / r**2, 1 / r**3], [(r - 1) / r**2, (r**3 - r**2 - 1) / r**3]])
        leak = channel_leakage(Joint(joint), np.kron(answer, answer))
        rows.append(dict(zip(_RECORDS, (r, *map(float, joint.ravel()), epsilon, leak, 2.0 * epsilon), strict=True)))
    return Table(_RECORDS, tuple(rows))
