"""What a recorder is given by mistake is refused, and what it cannot see counts for the bound."""

from __future__ import annotations

import pytest

import dpradar as dr
from dpradar.learning import Network
from dpradar.learning.opacus import Recorder, gather
from tests.pytorch.private import (
    CANDIDATES,
    CLASSES,
    CLIP,
    FEATURES,
    HIDDEN,
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


def test_an_optimizer_that_is_not_private(data):
    model = mlp(Network((FEATURES, CLASSES)))
    with pytest.raises(dr.ParameterError, match="make_private"):
        Recorder(
            model,
            torch.optim.SGD(model.parameters(), lr=0.1),
            nn.CrossEntropyLoss(),
            candidates=(torch.from_numpy(data.x), torch.from_numpy(data.y)),
            target=0,
            sample_rate=0.1,
        )


@pytest.mark.parametrize(
    "settings",
    [
        {"clipping": "per_layer", "max_grad_norm": [CLIP] * 4},
        {
            "clipping": "adaptive",
            "target_unclipped_quantile": 0.5,
            "clipbound_learning_rate": 0.2,
            "max_clipbound": 1e8,
            "min_clipbound": 1e-2,
            "unclipped_num_std": 1.0,
        },
        {"grad_sample_mode": "ghost"},
    ],
    ids=["per-layer", "adaptive", "ghost"],
)
def test_other_kinds_of_clipping(data, settings):
    with pytest.raises(dr.ParameterError, match="flat clipping"):
        Private(data, 20, **settings).recorder(data)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"target": 5}, "from 0 to 4"),
        ({"target": -1}, "from 0 to 4"),
        ({"target": "3"}, "from 0 to 4"),
        ({"candidates": torch.zeros(5, FEATURES)}, "two tensors"),
        ({"candidates": (torch.zeros(5, FEATURES), torch.zeros(4))}, "one row for each"),
        ({"candidates": (torch.zeros(1, FEATURES), torch.zeros(1))}, "at least 2"),
        ({"candidates": (torch.full((5, FEATURES), torch.nan), torch.zeros(5))}, "finite"),
        ({"loader": None}, "poisson_sampling"),
        ({"loader": None, "sample_rate": 0.0}, "sample_rate"),
    ],
)
def test_bad_settings(data, changed, text):
    with pytest.raises(dr.ParameterError, match=text):
        Private(data, 20).recorder(data, **changed)


def test_models_that_cannot_be_recorded(data):
    private = Private(data, 20)
    private.model.eval()
    with pytest.raises(dr.ParameterError, match=r"model\.train"):
        private.recorder(data)
    module = nn.Sequential(nn.Linear(FEATURES, CLASSES), nn.Dropout(0.5))
    with pytest.raises(dr.ParameterError, match="dropout"):
        Private(data, 20, module=module).recorder(data)


def test_candidates_of_another_shape_than_the_batches(data):
    private = Private(data, 20)
    recorder = private.recorder(data, candidates=(torch.zeros(5, 3), torch.zeros(5, dtype=torch.long)))
    with pytest.raises(dr.ParameterError, match="examples of shape"):
        private.run(recorder=recorder)


def test_a_target_that_is_not_there(data):
    full = Private(data, RECORDS, target=None)
    with pytest.raises(dr.ParameterError, match="in every batch"):
        full.run(recorder=full.recorder(data))
    private = Private(data, 20, target=None)
    recorder = private.recorder(data)
    private.run(60, recorder)
    with pytest.raises(dr.ParameterError, match="in 0 of 60, with 20 to be expected"):
        recorder.attack(THREAT)


def test_candidates_that_are_in_the_data(data):
    private = Private(data, RECORDS + 1)
    recorder = private.recorder(data, target=1)  # the data has TARGET
    with pytest.raises(dr.ParameterError, match="outside the training data"):
        private.run(recorder=recorder)


def test_a_batch_that_is_told_twice_and_one_that_is_not_told(data):
    private = Private(data, RECORDS + 1)
    recorder = private.recorder(data)
    with pytest.raises(dr.ParameterError, match="called before each step"):
        private.run()
    private = Private(data, RECORDS + 1)
    recorder = private.recorder(data)
    recorder.batch(took_part=True)
    with pytest.raises(dr.ParameterError, match="once for each batch"):
        private.run(recorder=recorder)


def test_a_loss_that_is_not_that_of_the_training(data):
    private = Private(data, RECORDS + 1)
    recorder = private.recorder(data)
    recorder.criterion = nn.CrossEntropyLoss(label_smoothing=0.3)
    with pytest.raises(dr.ParameterError, match="as in the batch"):
        private.run(recorder=recorder)


def test_noise_that_changes(data):
    private = Private(data, RECORDS + 1)
    recorder = private.recorder(data)
    private.run(2, recorder)
    private.optimizer.noise_multiplier *= 0.9
    with pytest.raises(dr.ParameterError, match="Schedules"):
        private.run(1, recorder)


def test_gradients_that_are_not_numbers(data):
    private = Private(data, 20)
    recorder = private.recorder(data)
    with torch.no_grad():
        next(iter(private.model.parameters())).fill_(torch.nan)
    with pytest.raises(dr.ParameterError, match="finite numbers"):
        private.run(5, recorder)


def test_what_cannot_be_gathered(data):
    first, second, out = Private(data, 20), Private(data, 20), Private(data, 20, target=None)
    recorders = [first.recorder(data), second.recorder(data), out.recorder(data, target=None)]
    with pytest.raises(dr.ParameterError, match="Nothing was trained yet"):
        recorders[0].assess(THREAT)
    first.run(3, recorders[0])
    second.run(4, recorders[1])
    out.run(3, recorders[2])
    with pytest.raises(dr.ParameterError, match="the same"):
        gather(recorders[:2])
    with pytest.raises(dr.ParameterError, match="target=None"):
        gather([recorders[2]])
    recorders[0].stop()
    first.run(1)
    assert recorders[0].scores.steps == 3


def test_a_target_in_another_form_is_noticed_over_all_trainings(data):
    """Off by a rounding, or augmented: each training alone has too few steps to tell, together they have enough."""
    moved = (torch.from_numpy(data.x) + 1e-6, torch.from_numpy(data.y))
    recorders = []
    for _ in range(16):
        private = Private(data, 6)
        recorders.append(private.recorder(data, candidates=moved))
        private.run(recorder=recorders[-1])
    alone = recorders[0].attack(THREAT)
    assert "took part in 0 of 20 recorded steps; 2 were to be expected" in alone.explain()
    with pytest.raises(dr.ParameterError, match="in 0 of 320, with 32 to be expected"):
        gather(recorders)


def test_a_target_that_takes_part_too_often(data):
    private = Private(data, 6)
    recorder = private.recorder(data)
    for x, y, _ in private.batches(STEPS):
        recorder.batch(took_part=True)
        private.optimizer.zero_grad()
        private.criterion(private.model(x), y).backward()
        private.optimizer.step()
    with pytest.raises(dr.ParameterError, match="in 20 of 20, with 2 to be expected"):
        recorder.attack(THREAT)


def test_steps_that_were_not_recorded_count_for_the_bound(data):
    private = Private(data, 20)
    private.run(30)
    with pytest.raises(dr.ParameterError, match="steps_before=30 if they belong to this training"):
        private.recorder(data)
    recorder = private.recorder(data, steps_before=30)
    private.run(11, recorder)
    recorder.stop()
    private.run(4)
    assert recorder.scores.steps == 11
    assert recorder.recording.mechanism == dr.DPSGD(NOISE, 1.0 / 3.0, 45)
    assert Private(data, 20).recorder(data, steps_before=0).released == 0
    with pytest.raises(dr.ParameterError, match="steps_before"):
        private.recorder(data, steps_before=-1)


def test_steps_of_a_checkpoint_loaded_later_count_for_the_bound(data, tmp_path):
    earlier = Private(data, 20)
    earlier.run(100)
    earlier.engine.save_checkpoint(path=tmp_path / "model.pt", module=earlier.model, optimizer=earlier.optimizer)
    private = Private(data, 20)
    recorder = private.recorder(data)
    private.engine.load_checkpoint(path=tmp_path / "model.pt", module=private.model, optimizer=private.optimizer)
    private.run(5, recorder)
    assert sum(steps for _, _, steps in private.engine.accountant.history) == 105
    assert recorder.scores.steps == 5
    assert recorder.recording.mechanism == dr.DPSGD(NOISE, 1.0 / 3.0, 105)


def test_a_checkpoint_with_other_noise_counts_as_it_was(data):
    private = Private(data, 20)
    recorder = private.recorder(data)
    state = private.engine.accountant.state_dict()
    private.engine.accountant.load_state_dict({**state, "history": [(0.7, 0.25, 40)]})
    private.run(5, recorder)
    assert set(recorder.history) == {(0.7, 0.25, 40), (NOISE, 1.0 / 3.0, 5)}
    # The steps with less noise alone leak this much: all together leak more.
    alone = dr.assess(dr.DPSGD(0.7, 0.25, 40), THREAT).rad.value
    assert recorder.assess(THREAT).rad.value > alone


def test_a_recorder_that_stops_leaves_others_alone(data):
    private = Private(data, 20)
    first = private.recorder(data)
    private.run(2, first)
    second = private.recorder(data)
    assert second.steps_before == 2
    for x, y, _ in private.batches(6):
        first.batch(x, y)
        second.batch(x, y)
        private.optimizer.zero_grad()
        private.criterion(private.model(x), y).backward()
        private.optimizer.step()
        first.stop()
    assert (first.scores.steps, second.scores.steps) == (3, 6)
    assert (first.released, second.released) == (8, 8)
    second.stop()
    private.run(1)
    assert (first.scores.steps, second.scores.steps, first.released, second.released) == (3, 6, 9, 9)


def test_a_hook_that_leaves_the_recorder_out(data):
    private = Private(data, 20)
    recorder = private.recorder(data)
    private.optimizer.attach_step_hook(lambda _: None)
    with pytest.raises(dr.ParameterError, match="leaves ours out"):
        private.run(2, recorder)


def test_empty_batches(data):
    private = Private(data, 1)
    recorder = private.recorder(data)
    empty = 0
    for x, y, _ in private.batches(60):
        empty += len(x) == 0
        recorder.batch(x, y)
        private.optimizer.zero_grad()
        private.criterion(private.model(x), y).backward()
        private.optimizer.step()
    assert empty > 5
    assert recorder.scores.steps == 60


def test_rates_that_contradict_the_loader(data):
    private = Private(data, 20)
    with pytest.raises(dr.ParameterError, match="that of the loader, or left out"):
        private.recorder(data, sample_rate=0.001)
    plain = Private(data, 20, poisson_sampling=False)
    with pytest.raises(dr.ParameterError, match="Poisson-sampling loader"):
        plain.recorder(data, sample_rate=1.0 / 3.0)
    assert private.recorder(data, loader=None, sample_rate=0.25).sample_rate == 0.25


def test_recorders_that_do_not_belong_together(data):
    first, second = Private(data, 20), Private(data, 20)
    swapped = (torch.from_numpy(data.x[::-1].copy()), torch.from_numpy(data.y[::-1].copy()))
    recorders = [first.recorder(data), second.recorder(data, candidates=swapped, target=CANDIDATES - 1 - TARGET)]
    first.run(3, recorders[0])
    second.run(3, recorders[1])
    with pytest.raises(dr.ParameterError, match="each Recorder once"):
        gather([recorders[0], recorders[0]])
    with pytest.raises(dr.ParameterError, match="the same candidates"):
        gather(recorders)


def test_candidates_and_models_that_do_not_fit(data):
    private = Private(data, RECORDS + 1)
    with pytest.raises(dr.ParameterError, match="two tensors"):
        private.recorder(data, candidates=(["a", "b"], ["c", "d"]))
    classes = torch.from_numpy(data.y).clone()
    classes[0] = 17
    recorder = private.recorder(data, candidates=(torch.from_numpy(data.x), classes))
    with pytest.raises(dr.ParameterError, match="model and the criterion take them"):
        private.run(1, recorder)
    other, private = mlp(Network((FEATURES, HIDDEN, CLASSES))), Private(data, RECORDS + 1)
    recorder = Recorder(
        other,
        private.optimizer,
        private.criterion,
        candidates=(torch.from_numpy(data.x), torch.from_numpy(data.y)),
        target=TARGET,
        loader=private.loader,
    )
    with pytest.raises(dr.ParameterError, match="whose parameters the optimiser has"):
        private.run(1, recorder)
