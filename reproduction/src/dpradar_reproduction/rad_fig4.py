"""[RAD] Figures 4 and 5: the exact attack on DP-SGD, run on MNIST and Fashion-MNIST."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpradar.bounds import assess
from dpradar.calibration import Limit, calibrate
from dpradar.errors import ParameterError
from dpradar.guarantees import GDP
from dpradar.guarantees.curves import gaussian_curve
from dpradar.learning import Candidates, Network, Training, attack_gradients
from dpradar.learning.experiment import experiment
from dpradar.learning.torch_trainer import ConvNet, need_torch
from dpradar.mechanisms import DPSGD
from dpradar.threats import Knowledge, Prior, Threat

from . import canvas
from .paper_figure import Effort
from .rule_values import bound_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["EPSILONS", "candidates", "compute", "draw", "images", "models_for", "noise_for", "training_for"]

EPSILONS = (1.0, 2.0, 4.0, 10.0, 20.0, 50.0)
MODELS = 1_000  # for each candidate and epsilon
QUICK_MODELS = 16
DELTA, STEPS, CLIP, KNOWN, CANDIDATES = 1e-5, 100, 0.1, 999, 8
NETWORKS = ("mlp", "convnet")
_RATES = {"mnist": 1.0, "fashion-mnist": 0.5}
_FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
_HEADERS = (16, 8)
_PIXELS = 784
_COLUMNS = (
    "network",
    "knowledge",
    "epsilon",
    "noise_multiplier",
    "runs",
    "rad",
    "rad_low",
    "rad_high",
    "rad_printed_rule",
    "rero",
    "rero_low",
    "rero_high",
    "rad_bound",
    "rad_bound_printed",
    "rero_bound_published",
)


def images(data: Path | None, name: str) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the training images as rows of numbers in [0, 1], and their classes, from the original files."""
    folder = os.environ.get("DPRADAR_DATA") if data is None else data
    files = [] if not folder else [Path(folder) / name / file for file in _FILES]
    if not files or not all(file.is_file() for file in files):
        hint = f"Give --data FOLDER (or DPRADAR_DATA) with {name}/{_FILES[0]} and {_FILES[1]}."
        raise ParameterError("reproduce.data", f"a folder with the original files of {name}", repr(str(folder)), hint)
    raw = [
        np.frombuffer(gzip.decompress(file.read_bytes())[header:], dtype=np.uint8)
        for file, header in zip(files, _HEADERS, strict=True)
    ]
    return raw[0].reshape(-1, _PIXELS).astype(np.float32) / np.float32(255.0), raw[1].astype(np.intp)


def candidates(data: Path | None, name: str, count: int = CANDIDATES) -> Candidates:
    """Return the first 999 images as known records and the next ones as candidates, as in the paper."""
    x, y = images(data, name)
    return Candidates(x[:KNOWN], y[:KNOWN], x[KNOWN : KNOWN + count], y[KNOWN : KNOWN + count])


def noise_for(epsilon: float) -> float:
    """Return the noise multiplier whose full-batch training is (epsilon, 1e-5)-DP under add/remove, exactly.

    Examples
    --------
    >>> round(noise_for(10.0), 3)
    4.999
    """
    limit = Limit(epsilon=epsilon, delta=DELTA, neighbours="add-remove")
    mu = calibrate(GDP, limit, neighbours="add-remove").value
    if mu is None:
        raise ParameterError("epsilon", "one that some noise keeps", f"{epsilon:g}")
    return float(STEPS**0.5 / mu)


def threats(data: Candidates) -> dict[str, Threat]:
    """Return the three attackers of the figure."""
    prior = Prior.uniform(data.x.shape[0])
    return {
        "nothing": Threat(prior),
        "label": Threat(prior, Knowledge.labels(data.y.tolist())),
        "everything": Threat(prior, Knowledge.everything()),
    }


def training_for(epsilon: float, *, name: str, network: str = "mlp") -> Training:
    """Return the training of the papers: 100 full-batch steps, C = 0.1, and the noise that epsilon allows.

    Examples
    --------
    >>> training_for(10.0, name="mnist").learning_rate
    1.0
    """
    if network not in NETWORKS:
        raise ParameterError("network", " or ".join(NETWORKS), repr(network))
    if network == "convnet":
        need_torch()
    return Training(
        network=ConvNet() if network == "convnet" else Network((_PIXELS, 10, 10)),
        steps=STEPS,
        clip=CLIP,
        noise_multiplier=noise_for(epsilon),
        learning_rate=_RATES[name],
    )


def models_for(effort: Effort, usual: int, quick: int) -> int:
    """Return how many models are trained for each candidate; for the slow network the effort must state it.

    Examples
    --------
    >>> from dpradar_reproduction.paper_figure import Effort
    >>> models_for(Effort(quick=True), 1_000, 16), models_for(Effort(quick=True, models=3), 1_000, 16)
    (16, 3)
    """
    if effort.models is not None:
        if effort.models < 1:
            raise ParameterError("models", "a whole number at least 1", repr(effort.models))
        return effort.models
    if effort.network == "convnet":
        hint = "Give --models N: a training takes one to two minutes, and there are N for each candidate and epsilon."
        raise ParameterError("models", "given with the network convnet", "none", hint)
    return quick if effort.quick else usual


def compute(
    data: Path | None,
    progress: Callable[[str], None],
    *,
    name: str = "mnist",
    epsilons: Sequence[float] = EPSILONS,
    effort: Effort | None = None,
    keep: Path | None = None,
    bar: Callable[[int, int], None] | None = None,
) -> Table:
    """Return the numbers of Figure 4 (or 5): one row for each kind of knowledge and epsilon.

    As many trainings as ``effort`` says for each candidate and epsilon: MLP 784-10-10 or the ConvNet, 999 known
    images, full batch, 100 steps, C = 0.1, 8 candidates. ``rad_bound`` is the tightest bound that holds (replace-one);
    ``rad_bound_printed`` is that of the paper, which takes the add/remove noise for replace-one;
    ``rero_bound_published`` is 1 - f(1/8), proven for an attacker who knows nothing of the target. ``keep``: folder
    for finished shards.
    """
    effort = effort or Effort()
    models = models_for(effort, MODELS, QUICK_MODELS)
    trainings = [training_for(epsilon, name=name, network=effort.network) for epsilon in epsilons]
    records = candidates(data, name)
    attackers = threats(records)
    m, rows = records.x.shape[0], []
    total, done = len(epsilons) * models * m, 0
    for epsilon, training in zip(epsilons, trainings, strict=True):
        sigma = training.noise_multiplier
        moved = None if bar is None else _shifted(bar, done, total)
        targets, scores = experiment(
            training, records, models * m, seed=1, keep=keep, workers=effort.workers, progress=moved
        )
        done += models * m
        published = 1.0 - gaussian_curve(STEPS**0.5 / sigma).at(1.0 / m)
        for knowledge, threat in attackers.items():
            best = attack_gradients(scores, targets, threat)
            right = attack_gradients(scores, targets, threat, maximise="success").success
            row = {
                "network": effort.network,
                "knowledge": knowledge,
                "epsilon": epsilon,
                "noise_multiplier": sigma,
                "runs": models * m,
                "rad": best.rad.estimate,
                "rad_low": best.rad.low,
                "rad_high": best.rad.high,
                "rad_printed_rule": attack_gradients(scores, targets, threat, rule="printed").rad.estimate,
                "rero": right.estimate,
                "rero_low": right.low,
                "rero_high": right.high,
                "rad_bound": _bound(sigma, threat),
                "rad_bound_printed": _printed_bound(sigma, threat),
                "rero_bound_published": published,
            }
            rows.append(row)
        progress(f"epsilon {epsilon:g}: noise multiplier {sigma:.4g}, {models * m:,} trainings")
    return Table(_COLUMNS, tuple(rows))


def _shifted(bar: Callable[[int, int], None], before: int, total: int) -> Callable[[int, int], None]:
    return lambda finished, _: bar(before + finished, total)


def _bound(sigma: float, threat: Threat) -> float:
    rad = assess(DPSGD(noise_multiplier=sigma, sample_rate=1.0, steps=STEPS), threat).rad
    return rad.value  # type: ignore[union-attr]


def _printed_bound(sigma: float, threat: Threat) -> float:
    """Return the paper's bound: the add/remove parameter used as if it were that of replace-one."""
    wrong = assess(GDP(STEPS**0.5 / sigma, neighbours="replace-one"), threat)
    if threat.knowledge.kind != "nothing":
        return bound_of(wrong, "rad", "thm-4.2")
    return min(bound_of(wrong, "rad", rule) for rule in ("thm-5.1-interval", "thm-5.1-scaled"))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return the picture: one panel for each kind of knowledge."""
    kinds = ("nothing", "label", "everything")
    figure, panels = canvas.panels(1, len(kinds), 10.5, 4.0)
    for axes, kind in zip(panels[0], kinds, strict=True):
        _panel(axes, table, kind)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    canvas.legend(figure, handles, labels, columns=3)
    return figure


def _panel(axes: Axes, table: Table, kind: str) -> None:
    x = table.numbers("epsilon", knowledge=kind)
    lines = ("rad_bound", "RAD, bound that holds"), ("rad_bound_printed", "RAD, printed bound (add/remove)")
    for number, (column, text) in enumerate((*lines, ("rero_bound_published", "ReRo, published bound"))):
        canvas.curve(axes, x, table.numbers(column, knowledge=kind), number, text)
    for number, (column, text) in enumerate((("rad", "RAD, exact attack"), ("rero", "ReRo, exact attack")), start=3):
        y = table.numbers(column, knowledge=kind)
        ends = [table.numbers(f"{column}_{end}", knowledge=kind) for end in ("low", "high")]
        style: dict[str, Any] = {"color": canvas.COLOURS[number], "marker": canvas.MARKERS[number], "linestyle": "none"}
        axes.errorbar(x, y, yerr=np.array([y - ends[0], ends[1] - y]), capsize=2.0, label=text, **style)
    axes.set_xscale("log")
    canvas.label(axes, title=f"known: {kind}", x="ε at δ = 10⁻⁵ (add/remove)", y="risk")
    axes.set_ylim(0.0, 1.03)
