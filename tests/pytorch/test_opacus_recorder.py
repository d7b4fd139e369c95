"""The recorder against Opacus itself, and our trainer against Opacus on the same noise."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import dpradar as dr
from dpradar.learning import Network, Training, trainer
from dpradar.learning.canaries import canary_audit
from dpradar.learning.opacus import gather
from tests.pytorch.private import (
    CANDIDATES,
    CLASSES,
    CLIP,
    FEATURES,
    HIDDEN,
    LEARNING_RATE,
    NOISE,
    RECORDS,
    STEPS,
    TARGET,
    THREAT,
    Private,
    mlp,
    nn,
    torch,
)

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]  # Opacus and PyTorch warn of their own


def watched(private, recorder):
    """Train, and return the noise and the records of each step."""
    noises, takings = [], []
    before = private.optimizer.step_hook

    def hook(optimizer):
        before(optimizer)
        scale = optimizer.expected_batch_size
        noises.append([(p.grad * scale - p.summed_grad).detach().double().numpy() for p in optimizer.params])

    private.optimizer.attach_step_hook(hook)
    for x, y, numbers in private.batches(STEPS):
        takings.append(np.isin(np.arange(RECORDS + 1), numbers.numpy()))
        recorder.batch(x, y)
        private.optimizer.zero_grad()
        private.criterion(private.model(x), y).backward()
        private.optimizer.step()
    return noises, takings


def replayed(monkeypatch, training, data, noises, takings):
    """Train with our trainer on the noise and the batches that Opacus drew."""
    queue, drawn = iter(noises), iter(takings)

    def noise(training, models, rngs):
        parts = [part.astype(np.float32) for part in next(queue)]
        return [part.T[None] for part in parts[0::2]], [part[None] for part in parts[1::2]]

    def taking_part(training, records, rngs, dtype):
        taking = next(drawn).astype(dtype)[None]
        return taking[:, :-1], taking[:, -1]

    monkeypatch.setattr(trainer, "_noise", noise)
    monkeypatch.setattr(trainer, "_taking_part", taking_part)
    return trainer.train(training, data, [TARGET], [np.random.SeedSequence(1)])


@pytest.mark.parametrize("sizes", [(FEATURES, CLASSES), (FEATURES, HIDDEN, CLASSES)], ids=["logistic", "mlp"])
@pytest.mark.parametrize("batch_size", [RECORDS + 1, 20, 6], ids=["full", "third", "tenth"])
def test_opacus_and_our_trainer_agree_step_by_step(monkeypatch, data, batch_size, sizes):
    network = Network(sizes)
    private = Private(data, batch_size, module=mlp(network))
    recorder = private.recorder(data)
    noises, takings = watched(private, recorder)
    rate = batch_size / (RECORDS + 1)
    training = Training(
        network=network, steps=STEPS, clip=CLIP, noise_multiplier=NOISE, learning_rate=LEARNING_RATE, sample_rate=rate
    )
    runs = replayed(monkeypatch, training, data, noises, takings)
    parameters = [p.detach().numpy() for p in private.model.parameters()]
    for ours, theirs in zip(runs.models.weights, parameters[0::2], strict=True):
        assert np.abs(ours[0].T - theirs).max() < 1e-5
    for ours, theirs in zip(runs.models.biases, parameters[1::2], strict=True):
        assert np.abs(ours[0] - theirs).max() < 1e-5
    assert recorder.took_part == sum(taking[-1] for taking in takings)
    for name in ("likelihoods", "plain", "distances"):
        assert getattr(recorder.scores, name) == pytest.approx(getattr(runs.scores, name), rel=1e-4, abs=1e-4)
    assert recorder.recording.mechanism == dr.DPSGD(NOISE, rate, STEPS)
    assert recorder.scores.steps == runs.scores.steps == STEPS


def test_recording_does_not_change_the_training_in_any_bit(data):
    results = []
    for record in (True, False):
        private = Private(data, 20)
        recorder = private.recorder(data) if record else None
        private.run(recorder=recorder)
        results.append([p.detach().clone() for p in private.model.parameters()])
        assert len(private.engine.accountant.history) == 1
        assert private.engine.accountant.history[0][2] == STEPS
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def test_steps_that_are_only_accumulated_are_not_counted(data):
    """BatchMemoryManager splits a batch: the same noise, batches and scores as without it."""
    whole = Private(data, 30)
    expected = whole.recorder(data)
    whole.run(10, expected)
    private = Private(data, 30)
    recorder = private.recorder(data)
    physical, managed = 0, importlib.import_module("opacus.utils.batch_memory_manager").BatchMemoryManager
    while recorder.scores.steps < 10:
        with managed(data_loader=private.loader, max_physical_batch_size=8, optimizer=private.optimizer) as loader:
            for x, y, _ in loader:
                physical += 1
                recorder.batch(x, y)
                private.optimizer.zero_grad()
                private.criterion(private.model(x), y).backward()
                private.optimizer.step()
    assert physical > 25
    assert recorder.scores.steps == 10
    assert recorder.took_part == expected.took_part > 0
    assert recorder.likelihoods == pytest.approx(expected.likelihoods, rel=1e-3, abs=1e-3)


def test_a_model_that_was_not_wrapped(data):
    likelihoods = []
    for wrap in (True, False):
        private = Private(data, 20, wrap_model=wrap)
        recorder = private.recorder(data)
        private.model = private.model if wrap else private.model._module
        private.run(recorder=recorder)
        likelihoods.append(recorder.likelihoods)
    assert np.array_equal(likelihoods[0], likelihoods[1])


def test_whether_the_target_takes_part_may_be_told(data):
    """For loaders that know the numbers of the records; nothing is compared then."""
    looked, stated = [], []
    for likelihoods in (looked, stated):
        private = Private(data, 20)
        recorder = private.recorder(data)
        for x, y, numbers in private.batches(STEPS):
            if likelihoods is looked:
                recorder.batch(x, y)
            else:
                recorder.batch(took_part=RECORDS in numbers)
            private.optimizer.zero_grad()
            private.criterion(private.model(x), y).backward()
            private.optimizer.step()
        likelihoods.extend(recorder.likelihoods)
    assert looked == stated


def test_losses_that_are_summed(data):
    """The same training, with a learning rate that makes up for the mean."""
    likelihoods = []
    for reduction, scale in (("mean", 1.0), ("sum", 1.0 / 20.0)):
        private = Private(data, 20, loss_reduction=reduction)
        private.criterion = nn.CrossEntropyLoss(reduction=reduction)
        private.optimizer.param_groups[0]["lr"] = LEARNING_RATE * scale
        recorder = private.recorder(data)
        private.run(recorder=recorder)
        likelihoods.append(recorder.likelihoods)
    assert likelihoods[0] == pytest.approx(likelihoods[1], rel=1e-3, abs=1e-3)


def test_a_convolutional_network(data):
    """Against gradients of single examples by autograd, clipped by hand."""
    module = nn.Sequential(
        nn.Unflatten(1, (1, 3, 4)),
        nn.Conv2d(1, 3, 2),
        nn.GroupNorm(1, 3),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(18, CLASSES),
    )
    private = Private(data, 20, module=module)
    recorder = private.recorder(data)
    seen = []

    def hook(optimizer):
        recorder._step(optimizer)
        private.model.disable_hooks()
        rows = []
        for x, y in zip(data.x, data.y, strict=True):
            loss = nn.functional.cross_entropy(module(torch.from_numpy(x)[None]), torch.tensor([int(y)]))
            flat = torch.cat([one.flatten() for one in torch.autograd.grad(loss, list(module.parameters()))])
            rows.append((flat * min(1.0, CLIP / float(flat.norm()))).double().numpy())
        private.model.enable_hooks()
        seen.append(np.stack(rows))

    private.optimizer.attach_step_hook(hook)
    private.run(3, recorder)
    distances = sum(np.square(rows[:, None] - rows[None]).sum(axis=2) for rows in seen) / (CLIP * NOISE) ** 2
    assert recorder.scores.distances == pytest.approx(distances, rel=1e-4, abs=1e-6)


def test_attack_assess_and_gather(data):
    recorders = []
    for target in range(CANDIDATES):
        private = Private(data, RECORDS + 1, target)
        private.optimizer.noise_multiplier = 0.2
        recorder = private.recorder(data, target=target)
        private.run(recorder=recorder)
        recorders.append(recorder)
    run = recorders[0].attack(THREAT)
    assert run.trials == 1
    assert run.success.estimate == 1.0
    assert "one guess" in run.explain()
    together = gather(recorders)
    assert together.attack(THREAT).trials == CANDIDATES
    assert together.attack(THREAT).success.estimate == 1.0
    assert together.posterior(THREAT).argmax(axis=1).tolist() == list(range(CANDIDATES))
    bound = recorders[0].assess(THREAT)
    assert bound.rad.value == dr.assess(dr.DPSGD(0.2, 1.0, STEPS), THREAT).rad.value > 0.5
    assert recorders[0].posterior(THREAT)[0] > 0.9
    assert repr(recorders[0]) == "Recorder(5 candidates, 20 steps)"


def test_canaries_in_and_out(data):
    """The recorder's log-likelihood ratios audit what Opacus does: a claim of eight times its noise is refuted."""
    inside, outside = [], []
    for seed in range(120):
        for target, likelihoods in ((TARGET, inside), (None, outside)):
            private = Private(data, RECORDS + (target is not None), target)
            recorder = private.recorder(data, target=target)
            torch.manual_seed(2 * seed + (target is None))
            private.run(3, recorder)
            likelihoods.append(recorder.likelihoods[TARGET])
    honest = dr.DPSGD(NOISE, 1.0, 3)
    assert not canary_audit(inside, outside, honest, seed=1).refuted
    claim = dr.DPSGD(8 * NOISE, 1.0, 3)
    assert canary_audit(inside, outside, claim, seed=1).refuted
