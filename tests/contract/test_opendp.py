"""What we read from OpenDP's measurements against its own numbers."""

from __future__ import annotations

import math

import pytest

import dpradar as dr
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.guarantees.profile import Profile
from dpradar.mechanisms.adapters import from_opendp, measurement

pytestmark = pytest.mark.contract


@pytest.fixture(scope="module")
def dp():
    prelude = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed (extra: opendp)")
    prelude.enable_features("contrib", "honest-but-curious")
    return prelude


@pytest.fixture(scope="module")
def data(dp):
    return dp.vector_domain(dp.atom_domain(bounds=(0, 1))), dp.symmetric_distance()


@pytest.fixture(scope="module")
def total(dp, data):
    return data >> dp.t.then_clamp((0, 1)) >> dp.t.then_sum()


@pytest.fixture
def stated(dp, data):
    """Return a measurement that states a given loss."""

    def make(measure, loss, space=data):
        return dp.m.make_user_measurement(*space, measure, lambda _: 0, loss)

    return make


def test_pure(dp, total):
    laplace = total >> dp.m.then_laplace(2.0)
    for relation, distance in (("add-remove", 1), ("replace-one", 2)):
        guarantee = from_opendp(laplace, relation, d_in=distance)
        assert guarantee == dr.PureDP(laplace.map(distance), relation)
        assert guarantee.epsilon == pytest.approx(0.5 * distance, rel=1e-6)
    assert from_opendp(laplace, d_in=1) == from_opendp(laplace, "add-remove", d_in=1)


def test_zcdp_and_what_it_is_turned_into(dp, total):
    gaussian = total >> dp.m.then_gaussian(2.0)
    assert from_opendp(gaussian, d_in=1) == dr.ZCDP(gaussian.map(1), "add-remove")
    smoothed = dp.c.make_zCDP_to_approxDP(gaussian)
    theirs, profile = smoothed.map(1), from_opendp(smoothed, d_in=1)
    promise = profile.privacy("add-remove")
    assert promise.tv <= theirs.delta(0.0) + 1e-12  # larger epsilons imply less
    for delta in (1e-9, 1e-6, 1e-3):
        ours = epsilon_at(promise, delta)
        assert theirs.epsilon(delta) - 1e-6 <= ours <= 1.005 * theirs.epsilon(delta)
    fixed = from_opendp(dp.c.make_fix_delta(smoothed, 1e-6), d_in=1)
    assert (fixed.epsilon, fixed.delta) == (theirs.epsilon(1e-6), 1e-6)
    # Gaussian noise promises more than its zCDP does, and from here on nobody knows that it was Gaussian.
    zcdp = from_opendp(gaussian, d_in=1).privacy("add-remove")
    assert dr.GDP(0.5, "add-remove").privacy("add-remove").tv < zcdp.tv < promise.tv


def test_approximate_zcdp(dp, stated):
    measure = dp.approximate(dp.zero_concentrated_divergence())
    assert from_opendp(stated(measure, lambda d_in: (0.5 * d_in**2, 0.0)), d_in=1) == dr.ZCDP(0.5, "add-remove")
    guarantee = from_opendp(stated(measure, lambda d_in: (0.5 * d_in**2, 0.01)), d_in=1).privacy("add-remove")
    without = dr.ZCDP(0.5, "add-remove").privacy("add-remove")
    assert guarantee.tv == pytest.approx(0.01 + 0.99 * without.tv, rel=1e-4)
    for rate in (0.001, 0.05, 0.3):
        exact = 0.99 * without.curve.at(rate / 0.99)
        assert exact - 1e-2 < guarantee.curve.at(rate) <= exact + 1e-9


def test_renyi(dp, stated):
    guarantee = from_opendp(stated(dp.renyi_divergence(), lambda d_in: lambda order: 0.5 * d_in * order), d_in=1)
    assert isinstance(guarantee, dr.RDP)
    assert guarantee.privacy("add-remove").tv == pytest.approx(
        dr.ZCDP(0.5, "add-remove").privacy("add-remove").tv, rel=2e-3
    )


def test_a_divergence_that_only_looks_like_a_known_one(dp, stated):
    with pytest.raises(dr.UnsupportedError, match="ExtrinsicDivergence"):
        from_opendp(stated(dp.user_divergence("MaxDivergence"), lambda d_in: 0.1))


def test_profiles(dp):
    profile = dp.new_privacy_profile(lambda epsilon: max(0.0, 1.0 - math.exp((epsilon - 1.0) / 2.0)))
    guarantee = from_opendp(profile, "replace-one")
    assert isinstance(guarantee, Profile)
    laplace = dr.Laplace(1.0, sensitivity=1.0, neighbours="replace-one").at(None).privacy("replace-one")
    assert guarantee.privacy("replace-one").tv == pytest.approx(laplace.tv, abs=1e-9)
    assert guarantee.privacy("replace-one").curve.at(0.1) == pytest.approx(laplace.curve.at(0.1), abs=1e-4)
    with pytest.raises(dr.ParameterError, match="neighbours"):
        from_opendp(profile)


def test_how_many_records_a_person_has_is_never_guessed(dp, total):
    """With three records per person the zCDP of a Gaussian sum is nine times that of one record."""
    gaussian = total >> dp.m.then_gaussian(2.0)
    for relation, least in ((None, 1), ("add-remove", 1), ("replace-one", 2)):
        with pytest.raises(dr.ParameterError) as caught:
            from_opendp(gaussian, relation)
        assert caught.value.name == "from_opendp.d_in"
        assert f"It is {least} where everyone holds one record" in str(caught.value)
    one, three = (from_opendp(gaussian, "add-remove", d_in=records).rho for records in (1, 3))
    assert three == pytest.approx(9.0 * one, rel=1e-9)
    with pytest.raises(dr.ParameterError, match="d_in"):
        from_opendp(dp.m.make_randomized_response_bool(prob=0.75))


def test_several_records_of_one_person(dp, total):
    laplace = total >> dp.m.then_laplace(2.0)
    assert from_opendp(laplace, "add-remove", d_in=3).epsilon == pytest.approx(1.5, rel=1e-6)
    assert from_opendp(laplace, "replace-one", d_in=6).epsilon == pytest.approx(3.0, rel=1e-6)
    with pytest.raises(dr.ParameterError, match="stated when d_in = 2 in SymmetricDistance"):
        from_opendp(laplace, d_in=2)
    with pytest.raises(dr.ParameterError, match="at least 2 for replace-one"):
        from_opendp(laplace, "replace-one", d_in=1)
    for nonsense in (0, 1.5, True, "1"):
        with pytest.raises(dr.ParameterError, match="d_in"):
            from_opendp(laplace, "add-remove", d_in=nonsense)


def test_metrics_that_settle_replace_one(dp, stated):
    sized = dp.vector_domain(dp.atom_domain(bounds=(0, 1)), size=10)
    for metric in (dp.change_one_distance(), dp.hamming_distance()):
        changed = stated(dp.max_divergence(), float, (sized, metric))
        assert from_opendp(changed, d_in=1) == dr.PureDP(1.0, "replace-one")
        assert from_opendp(changed, d_in=3) == dr.PureDP(3.0, "replace-one")
        with pytest.raises(dr.ParameterError, match="'replace-one' with"):
            from_opendp(changed, "add-remove")
    coin = dp.m.make_randomized_response_bool(prob=0.75)
    assert from_opendp(coin, d_in=1).epsilon == pytest.approx(math.log(3.0), rel=1e-9)
    assert from_opendp(coin, d_in=1).neighbours == "replace-one"
    inserted = stated(dp.max_divergence(), float, (sized, dp.insert_delete_distance()))
    assert from_opendp(inserted, d_in=1) == dr.PureDP(1.0, "add-remove")


def test_metrics_between_numbers_settle_nothing(dp):
    laplace = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), 2.0)
    with pytest.raises(dr.ParameterError, match="do not settle it"):
        from_opendp(laplace)
    with pytest.raises(dr.ParameterError, match="how far apart"):
        from_opendp(laplace, "add-remove")
    assert from_opendp(laplace, "add-remove", d_in=3).epsilon == pytest.approx(1.5, rel=1e-6)
    vectors = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    gaussian = dp.m.make_gaussian(*vectors, 2.0)
    assert from_opendp(gaussian, "replace-one", d_in=2).rho == pytest.approx(0.5, rel=1e-6)


def test_in_assess_and_composed(dp, total):
    guarantee = from_opendp(total >> dp.m.then_laplace(2.0), "replace-one", d_in=2)
    threat = dr.Threat(dr.Prior.uniform(4))
    one, two = (dr.assess(dr.Composed([guarantee] * times), threat).rad.value for times in (1, 2))
    assert 0.0 < one < two


def test_other_things(dp):
    with pytest.raises(dr.ParameterError, match="Measurement or a PrivacyProfile"):
        from_opendp(1.0)


def test_the_extra_is_named_where_the_library_is_missing(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(measurement, "import_module", missing)
    with pytest.raises(dr.MissingExtra, match=r'pip install "dpradar\[opendp\]"'):
        from_opendp(1.0)
