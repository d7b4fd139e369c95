"""Random small models."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

__all__ = ["covariances", "epsilons", "joints", "transitions"]

epsilons = st.floats(0.05, 4.0)


def _law(draw: st.DrawFn, size: int, least: float) -> list[float]:
    weights = [draw(st.floats(least, 1.0)) for _ in range(size)]
    total = sum(weights)
    return [w / total for w in weights] if total > 0 else [1.0 / size] * size


@st.composite
def transitions(draw: st.DrawFn, states: int = 2, least: float = 0.01) -> np.ndarray:
    """Rows of a transition matrix; with ``least`` 0 some may be 0."""
    return np.array([_law(draw, states, least) for _ in range(states)])


@st.composite
def joints(draw: st.DrawFn, most_records: int = 3, most_values: int = 3) -> np.ndarray:
    """A joint distribution; some tables may be impossible."""
    shape = tuple(draw(st.lists(st.integers(2, most_values), min_size=1, max_size=most_records)))
    weights = np.array(
        [draw(st.sampled_from([0.0, 1.0, 1.0])) * draw(st.floats(0.01, 1.0)) for _ in range(int(np.prod(shape)))]
    )
    if weights.sum() == 0.0:
        weights[:] = 1.0
    return (weights / weights.sum()).reshape(shape)


@st.composite
def covariances(draw: st.DrawFn, most: int = 5) -> np.ndarray:
    """A covariance with any variances; its correlations have no eigenvalue below about 0.01."""
    m = draw(st.integers(2, most))
    factors = np.array([[draw(st.floats(-1.0, 1.0)) for _ in range(m)] for _ in range(m)])
    S = factors @ factors.T + draw(st.floats(0.05, 2.0)) * np.eye(m)
    scale = np.array([draw(st.floats(0.2, 5.0)) for _ in range(m)])
    return S * np.outer(scale, scale)
