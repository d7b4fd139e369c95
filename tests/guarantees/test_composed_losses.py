"""Privacy losses composed on a grid: beside sums with 40 digits, from above and from below."""

from __future__ import annotations

import mpmath as mp
import pytest

from dpradar.guarantees.losses import compose
from dpradar.guarantees.pairs import AtomPair, approx_pair


def exact(pair, step, times, epsilons):
    """Return delta at each epsilon for losses of -step and step, by the binomial distribution of their number."""
    with mp.workdps(40):
        low, high = (mp.mpf(mass) for mass in pair.masses)
        infinite = 1 - (1 - mp.mpf(pair.infinite)) ** times
        deltas, mass = [infinite] * len(epsilons), low**times
        for many in range(times + 1):
            loss = (2 * many - times) * mp.mpf(step)
            for i, epsilon in enumerate(epsilons):
                if loss > epsilon:
                    deltas[i] += mass * -mp.expm1(epsilon - loss)
            mass *= mp.mpf(times - many) / (many + 1) * high / low
        return deltas


@pytest.mark.parametrize(
    ("step", "times", "epsilons"),
    [
        # The last epsilons lie beyond where the composition is cut off: delta there is 1e-76 and less, and never 0.
        (0.01, 200, (0.0, 0.25, 0.75, 1.5, 1.99)),
        # So many uses that rounding alone takes 5e-14 off delta at 0, and adds as much to a smaller delta from below.
        (0.02, 2000, (0.0, 0.5, 1.0, 4.0, 7.0)),
    ],
)
def test_composed_losses_enclose_delta(step, times, epsilons):
    pair = approx_pair(step, 0.0)
    above = compose([(pair, times)], step)
    below = compose([(pair, times)], step / 8, below=True)
    for epsilon, delta in zip(epsilons, exact(pair, step, times, epsilons), strict=True):
        assert delta > 0
        assert above.delta(epsilon) >= delta
        assert above.delta(epsilon) <= delta + mp.mpf("1e-12")
        assert below.delta(epsilon) <= delta
    assert below.delta(epsilons[1]) > 0.5 * exact(pair, step, times, epsilons)[1]


@pytest.mark.parametrize("times", [2, 30, 5000])
@pytest.mark.parametrize("seen", [0.0, 1e-9])
def test_what_is_cut_off_and_rounded_counts_as_infinite_loss(seen, times):
    """1e-15 is cut off in all, and each use is rounded by up to 2e-16 (relative); the charge is on the safe side."""
    pair = AtomPair((-0.5, 0.5), (0.3 * (1 - seen), 0.7 * (1 - seen)), seen)
    with mp.workdps(40):
        infinite = 1 - (1 - mp.mpf(seen)) ** times
        charge = mp.mpf("1e-15") + times * mp.mpf("2e-16")
        rounding = mp.mpf("1e-15") * infinite
        above, below = (compose([(pair, times)], 0.5, below=side).infinite for side in (False, True))
        assert infinite + charge - rounding <= above <= infinite + 2 * charge
        assert infinite - 2 * charge <= below <= infinite - charge + rounding


def test_one_use_is_not_charged():
    pair = AtomPair((-0.5, 0.5), (0.3, 0.7))
    assert compose([(pair, 1)], 0.5).infinite == 0.0
