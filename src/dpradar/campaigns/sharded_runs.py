"""From the options of a run to its shards: how many there are, how each is computed, and how they are combined."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..attacks.attack_options import AttackOptions
from ..attacks.attack_runs import AttackCounts, attack_job
from ..audits import audit
from ..audits.audit import audit_job
from ..audits.audit_options import AuditOptions
from ..audits.epsilon_limits import Tally
from ..audits.import_by_name import import_object
from ..audits.threat_audit import AttackTally
from ..bounds import assess
from ..bounds.assess_options import AssessOptions
from ..calibration import Limit
from ..calibration.calibrate import DEFAULT_PRECISION, calibrate_family
from ..calibration.calibrate_options import FREE
from ..calibration.release_family import family_of_template
from ..errors import ParameterError
from ..guarantees.approx import EPSILON
from ..options.reading import Where, inside
from ..options.tables import options_in, options_of
from ..spec.claims import ClaimOptions, claim_of
from ..spec.model import RELATION
from ..spec.question import release_of, sized, threat_of
from ..spec.release_kinds import KINDS
from ..spec.threat_options import DATA, PRIOR, SIZE
from ..threats import Knowledge, Prior, Threat
from .campaign_tables import SAMPLER, SEED, TEST, AuditRunOptions, LearningOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .campaign_model import Question

__all__ = ["ShardedRun", "check_run_options", "sharded_run_of"]

_ARRAYS = ("known_x", "known_y", "x", "y")


@dataclass(frozen=True, slots=True, eq=False)
class ShardedRun:
    """A run in shards: ``total`` trials in shards of ``size``.

    ``compute(k)`` returns the result of shard k as bytes; ``finish`` combines the results of all shards, in order, into
    the answer. ``further_key`` is what shards depend on besides the options; ``single_shard``: there is only one shard,
    which depends on all options.
    """

    total: int
    size: int
    compute: Callable[[int], bytes]
    finish: Callable[[Sequence[bytes]], dict[str, Any]]
    further_key: str = ""
    single_shard: bool = False


def check_run_options(do: str, options: dict[str, Any], where: Where) -> None:
    """Raise ParameterError for problems that can be found without computing anything."""
    if DATA.name in options:  # workers read it: a table may be large, and of a grid every run would read it here
        where.path(options[DATA.name], DATA.name)
        return
    if do == "audit":
        _claim_of_run(options, where)
        _check_audit(options, where)
        if "kind" not in options:
            return
    if do == "calibrate":
        _limit(options, where)
        return
    release, threat = release_of(options, where), threat_of(options, where)
    if do == "attack" and threat.kind != "record":
        hint = "Give values, a prior or m."
        raise ParameterError(where(PRIOR.name), "given: targets are drawn from it", "nothing", hint)
    if hasattr(release, "at"):
        release.at(threat.prior)


def sharded_run_of(question: Question) -> ShardedRun:
    """Return the run with its shards."""
    folder = None if question.folder is None else Path(question.folder)
    where, options = inside(question.place, folder), question.parsed_options()
    complete = options if question.do == "learning" else dict(sized(options, where))
    return _BUILDERS[question.do](complete, where, question.seed)


def _options_of(cls: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are fields of a class."""
    return {field.name: options[field.name] for field in fields(cls) if field.name in options}


def _to_json(part: Any) -> bytes:
    """Return counts as JSON, which preserves every float exactly."""
    return json.dumps(astuple(part)).encode()


def _attack_counts(data: bytes) -> AttackCounts:
    return AttackCounts(*json.loads(data))


def _tally(data: bytes) -> Tally:
    return Tally(*json.loads(data))


def _attack_tally(data: bytes) -> AttackTally:
    counts, strangers = json.loads(data)
    return AttackTally(AttackCounts(*counts), strangers)


def _single_shard_run(work: Callable[[], Any], trials: int = 1) -> ShardedRun:
    """Return a run with one shard, whose result is the answer."""

    def piece(_: int) -> bytes:
        return json.dumps(work().to_dict()).encode()

    return ShardedRun(trials, trials, piece, lambda parts: dict(json.loads(parts[0])), single_shard=True)


def _attack(options: dict[str, Any], where: Where, seed: int) -> ShardedRun:
    settings = {**_options_of(AttackOptions, options), SEED.name: seed}
    job = attack_job(release_of(options, where), threat_of(options, where), **settings)
    pieces = job.pieces

    def finish(parts: Sequence[bytes]) -> dict[str, Any]:
        return job.result((pieces.count(k), _attack_counts(part)) for k, part in enumerate(parts)).to_dict()

    return ShardedRun(pieces.total, pieces.size, lambda number: _to_json(pieces.piece(number)), finish)


def _check_audit(options: dict[str, Any], where: Where) -> None:
    own = AuditRunOptions(**_options_of(AuditRunOptions, options))
    if "kind" not in options and own.test == "likelihood":
        hint = "Add kind, m and epsilon, which define the likelihood."
        raise ParameterError(where(TEST.name), "'rad' or 'search' without a kind", "'likelihood'", hint)
    if own.sampler is not None:
        where.path(own.sampler, SAMPLER.name)


def _claim_of_run(options: dict[str, Any], where: Where) -> Any:
    """Return the claim: as stated, or the epsilon of the protocol."""
    claim_options = _options_of(ClaimOptions, options)
    if not claim_options and EPSILON.name in options:
        claim_options = asdict(ClaimOptions(claim_epsilon=options[EPSILON.name]))
    return claim_of(claim_options, where, "replace-one")


def _audit(options: dict[str, Any], where: Where, seed: int) -> ShardedRun:
    protocol = release_of(options, where) if "kind" in options else None
    own, requested = AuditRunOptions(**_options_of(AuditRunOptions, options)), AuditOptions.of(options)
    size = options[SIZE.name] if protocol is not None else requested.domain
    test = own.test or ("search" if protocol is None else "likelihood")
    settings = replace(requested, domain=size, seed=seed).of_samplers
    settings["claim"] = _claim_of_run(options, where)
    if test != "search":
        settings["protocol"] = protocol
    if test == "rad":
        settings["threat"] = threat_of({SIZE.name: size, **options}, where)
    sampler = protocol.at(None).sample if own.sampler is None else _sampler(own.sampler, where)  # type: ignore[union-attr]
    job = audit_job(sampler, **settings)
    if job is None:
        return _single_shard_run(lambda: audit(sampler, **settings), requested.trials)
    pieces, parse = job.pieces, _attack_tally if test == "rad" else _tally

    def finish(parts: Sequence[bytes]) -> dict[str, Any]:
        return job.result((pieces.count(k), parse(part)) for k, part in enumerate(parts)).to_dict()

    return ShardedRun(pieces.total, pieces.size, lambda number: _to_json(pieces.piece(number)), finish, job.chosen)


def _sampler(text: str, where: Where) -> Any:
    where.path(text, SAMPLER.name)  # refused where no files may be named
    return import_object(text, where(SAMPLER.name), where.folder)


def _assess(options: dict[str, Any], where: Where, seed: int) -> ShardedRun:
    names = [option.name for option in (RELATION, *options_in(AssessOptions))]
    settings = {name: options[name] for name in names if name in options}
    release, threat = release_of(options, where), threat_of(options, where)
    return _single_shard_run(lambda: assess(release, threat, **settings))


def _limit(options: dict[str, Any], where: Where) -> Limit:
    return Limit(threat_of(options, where), neighbours=options.get(RELATION.name), **options["limits"])


def _calibrate(options: dict[str, Any], where: Where, seed: int) -> ShardedRun:
    kind = KINDS[options["kind"]]
    free = options.get(FREE.name, kind.noise.name if kind.noise else None)
    param = next(param for param in kind.params if param.name == free)
    family = family_of_template(param, lambda x: release_of({**options, param.name: x}, where))
    limit = _limit(options, where)
    return _single_shard_run(lambda: calibrate_family(family, (limit,), DEFAULT_PRECISION, None))


def _learning(options: dict[str, Any], where: Where, seed: int) -> ShardedRun:
    import numpy as np

    from ..learning import Candidates, Network, Training, attack_gradients
    from ..learning.experiment import experiment_job

    own = LearningOptions(**_options_of(LearningOptions, options))
    path = where.path(own.data, DATA.name)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            candidates = Candidates(*(arrays[name] for name in _ARRAYS))
    except (OSError, ValueError, KeyError) as error:
        hint = f"({type(error).__name__}.) Written by numpy.savez with {', '.join(_ARRAYS)}."
        raise ParameterError(where(DATA.name), "a file .npz with records", repr(own.data), hint) from None
    network = Network(tuple(own.network), **_options_of(Network, options))
    training = replace(Training(**_options_of(Training, options)), network=network)
    job = experiment_job(training, candidates, own.trials, seed)
    knowledge_kinds = {"label": Knowledge.labels(candidates.y.tolist()), "everything": Knowledge.everything()}
    threat = Threat(Prior.uniform(candidates.x.shape[0]), knowledge_kinds.get(own.knowledge or "", Knowledge.nothing()))
    settings = options_of(own, options_in(LearningOptions, "maximise", "rule", "confidence"))

    def piece(number: int) -> bytes:
        buffer = io.BytesIO()
        np.savez(buffer, **job.piece(number))  # type: ignore[arg-type]
        return buffer.getvalue()

    def finish(parts: Sequence[bytes]) -> dict[str, Any]:
        arrays = [dict(np.load(io.BytesIO(part), allow_pickle=False)) for part in parts]
        targets, scores = job.joined(arrays)
        return attack_gradients(scores, targets, threat, **settings).to_dict()

    return ShardedRun(job.runs, job.size, piece, finish)


_BUILDERS: dict[str, Callable[[dict[str, Any], Where, int], ShardedRun]] = {
    "attack": _attack,
    "audit": _audit,
    "assess": _assess,
    "calibrate": _calibrate,
    "learning": _learning,
}
