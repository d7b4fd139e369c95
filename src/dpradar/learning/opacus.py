"""Record what the exact gradient attack needs, during an ordinary training with Opacus."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..bounds import assess
from ..errors import ParameterError
from ..mechanisms import from_opacus
from ..numerics.lazy_numpy import Floats, Ints, np
from .gradient_attack import attack_gradients, checked_targets
from .gradient_scores import GradientScores
from .opacus_checks import (
    accountant_of,
    check_model,
    check_optimizer,
    checked_before,
    checked_candidates,
    checked_rate,
    checked_target,
    shape_of,
    steps_of,
)
from .score_joining import joined_scores
from .step_histories import History, most_steps, steps_by_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..attacks.optimal import Maximise
    from ..mechanisms import DPSGD
    from ..mechanisms.adapters.accounted import Accounted
    from ..results import Assessment, AttackRun
    from ..threats import Threat

__all__ = ["Recorder", "Recording", "gather"]

_TINY = 1e-6  # what Opacus adds to a norm before it divides by it
_PROBES = 32  # features that are compared first; the others only where these agree
_UNLIKE = 0.01  # a gradient that is computed again may differ by this share: single precision, other summation orders
_NEVER = 1e-9  # a target in the data takes part so seldom, or so often, less often than this


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What was recorded of one or several trainings with the same settings: who was the target, and the scores.

    ``took_part``: in how many steps, of all trainings together, the targets did. ``history``: the steps that a training
    had, recorded or not, as (noise multiplier, sample rate, steps).

    Examples
    --------
    >>> import numpy as np, dpradar as dr
    >>> scores = GradientScores(runs=1, candidates=2, clip=1.0, noise_multiplier=0.5)
    >>> scores.add(residual=np.array([[0.9, 0.1]]), gradients=np.eye(2)[None])
    >>> recording = Recording(np.array([0]), scores)
    >>> recording.mechanism
    DPSGD(noise_multiplier=0.5, sample_rate=1.0, steps=1)
    >>> recording.posterior(dr.Threat(dr.Prior.uniform(2))).round(3).tolist()
    [[0.961, 0.039]]
    >>> recording.attack(dr.Threat(dr.Prior.uniform(2))).success.estimate
    1.0
    """

    targets: Ints
    scores: GradientScores
    took_part: int | None = None
    history: History = ()

    @property
    def mechanism(self) -> DPSGD | Accounted:
        """The training as it was run, with the steps that were not recorded."""
        if self.scores.steps == 0:
            hint = "Nothing was trained yet: a step is recorded when optimizer.step() is called."
            raise ParameterError("Recording", "of at least one step", "none", hint)
        recorded = (self.scores.noise_multiplier, self.scores.sample_rate, self.scores.steps)
        return from_opacus(self.history or (recorded,))

    def assess(self, threat: Threat) -> Assessment:
        """Return what nobody can exceed who sees everything this training releases, gradients included."""
        return assess(self.mechanism, threat)

    def attack(
        self, threat: Threat, *, maximise: Maximise = "rad", confidence: float = 0.95, seed: int = 0
    ) -> AttackRun:
        """Return how often the exact attack on the noisy gradients names the target; one guess for each training."""
        _ = self.mechanism
        run = attack_gradients(self.scores, self.targets, threat, maximise=maximise, confidence=confidence, seed=seed)
        return replace(run, notes=(*run.notes, *self._notes()))

    def _notes(self) -> list[str]:
        scores, notes = self.scores, []
        if self.took_part is not None and scores.sample_rate < 1.0:
            steps = scores.runs * scores.steps
            text = f"the targets took part in {self.took_part:,} of {steps:,} recorded steps"
            notes.append(f"{text}; {scores.sample_rate * steps:.3g} were to be expected")
        if scores.runs == 1:
            notes.append("one training is one guess; gather several for an estimate")
        return notes

    def posterior(self, threat: Threat) -> Floats:
        """Return for each training how probable each candidate is for one who has seen the gradients.

        What the threat says is known of the target leaves only the candidates of which the same is known.
        """
        targets = checked_targets(self.scores, self.targets, threat)
        prior, codes = threat.finite.probabilities, threat.codes
        fits = codes[targets][:, None] == codes[None, :]
        with np.errstate(divide="ignore"):
            logs = np.where(fits, np.log(prior)[None, :] + self.scores.likelihoods, -np.inf)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(slots=True, eq=False, repr=False)
class Recorder:
    """Records, during a training with Opacus, what its noisy gradients say about some candidates.

    Three lines in an ordinary loop::

        recorder = Recorder(model, optimizer, criterion, candidates=(cx, cy), target=3, loader=loader)
        for x, y in loader:
            recorder.batch(x, y)
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        print(recorder.assess(threat).explain(), recorder.attack(threat).explain())

    It is made after ``make_private``. One of the candidates, ``target``, is in the training data; ``target=None`` means
    that none is, which gives the scores of canaries that stay out. In each step the recorder computes the candidates'
    clipped gradients as Opacus does, with the model, the loss and the parameters of that step, and their inner products
    with each other and with the noise. Nothing else is kept, and the training is not changed by it in any bit.

    ``loader`` is what ``make_private`` returned: its Poisson sampling rate is used. Or give ``sample_rate`` instead.
    ``steps_before`` is needed where the accountant has seen steps already: those of this training are part of what it
    releases, though not of what is attacked.

    Guarantee
    ---------
    The attack is the best one on the noisy gradient sums, for an attacker who knows all other records and which of them
    took part in each step. ``assess`` is the bound for everything that the training has released so far: steps before
    the first recorded one and after ``stop`` count, and so do those that the accountant got from a checkpoint later on.

    Assumes
    -------
    Flat clipping, Poisson sampling, and a loss that is a sum or a mean over examples. Records are used as they are: one
    that is changed before use (augmentation, another scaling) is not found in its batches, and then too little leaks
    here. It is refused when the targets of all trainings together take part far more seldom than sampling explains
    (less than once in 10^9); the notes of an attack report how often they did. The candidates other than the target are
    not in the training data; one that is seen in a batch is refused, one that happens to be in no batch cannot be.

    Notes
    -----
    In the step hook of Opacus the noise is what was added to the clipped sum, ``p.grad * scale - p.summed_grad``.
    Steps that Opacus only accumulates (``BatchMemoryManager``) are no steps here either.
    """

    model: Any
    optimizer: Any
    criterion: Any
    candidates: Any = field(kw_only=True)
    target: int | None = field(kw_only=True)
    loader: Any = field(default=None, kw_only=True)
    sample_rate: float | None = field(default=None, kw_only=True)
    steps_before: int | None = field(default=None, kw_only=True)
    scores: GradientScores = field(init=False)
    took_part: int = field(init=False, default=0)  # steps in which the target did
    _x: Any = field(init=False)
    _y: Any = field(init=False)
    _probe: Any = field(init=False)
    _previous: Any = field(init=False, default=None)
    _batches: int = field(init=False, default=0)  # since the last step
    _target_hits: int = field(init=False, default=0)  # how often the target is in them
    _row: int | None = field(init=False, default=None)  # where it is in the last one
    _stopped: bool = field(init=False, default=False)
    _after: int = field(init=False, default=0)  # steps since then
    _accountant: Any = field(init=False, default=None)
    _steps_at_start: int = field(init=False, default=0)  # steps that the accountant had when this recorder was made

    def __post_init__(self) -> None:
        check_optimizer(self.optimizer)
        self._x, self._y = checked_candidates(self.candidates, self.optimizer.params[0])
        self.target = checked_target(self.target, self._x.shape[0])
        self.sample_rate = checked_rate(self.loader, self.sample_rate)
        self.scores = GradientScores(
            runs=1,
            candidates=self._x.shape[0],
            clip=self.optimizer.max_grad_norm,
            noise_multiplier=self.optimizer.noise_multiplier,
            sample_rate=self.sample_rate,
        )
        check_model(self._module)
        flat = self._x.reshape(self._x.shape[0], -1)
        spread = flat.double().var(dim=0)
        self._probe = spread.topk(min(_PROBES, spread.numel())).indices
        self._previous = self.optimizer.step_hook
        self._accountant = accountant_of(self._previous)
        self._steps_at_start = steps_of(self._accountant)
        self.steps_before = checked_before(self._previous, self.steps_before, self._steps_at_start)
        self.optimizer.attach_step_hook(self._step)

    def __repr__(self) -> str:
        return f"Recorder({self.scores.candidates} candidates, {self.scores.steps} steps)"

    @property
    def _module(self) -> Any:
        """What is called with a batch: the model, also when it was not wrapped."""
        return self.model if callable(self.model) else self.model._module

    @property
    def likelihoods(self) -> Floats:
        """For each candidate: how much more likely its part in the training makes what was seen (ln); for canaries."""
        return np.array(self.scores.likelihoods[0])

    @property
    def recording(self) -> Recording:
        """What was recorded so far."""
        return gather([self])

    def assess(self, threat: Threat) -> Assessment:
        """Return what nobody can exceed who sees everything this training releases, gradients included."""
        return self.recording.assess(threat)

    def attack(self, threat: Threat, *, maximise: Maximise = "rad", seed: int = 0) -> AttackRun:
        """Return what the exact attack on this training guesses: one guess; :func:`gather` puts several together."""
        return self.recording.attack(threat, maximise=maximise, seed=seed)

    def posterior(self, threat: Threat) -> Floats:
        """Return how probable each candidate is for one who has seen the gradients of this training."""
        return np.asarray(self.recording.posterior(threat)[0])

    @property
    def history(self) -> History:
        """What this training has released so far, recorded or not: (noise multiplier, sample rate, steps)."""
        steps = (self.steps_before or 0) + self.scores.steps + self._after
        recorded = ((self.scores.noise_multiplier, self.scores.sample_rate, steps),)
        expected = self._steps_at_start + self.scores.steps + self._after
        if self._accountant is None or steps_of(self._accountant) == expected:
            return recorded
        # The accountant was loaded from a checkpoint meanwhile: all that it lists was released.
        return most_steps([recorded, steps_by_kind(self._accountant.history)])

    @property
    def released(self) -> int:
        """The steps that this training has made, recorded or not."""
        return sum(steps for _, _, steps in self.history)

    def stop(self) -> None:
        """Record no more; further steps are only counted."""
        self._stopped = True

    # ------------------------------------------------------------------------------------------------- each batch

    def batch(self, x: Any = None, y: Any = None, *, took_part: bool | None = None) -> None:
        """Note whether the target takes part in the batch: found by comparing, or as ``took_part`` says."""
        if self._stopped:
            return
        if self._batches and not self.optimizer._is_last_step_skipped:
            hint = "Call it once for each batch, before optimizer.step(), and attach no step hook that leaves ours out."
            raise ParameterError("Recorder.batch", "followed by a step", "a second call without one", hint)
        self._batches += 1
        self._row = None
        if took_part is not None:
            self._target_hits += bool(took_part)
        else:
            self._look(x, y)
        if self._target_hits > 1 or (self.target is None and self._target_hits):
            hint = "Remove its copies, and call batch once for each batch, before optimizer.step()."
            raise ParameterError("Recorder.target", "in the training data once", "a step in which it is twice", hint)

    def _look(self, x: Any, y: Any) -> None:
        if getattr(x, "shape", (0,))[1:] != self._x.shape[1:] or getattr(y, "shape", (0,))[1:] != self._y.shape[1:]:
            allowed = f"tensors with examples of shape {tuple(self._x.shape[1:])} and classes as the candidates have"
            raise ParameterError("Recorder.batch", allowed, f"{shape_of(x)} and {shape_of(y)}")
        rows, candidates = x.detach().flatten(1), self._x.flatten(1).to(x.dtype)
        matches = (rows[:, None, self._probe] == candidates[None, :, self._probe]).all(dim=2).nonzero()
        for row, candidate in matches.tolist():
            if not (bool((rows[row] == candidates[candidate]).all()) and bool((y[row] == self._y[candidate]).all())):
                continue
            if candidate != self.target:
                hint = "Only the target may be there: the others are those that it could have been."
                raise ParameterError("Recorder.candidates", "outside the training data", "one in a batch", hint)
            self._target_hits += 1
            self._row = row

    # -------------------------------------------------------------------------------------------------- each step

    def _step(self, optimizer: Any) -> None:
        """Record one step: called by Opacus after clipping, noise and scaling, before the parameters move."""
        if self._previous is not None:
            self._previous(optimizer)
        if self._stopped:
            self._after += 1
            return
        self._check_step(optimizer)
        gradients = self._gradients(optimizer)
        norms = sum(part.square().sum(dim=1).double() for part in gradients) ** 0.5
        factors = (optimizer.max_grad_norm / (norms + _TINY)).clamp(max=1.0)
        self._check_target(optimizer, gradients, float(norms[self.target]) if self.target is not None else 0.0)
        scale = optimizer.expected_batch_size if optimizer.loss_reduction == "mean" else 1.0
        inner: Any = 0.0
        gram: Any = 0.0
        for parameter, part in zip(optimizer.params, gradients, strict=True):
            noise = parameter.grad.reshape(-1) * scale - parameter.summed_grad.reshape(-1)
            inner = inner + (part @ noise.to(part.dtype)).double()
            gram = gram + (part @ part.T).double()
        gram = gram * factors[:, None] * factors[None, :]
        products = inner * factors
        if self._target_hits and self.target is not None:
            products = products + gram[self.target]
            self.took_part += 1
        self._batches, self._target_hits, self._row = 0, 0, None
        self.scores.add_products(products.cpu().numpy()[None], gram.cpu().numpy()[None])

    def _check_step(self, optimizer: Any) -> None:
        if self._batches == 0:
            hint = "Call recorder.batch(x, y) for each batch, before optimizer.step()."
            raise ParameterError("Recorder.batch", "called before each step", "a step without it", hint)
        if optimizer.accumulated_iterations > 1:
            hint = "Step after every batch, or split large batches with BatchMemoryManager."
            raise ParameterError("Recorder", "given one batch a step", f"{optimizer.accumulated_iterations}", hint)
        current = (optimizer.noise_multiplier, optimizer.max_grad_norm)
        if current != (self.scores.noise_multiplier, self.scores.clip):
            hint = "Schedules of the noise or of the clipping norm cannot be recorded."
            raise ParameterError("Recorder", "given the same noise and clipping norm in each step", f"{current}", hint)
        if self.target is not None and self.sample_rate == 1.0 and not self._target_hits:
            hint = "Every record takes part in every step; the target must be one of them, unchanged."
            raise ParameterError("Recorder.target", "in every batch at sample rate 1", "a batch without it", hint)

    def _gradients(self, optimizer: Any) -> list[Any]:
        """Return the candidates' gradients, one table for each parameter, by the hooks of Opacus."""
        import torch

        module = self._module
        if not module.training:
            raise ParameterError("Recorder.model", "in training mode", "eval mode", "Call model.train() first.")
        originals = [(one.grad, one.grad_sample) for one in optimizer.params]
        try:
            for one in optimizer.params:
                one.grad, one.grad_sample = None, None
            with torch.enable_grad():
                self.criterion(module(self._x), self._y).backward()
            gradients = [one.grad_sample for one in optimizer.params]
        except (IndexError, RuntimeError, TypeError, ValueError) as error:
            allowed, hint = "such that the model and the criterion take them", "As the training has them."
            raise ParameterError("Recorder.candidates", allowed, f"{type(error).__name__}", hint) from error
        finally:
            for one, (grad, grad_sample) in zip(optimizer.params, originals, strict=True):
                one.grad, one.grad_sample = grad, grad_sample
        if any(part is None for part in gradients):
            hint = "Is it the one that make_private returned with this optimiser?"
            raise ParameterError("Recorder.model", "one whose parameters the optimiser has", "another one", hint)
        return [part.detach().flatten(1) for part in gradients]

    def _check_target(self, optimizer: Any, gradients: list[Any], norm: float) -> None:
        """Compare the target's gradient with the one that Opacus has clipped, where that is still there."""
        if self._row is None or self.target is None:
            return
        difference = 0.0
        for one, part in zip(optimizer.params, gradients, strict=True):
            per_sample = one.grad_sample if not isinstance(one.grad_sample, list) else one.grad_sample[-1]
            difference += float((per_sample[self._row].reshape(-1) - part[self.target]).square().sum())
        if difference**0.5 > _UNLIKE * max(norm, _UNLIKE * self.scores.clip):
            hint = "The loss must be that of the training, a sum or a mean over examples, without weights or dropout."
            got = f"{difference**0.5:.3g} away from it, of norm {norm:.3g}"
            raise ParameterError("Recorder", "able to compute the target's gradient as in the batch", got, hint)


def gather(recorders: Sequence[Recorder]) -> Recording:
    """Return the recordings of several trainings as one, with one row for each.

    Assumes
    -------
    The trainings are independent, with the same candidates in the same order, and their targets were drawn from the
    prior that the attack is given, or each candidate was the target of its share of them.

    Examples
    --------
    >>> gather([])
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: gather must be given at least one Recorder; got 0.
    """
    if not recorders:
        raise ParameterError("gather", "given at least one Recorder", "0")
    if len({id(one) for one in recorders}) < len(recorders):
        raise ParameterError("gather", "given each Recorder once", "one of them twice")
    targets, first = [], recorders[0]
    for one in recorders:
        if one.target is None:
            hint = "Without a target there is nothing to guess; its likelihoods are scores of canaries that were out."
            raise ParameterError("gather", "given trainings with a target", "one with target=None", hint)
        if not (one._x.equal(first._x) and one._y.equal(first._y)):
            raise ParameterError("gather", "given trainings with the same candidates in the same order", "others")
        targets.append(one.target)
    scores = joined_scores([one.scores for one in recorders])
    took_part = sum(one.took_part for one in recorders)
    _check_parts(took_part, scores)
    history = most_steps(tuple(entry for entry in one.history if entry[2]) for one in recorders)
    return Recording(np.asarray(targets, dtype=np.intp), scores, took_part, history)


def _check_parts(took_part: int, scores: GradientScores) -> None:
    """Raise if the targets took part in so few or so many steps that they cannot have been sampled at the rate."""
    from scipy import special

    steps, rate = scores.runs * scores.steps, scores.sample_rate
    if steps == 0 or rate == 1.0:
        return
    seldom, often = special.bdtr(took_part, steps, rate), special.bdtrc(took_part - 1, steps, rate)
    if min(seldom, often) < _NEVER:
        got = f"in {took_part:,} of {steps:,}, with {rate * steps:.3g} to be expected"
        hint = "Is each in the training data once, in the same form as among the candidates, and is the rate right?"
        raise ParameterError("Recorder.target", "in the batches as often as sampling explains", got, hint)
