"""What we read from Opacus' records against its own numbers."""

from __future__ import annotations

import pytest

import dpradar as dr
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.mechanisms.adapters import Accounted, from_opacus

HISTORY = [(1.0, 0.01, 1000), (0.8, 0.02, 200)]


@pytest.fixture(scope="module")
def accountants():
    accountants = pytest.importorskip("opacus.accountants", reason="Opacus is not installed (extra: torch)")
    return {"rdp": accountants.RDPAccountant, "prv": accountants.PRVAccountant, "gdp": accountants.GaussianAccountant}


def recorded(kind, history):
    """Return an accountant that has seen the steps; the gdp one warns that it underestimates."""
    accountant = kind()
    for noise_multiplier, sample_rate, steps in history:
        for _ in range(steps):
            accountant.step(noise_multiplier=noise_multiplier, sample_rate=sample_rate)
    return accountant


def epsilon(guarantee):
    return epsilon_at(guarantee.privacy("add-remove"), 1e-5)


@pytest.mark.contract
@pytest.mark.filterwarnings("ignore")
def test_our_epsilon_lies_within_what_prv_vouches_for_and_below_rdp(accountants):
    """Opacus' prv answer is its upper bound, about 0.01 above its estimate; rdp is an upper bound too."""
    prv, rdp = (recorded(accountants[name], HISTORY) for name in ("prv", "rdp"))
    ours = epsilon(from_opacus(prv))
    assert ours == epsilon(from_opacus(rdp))
    assert prv.get_epsilon(1e-5) - 0.03 < ours < prv.get_epsilon(1e-5) < rdp.get_epsilon(1e-5)


@pytest.mark.contract
@pytest.mark.filterwarnings("ignore")
def test_the_gdp_accountant_is_only_asked_for_its_history(accountants):
    """Its central-limit epsilon is 1.62 here, where at least 1.82 is true."""
    gdp = recorded(accountants["gdp"], HISTORY[:1])
    guarantee = from_opacus(gdp)
    assert guarantee == dr.DPSGD(*HISTORY[0])
    assert gdp.get_epsilon(1e-5) < 1.7
    assert epsilon(guarantee) > 1.82


@pytest.mark.contract
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["rdp", "prv", "gdp"])
def test_before_the_first_step(accountants, name):
    with pytest.raises(dr.ParameterError, match="Nothing was trained yet"):
        from_opacus(accountants[name]())


@pytest.mark.contract
@pytest.mark.filterwarnings("ignore")
def test_a_training_run():
    opacus = pytest.importorskip("opacus", reason="Opacus is not installed (extra: torch)")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: torch)")
    torch.manual_seed(0)
    records = torch.utils.data.TensorDataset(torch.randn(100, 4), torch.randn(100, 1))
    model = torch.nn.Linear(4, 1)
    engine = opacus.PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(records, batch_size=10),
        noise_multiplier=1.1,
        max_grad_norm=1.0,
    )
    for x, y in loader:
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    assert from_opacus(engine) == dr.DPSGD(1.1, 0.1, 10) == from_opacus(engine.accountant.state_dict())


@pytest.mark.contract
@pytest.mark.filterwarnings("ignore")
def test_a_loader_that_does_not_draw_by_poisson_sampling_is_refused():
    opacus = pytest.importorskip("opacus", reason="Opacus is not installed (extra: torch)")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: torch)")
    records = torch.utils.data.TensorDataset(torch.randn(100, 4), torch.randn(100, 1))

    def trained(batch_size, **options):
        model, engine = torch.nn.Linear(4, 1), opacus.PrivacyEngine()
        model, optimizer, loader = engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(records, batch_size=batch_size),
            noise_multiplier=1.1,
            max_grad_norm=1.0,
            **options,
        )
        for x, y in loader:
            optimizer.zero_grad()
            ((model(x) - y) ** 2).mean().backward()
            optimizer.step()
        return engine, loader

    engine, loader = trained(10)
    assert from_opacus(engine, data_loader=loader) == dr.DPSGD(1.1, 0.1, 10)
    shuffled, fixed = trained(10, poisson_sampling=False)
    assert from_opacus(shuffled).sample_rate == 0.1  # the history looks the same
    _, other = trained(20)
    for refused in (fixed, torch.utils.data.DataLoader(records, batch_size=10, shuffle=True), "loader"):
        with pytest.raises(dr.ParameterError, match="UniformWithReplacementSampler"):
            from_opacus(shuffled, data_loader=refused)
    with pytest.raises(dr.ParameterError, match="recorded rate"):
        from_opacus(engine, data_loader=other)


def test_every_number_of_a_run_says_how_batches_are_drawn():
    threat = dr.Threat(dr.Prior.uniform(4))
    for run in (from_opacus(HISTORY[:1]), from_opacus(HISTORY)):
        a = dr.assess(run, threat)
        for bound in (*a.bounds.values(), a.tpr(0.01)):
            assert any(note.startswith("Poisson sampling") for note in bound.assumes)
        assert "Poisson sampling" in a.explain()
    whole = dr.assess(from_opacus([(5.0, 1.0, 10)]), threat)  # every record in every step: nothing is sampled
    assert "Poisson" not in whole.explain()


def test_a_saved_history_needs_no_opacus():
    guarantee = from_opacus([*HISTORY, [1.0, 0.01, 500]])
    assert guarantee == Accounted("Opacus", ((dr.DPSGD(1.0, 0.01, 1500), 1), (dr.DPSGD(0.8, 0.02, 200), 1)))
    assert from_opacus({"history": HISTORY[:1], "mechanism": "rdp"}) == dr.DPSGD(*HISTORY[0])
    assert guarantee.neighbours is None


def test_several_runs_are_composed_as_composed_does():
    runs = [(1.0, 0.1, 10), (2.0, 1.0, 5)]
    ours, parts = from_opacus(runs), dr.Composed([dr.DPSGD(*run) for run in runs]).at(None)
    for relation in ("add-remove", "replace-one"):
        assert ours.privacy(relation).tv == pytest.approx(parts.privacy(relation).tv, rel=1e-9)
    threat = dr.Threat(dr.Prior.uniform(4))
    assert dr.assess(ours, threat).rad.value == pytest.approx(dr.assess(dr.Composed([ours]), threat).rad.value)


@pytest.mark.parametrize(
    "history", [None, "history", 3, {}, {"history": None}, [(1.0, 0.1)], [1.0], [(0.0, 0.1, 5)], [(1.0, 1.5, 5)], []]
)
def test_bad_histories(history):
    with pytest.raises(dr.ParameterError):
        from_opacus(history)
