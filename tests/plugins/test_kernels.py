"""What kernels promise to the engines holds for all of ours, and a broken promise is noticed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import dpradar as dr
from dpradar.plugins import GaussianKernel, LaplaceKernel, LineModel, Release, kernel_problems


@pytest.mark.parametrize("size", [1e-6, 0.3, 1.0, 17.0, 1e5])
@pytest.mark.parametrize("kernel", [LaplaceKernel, GaussianKernel])
def test_our_kernels_keep_their_promises(kernel, size):
    assert kernel_problems(kernel(size)) == ()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_staircase_keeps_its_promises(staircase_folder, install, epsilon):
    install(staircase_folder)
    from dpradar_staircase import StaircaseKernel

    assert kernel_problems(StaircaseKernel(epsilon, 2.0, 0.3)) == ()

    class Optimistic(StaircaseKernel):
        single_crossing = True

        def meeting(self, gap, ahead):
            return gap / 2 + self.unit * ahead / (2 * self.epsilon)

    assert any(problem.startswith("single_crossing") for problem in kernel_problems(Optimistic(epsilon, 2.0, 0.3)))


@dataclass(frozen=True)
class Smooth:
    """A Gaussian kernel, of which a test breaks one promise."""

    sigma: float = 1.0

    def __getattr__(self, name):
        return getattr(GaussianKernel(self.sigma), name)


class Shifted(Smooth):
    def density(self, x):
        return GaussianKernel(self.sigma).density(x - 0.01)


class TwoHumps(Smooth):
    def density(self, x):
        one = GaussianKernel(self.sigma)
        return 0.5 * (one.density(x - 2.0) + one.density(x + 2.0))


class ShortReach(Smooth):
    reach = 5.0


class CancelledTail(Smooth):
    def mass(self, low, high):
        from scipy.special import ndtr

        return ndtr(high) - ndtr(low)


class Flat(Smooth):
    def curvature(self, low, high):
        return 0.5 * GaussianKernel(self.sigma).curvature(low, high)


class Straight(Smooth):
    bends = False


class MeetsElsewhere(Smooth):
    def meeting(self, gap, ahead):
        return 0.5 * gap


class OtherLogarithm(Smooth):
    def log_density(self, x):
        return GaussianKernel(self.sigma).log_density(x) + 0.1 * np.abs(x)


class NoKink(Smooth):
    """Laplace noise that keeps quiet about its kink; a Gaussian bound on the curvature does not cover that."""

    kinks = (0.5,)
    bends = True
    reach = 42.0

    def __getattr__(self, name):
        return getattr(LaplaceKernel(self.sigma), name)

    def curvature(self, low, high):
        return np.full(np.shape(low), 0.5)


@pytest.mark.parametrize(
    ("kernel", "broken"),
    [
        (Shifted, "symmetric"),
        (TwoHumps, "unimodal"),
        (ShortReach, "reach"),
        (CancelledTail, "mass"),
        (Flat, "curvature"),
        (NoKink, "curvature or kinks"),
        (Straight, "bends"),
        (MeetsElsewhere, "single_crossing or meeting"),
        (OtherLogarithm, "log_density"),
    ],
)
def test_a_broken_promise_is_noticed(kernel, broken):
    assert any(problem.startswith(broken) for problem in kernel_problems(kernel())), kernel_problems(kernel())


def test_nonsense_is_said_at_once():
    class Negative(Smooth):
        reach = -1.0

    assert kernel_problems(Negative()) == ("unit and reach: 0 < unit <= reach < infinity does not hold",)


class Mixed:
    """Noise on the values themselves, from a kernel without a single crossing."""

    def __init__(self, kernel):
        self.kernel = kernel

    def at(self, prior):
        points = prior.numbers("Mixed")
        line = LineModel(points, np.ones(points.size), self.kernel)
        return Release(name="mixed", privacy=lambda _: None, inputs=points.size, line=line)


def test_without_a_single_crossing_no_engine_relies_on_one():
    class Many(Smooth):
        single_crossing = False

        def meeting(self, gap, ahead):
            raise AssertionError

    m = 3200  # too many to integrate over: the engine by sorting is all there is
    values = [float(v) for v in range(m)]
    prior = dr.Prior.of(np.linspace(1.0, 2.0, m) / np.linspace(1.0, 2.0, m).sum(), values=values)
    sorted_ones = dr.assess(Mixed(Smooth(3.0)), dr.Threat(prior))
    assert sorted_ones.success.side == "exact"
    refused = dr.assess(Mixed(Many(3.0)), dr.Threat(prior))
    assert refused.success.side == "upper"
    assert any("too many" in other.why for other in refused.others if other.rule == "exact-line")


def test_continuous_priors_say_which_noise_they_know():
    from scipy.stats import uniform

    from dpradar.plugins import ContinuousModel

    class Anything:
        def at(self, prior):
            return Release(name="any", privacy=lambda _: None, continuous=ContinuousModel(Smooth()))

    prior = dr.Prior.continuous(uniform(), 0.0, 1.0)
    result = dr.assess(Anything(), dr.Threat(prior, goal=dr.Goal.within(0.1)))
    assert next(o.why for o in result.others if o.rule == "exact-continuous") == "knows Laplace and Gaussian noise"
