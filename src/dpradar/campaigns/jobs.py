"""From the options of a run to a job: how many shards there are, what each gives, and the answer from all of them."""

from __future__ import annotations

import io
import json
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..attacks.attack_runs import AttackCounts, attack_job
from ..audits import audit
from ..audits.audit import audit_job
from ..audits.epsilon_limits import Tally
from ..audits.import_by_name import import_object
from ..audits.threat_audit import AttackTally
from ..bounds import assess
from ..calibration import Limit
from ..calibration.calibrate import calibrate_family
from ..calibration.release_family import family_of_template
from ..errors import ParameterError
from ..options.reading import Where, inside
from ..spec.claims import claim_of
from ..spec.kinds import KINDS
from ..spec.question import release_of, sized, threat_of
from ..threats import Knowledge, Prior, Threat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .model import Question

__all__ = ["Job", "check", "job_of"]

_FAMILY_PRECISION = 1e-5
_RECORDS = ("known_x", "known_y", "x", "y")


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A run to be made: ``total`` trials in shards of ``size``.

    ``piece(k)`` is what shard k gave, as bytes to be kept; ``finish`` makes the answer of all of them, in order.
    ``chosen`` is what shards depend on beside the options; ``whole``: the one shard depends on all options.
    """

    total: int
    size: int
    piece: Callable[[int], bytes]
    finish: Callable[[Sequence[bytes]], dict[str, Any]]
    chosen: str = ""
    whole: bool = False


def check(do: str, options: dict[str, Any], where: Where) -> None:
    """Raise ParameterError for what shows before anything is computed."""
    if "data" in options:  # workers read it: a table may be large, and of a grid every run would read it here
        where.path(options["data"], "data")
        return
    if do == "audit":
        _claim(options, where)
        _check_audit(options, where)
        if "kind" not in options:
            return
    if do == "calibrate":
        _limit(options, where)
        return
    what, threat = release_of(options, where), threat_of(options, where)
    if do == "attack" and threat.kind != "record":
        hint = "Give values, a prior or m."
        raise ParameterError(where("prior"), "given: targets are drawn from it", "nothing", hint)
    if hasattr(what, "at"):
        what.at(threat.prior)


def job_of(question: Question) -> Job:
    """Return the job of a run."""
    folder = None if question.folder is None else Path(question.folder)
    where, options = inside(question.place, folder), question.given()
    given = options if question.do == "learning" else dict(sized(options, where))
    return _JOBS[question.do](given, where, question.seed)


def _pack(part: Any) -> bytes:
    """Return sums as JSON, in which every float is written so that it is read as the same number."""
    return json.dumps(astuple(part)).encode()


def _counts(data: bytes) -> AttackCounts:
    return AttackCounts(*json.loads(data))


def _tally(data: bytes) -> Tally:
    return Tally(*json.loads(data))


def _seen(data: bytes) -> AttackTally:
    counts, strangers = json.loads(data)
    return AttackTally(AttackCounts(*counts), strangers)


def _whole(work: Callable[[], Any], trials: int = 1) -> Job:
    """Return a job of one shard, which is the answer itself."""

    def piece(_: int) -> bytes:
        return json.dumps(work().to_dict()).encode()

    return Job(trials, trials, piece, lambda parts: dict(json.loads(parts[0])), whole=True)


def _attack(options: dict[str, Any], where: Where, seed: int) -> Job:
    settings = {key: options[key] for key in ("trials", "maximise", "strategy", "confidence") if key in options}
    job = attack_job(release_of(options, where), threat_of(options, where), seed=seed, **settings)
    pieces = job.pieces

    def finish(parts: Sequence[bytes]) -> dict[str, Any]:
        return job.result((pieces.count(k), _counts(part)) for k, part in enumerate(parts)).to_dict()

    return Job(pieces.total, pieces.size, lambda number: _pack(pieces.piece(number)), finish)


def _check_audit(options: dict[str, Any], where: Where) -> None:
    if "kind" not in options and options.get("test") == "likelihood":
        hint = "Say how reports are read: kind, m and epsilon."
        raise ParameterError(where("test"), "'rad' or 'search' without a kind", "'likelihood'", hint)
    if "sampler" in options:
        where.path(options["sampler"], "sampler")


def _claim(options: dict[str, Any], where: Where) -> Any:
    """Return the claim: as stated, or the epsilon of the protocol."""
    stated = {key: value for key, value in options.items() if key.startswith("claim_")}
    if not stated and "epsilon" in options:
        stated = {"claim_epsilon": options["epsilon"]}
    return claim_of(stated, where, "replace-one")


def _audit(options: dict[str, Any], where: Where, seed: int) -> Job:
    protocol = release_of(options, where) if "kind" in options else None
    size = options["m"] if protocol is not None else options["domain"]
    test = options.get("test", "search" if protocol is None else "likelihood")
    settings: dict[str, Any] = {
        key: options[key] for key in ("trials", "significance", "sequential", "looks", "output_kind") if key in options
    }
    settings |= {"claim": _claim(options, where), "domain": size, "seed": seed}
    if test != "search":
        settings["protocol"] = protocol
    if test == "rad":
        settings["threat"] = threat_of({"m": size, **options}, where)
    if options.get("one_value"):
        settings["vectorised"] = False
    sampler = (
        _sampler(options["sampler"], where) if "sampler" in options else protocol.at(None).sample  # type: ignore[union-attr]
    )
    job = audit_job(sampler, **settings)
    if job is None:
        return _whole(lambda: audit(sampler, **settings), int(settings.get("trials", 100_000)))
    pieces, unpack = job.pieces, _seen if test == "rad" else _tally

    def finish(parts: Sequence[bytes]) -> dict[str, Any]:
        return job.result((pieces.count(k), unpack(part)) for k, part in enumerate(parts)).to_dict()

    return Job(pieces.total, pieces.size, lambda number: _pack(pieces.piece(number)), finish, job.chosen)


def _sampler(text: str, where: Where) -> Any:
    where.path(text, "sampler")  # refused where no files may be named
    return import_object(text, where("sampler"), where.folder)


def _assess(options: dict[str, Any], where: Where, seed: int) -> Job:
    settings = {key: options[key] for key in ("neighbours", "tolerance") if key in options}
    what, threat = release_of(options, where), threat_of(options, where)
    return _whole(lambda: assess(what, threat, **settings))


def _limit(options: dict[str, Any], where: Where) -> Limit:
    return Limit(threat_of(options, where), neighbours=options.get("neighbours"), **options["limits"])


def _calibrate(options: dict[str, Any], where: Where, seed: int) -> Job:
    kind = KINDS[options["kind"]]
    free = options.get("free", kind.noise.name if kind.noise else None)
    param = next(param for param in kind.params if param.name == free)
    family = family_of_template(param, lambda x: release_of({**options, param.name: x}, where))
    limit = _limit(options, where)
    return _whole(lambda: calibrate_family(family, (limit,), _FAMILY_PRECISION, None))


def _learning(options: dict[str, Any], where: Where, seed: int) -> Job:
    import numpy as np

    from ..learning import Candidates, Network, Training, attack_gradients
    from ..learning.experiment import experiment_job

    path = where.path(options["data"], "data")
    try:
        with np.load(path, allow_pickle=False) as found:
            data = Candidates(*(found[name] for name in _RECORDS))
    except (OSError, ValueError, KeyError) as error:
        hint = f"({type(error).__name__}.) Written by numpy.savez with {', '.join(_RECORDS)}."
        raise ParameterError(where("data"), "a file .npz with records", repr(options["data"]), hint) from None
    network = Network(tuple(options["network"]), options.get("activation", "relu"))
    keys = ("steps", "clip", "noise_multiplier", "learning_rate", "sample_rate")
    training = Training(network=network, **{key: options[key] for key in keys if key in options})
    job = experiment_job(training, data, options["trials"], seed)
    known = {"label": Knowledge.labels(data.y.tolist()), "everything": Knowledge.everything()}
    threat = Threat(Prior.uniform(data.x.shape[0]), known.get(options.get("knowledge", ""), Knowledge.nothing()))
    settings = {key: options[key] for key in ("maximise", "rule", "confidence") if key in options}

    def piece(number: int) -> bytes:
        buffer = io.BytesIO()
        np.savez(buffer, **job.piece(number))  # type: ignore[arg-type]
        return buffer.getvalue()

    def finish(parts: Sequence[bytes]) -> dict[str, Any]:
        arrays = [dict(np.load(io.BytesIO(part), allow_pickle=False)) for part in parts]
        targets, scores = job.joined(arrays)
        return attack_gradients(scores, targets, threat, **settings).to_dict()

    return Job(job.runs, job.size, piece, finish)


_JOBS: dict[str, Callable[[dict[str, Any], Where, int], Job]] = {
    "attack": _attack,
    "audit": _audit,
    "assess": _assess,
    "calibrate": _calibrate,
    "learning": _learning,
}
