"""PyTorch networks as classifiers with ``predict_proba``: trained elsewhere, or here with Opacus."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

from ...attacks.attack_runs import checked_seed
from ...errors import MissingExtra, ParameterError
from ...mechanisms import DPSGD
from ...numerics.lazy_numpy import Array, Floats, np
from ...params import Param, shown
from ..gradient_scores import CLIP, NOISE

__all__ = ["OpacusClassifier", "TorchClassifier"]

_EPOCHS = Param(name="epochs", integer=True, low=1, what="the number of passes over the training data", typical=(1, 50))
_BATCH = Param(name="batch_size", integer=True, low=1, what="the expected number of records of a step")
_RATE = Param(name="learning_rate", low=0.0, low_open=True, what="how far a step goes", typical=(0.001, 1.0))
_ROWS = 4_096  # for which probabilities are computed at once


@dataclass(slots=True, eq=False)
class TorchClassifier:
    """A trained module from rows of features to scores of classes, with Opacus or without, to be attacked.

    ``classes`` are the labels in the order of the scores.

    Examples
    --------
    A module ``net`` that was trained by a loop of your own::

        attack_model("csmia", attacker, [TorchClassifier(net, ["no", "yes"])], targets, others)
    """

    module: Any
    classes: Any

    def __post_init__(self) -> None:
        _need("torch")
        if not callable(self.module):
            raise ParameterError("TorchClassifier.module", "a PyTorch module", shown(self.module))
        self.classes = np.asarray(self.classes)
        if self.classes.ndim != 1 or np.unique(self.classes).size != self.classes.size or self.classes.size < 2:
            raise ParameterError("TorchClassifier.classes", "two or more different labels", shown(self.classes))

    @property
    def classes_(self) -> Array:
        """The labels, as scikit-learn calls them."""
        return np.asarray(self.classes)

    def predict_proba(self, x: Any) -> Floats:
        """Return the probability of each class for each record."""
        import torch

        rows = torch.as_tensor(np.asarray(x, dtype=np.float32))
        training = bool(getattr(self.module, "training", False))
        if training:
            self.module.eval()
        try:
            with torch.no_grad():
                parts = [torch.softmax(self.module(part).double(), dim=1) for part in rows.split(_ROWS)]
        finally:
            if training:
                self.module.train()
        probabilities = torch.cat(parts).numpy()
        if probabilities.shape[1:] != self.classes.shape:
            allowed = f"one score for each of {self.classes.size} classes"
            raise ParameterError(
                "TorchClassifier.module", f"a network with {allowed}", f"{probabilities.shape[1]} scores"
            )
        return np.asarray(probabilities)

    def predict(self, x: Any) -> Array:
        """Return the most probable class of each record."""
        return np.asarray(self.classes[self.predict_proba(x).argmax(axis=1)])


@dataclass(slots=True, eq=False, kw_only=True)
class OpacusClassifier:
    """A network trained with Opacus: ``make_private``, Poisson sampling, flat clipping, plain SGD, cross-entropy.

    ``network(features, classes)`` returns a fresh module. Give ``lambda seed: OpacusClassifier(..., seed=seed)`` to
    :func:`~dpradar.learning.models.model_risk`.

    Notes
    -----
    The first parameters, the batches and the noise all follow from ``seed``; the random numbers of the caller are left
    as they were. ``mechanism``, after ``fit``, is what was run, for :func:`dpradar.assess`.
    """

    network: Any  # (features, classes) -> module
    epochs: int = 5
    batch_size: int = 64
    noise_multiplier: float = 1.0
    clip: float = 1.0
    learning_rate: float = 0.1
    seed: int = 0
    classes_: Array = field(init=False, repr=False, default_factory=lambda: np.empty(0))
    _trained: TorchClassifier | None = field(init=False, repr=False, default=None)
    _release: DPSGD | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        _need("opacus")
        for param in (_EPOCHS, _BATCH, NOISE, CLIP, _RATE):
            setattr(self, param.name, param.check("OpacusClassifier", getattr(self, param.name)))
        if not callable(self.network):
            allowed = "a function (features, classes) that returns a PyTorch module"
            raise ParameterError("OpacusClassifier.network", allowed, shown(self.network))
        self.seed = checked_seed("OpacusClassifier", self.seed)

    @property
    def mechanism(self) -> DPSGD:
        """The training as it was run."""
        if self._release is None:
            raise ParameterError("OpacusClassifier", "fitted first", "a new one", "Call fit(x, y).")
        return self._release

    def fit(self, x: Any, y: Any) -> Self:
        """Train on records and their classes, and return self."""
        import torch

        features, labels = np.ascontiguousarray(x, dtype=np.float32), np.asarray(y)
        if features.ndim != 2 or labels.shape != features.shape[:1] or not np.all(np.isfinite(features)):
            allowed = "a table of finite numbers and one class for each record"
            raise ParameterError("OpacusClassifier.fit", allowed, f"shapes {features.shape} and {labels.shape}")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if self.classes_.size < 2:
            raise ParameterError("OpacusClassifier.fit", "given two or more classes", f"{self.classes_.size}")
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Opacus, about its random numbers and its hooks
            torch.manual_seed(self.seed)
            self._train(torch.from_numpy(features), torch.from_numpy(codes))
        return self

    def _train(self, x: Any, y: Any) -> None:
        import torch
        from opacus import PrivacyEngine
        from torch.utils.data import DataLoader, TensorDataset

        module = self.network(int(x.shape[1]), int(self.classes_.size))
        model, optimizer, loader = PrivacyEngine().make_private(
            module=module,
            optimizer=torch.optim.SGD(module.parameters(), lr=self.learning_rate),
            data_loader=DataLoader(TensorDataset(x, y), batch_size=min(self.batch_size, len(x))),
            noise_multiplier=self.noise_multiplier,
            max_grad_norm=self.clip,
        )
        loss = torch.nn.CrossEntropyLoss()
        for _ in range(self.epochs):
            for rows, classes in loader:
                optimizer.zero_grad()
                loss(model(rows), classes).backward()
                optimizer.step()
        self._release = DPSGD(self.noise_multiplier, float(loader.sample_rate), self.epochs * len(loader))
        self._trained = TorchClassifier(module, self.classes_)

    def predict_proba(self, x: Any) -> Floats:
        """Return the probability of each of ``classes_`` for each record."""
        if self._trained is None:
            raise ParameterError("OpacusClassifier", "fitted first", "a new one", "Call fit(x, y).")
        return self._trained.predict_proba(x)

    def predict(self, x: Any) -> Array:
        """Return the most probable class of each record."""
        return np.asarray(self.classes_[self.predict_proba(x).argmax(axis=1)])


def _need(package: str) -> None:
    try:
        __import__(package)
    except ImportError:
        raise MissingExtra(package, "torch") from None
