"""Attack and audit: what an attacker reaches, and what outputs say about a claim."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...attacks.attack_runs import TRIALS
from ...audits.audit import SIGNIFICANCE
from ...errors import ParameterError
from ...params import Param, shown
from ...spec.kinds import KINDS
from ...spec.question import release_call
from ..copies import Copy, attack_copies
from ..forms.fields import Field, Slider, choice, number_field, param_field, text_field
from ..forms.form import PLACE, Form, Section, given_texts, question_of, question_sections
from ..forms.releases import OFFERED, kind_field, release_fields
from ..work.auditing import AUDITED, claim_of, merged_rows, real_question
from .asked import Asked, Screen

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ATTACK", "read"]

_MODES = (
    ("attack", "attack a mechanism"),
    ("audit", "audit one with a mistake"),
    ("rows", "audit outputs that you paste"),
)
_DEFECTS = (("none", "none"), ("tenth", "10 % too little noise"), ("half", "half the noise"))
_DRAWN = tuple(name for name in OFFERED if KINDS[name].samples)
_MOST_TRIALS = 10_000_000
_SEEDS = 10**6
_FIRST = {"laplace": {"scale": "1"}, "geometric": {"scale": "1"}, "gaussian": {"sigma": "1"}}
_ROWS = "input,output,count\n0,0,500\n0,1,100\n1,0,120\n1,1,480"
_CLAIM = Param(name="claim_epsilon", low=0.0, what="the epsilon that is claimed", typical=(0.05, 12.0))
_OWN = "Your own functions, programs and logs: dpradar audit module:function, --program or log.csv"


def _trials(default: str) -> Field:
    slider = Slider(low=1000, high=1e6, log=True, whole=True, at_low="quick", at_high="precise")
    return number_field("trials", "trials", f"How many outputs are drawn, at most {_MOST_TRIALS:,}.", default, slider)


def _seed(query: Mapping[str, str], texts: dict[str, str]) -> Field:
    """Return the seed; where none is given one is drawn, so that the address gives the same result again."""
    if not query.get("seed"):
        texts["seed"] = str(secrets.randbelow(_SEEDS))
    return text_field("seed", "seed", "Gives the same result again.", texts.get("seed", ""), more=True)


def read(query: Mapping[str, str]) -> Asked:
    """Return what the query asks."""
    mode = query.get("mode", "attack")
    readers = {"attack": _attack, "audit": _audit, "rows": _rows}
    if mode not in readers:
        raise ParameterError("mode", f"one of {', '.join(readers)}", shown(mode))
    # A form that was drawn for something else brings fields that mean something else here.
    same = query.get("did", mode) == mode
    return readers[mode]({name: text for name, text in query.items() if same or name == "mode"})


def _mode() -> Field:
    return choice("mode", "What to do", _MODES, "attack", redraws=True)


def _asked(
    form: Form, query: Mapping[str, str], task: str, data: dict[str, Any], copies: Any, kind: str | None
) -> Asked:
    going = query.get("run") == "1"
    was = (("did", form.texts.get("mode", "attack")), *((("was", kind),) if kind is not None else ()))
    return Asked(
        form=form,
        task=task if going else None,
        data=data,
        long=True,
        was=was,
        further=(("run", "1"),) if going else (),
        copies=copies,
    )


def _failed(form: Form, error: ParameterError, kind: str | None) -> Asked:
    was = (("did", form.texts.get("mode", "attack")), *((("was", kind),) if kind is not None else ()))
    return Asked(form=form, task=None, was=was, problem=str(error), option=error.name)


def _checked(said: dict[str, Any]) -> tuple[int, int]:
    trials = int(TRIALS.check("attack", said.pop("trials", None)))
    if trials > _MOST_TRIALS:
        hint = "The command line takes as many as you like."
        raise ParameterError("trials", f"at most {_MOST_TRIALS:,}", f"{trials:,}", hint)
    seed = said.pop("seed", "")
    if not str(seed).isdecimal() or len(str(seed)) > 15:
        raise ParameterError("seed", "a whole number at least 0", shown(seed))
    return trials, int(seed)


def _attack(query: Mapping[str, str]) -> Asked:
    sections, texts, _ = question_sections(query, offered=_DRAWN, attackers=("record", "table"))
    texts.setdefault("mode", "attack")
    aims = (("rad", "what taking part adds"), ("success", "being right"))
    running = (
        _mode(),
        _trials("100000"),
        choice("maximise", "The attacker maximises", aims, "rad", more=True),
        _seed(query, texts),
    )
    shown_fields = [Section(one.title, tuple(f for f in one.fields if f.name != "neighbours")) for one in sections]
    form = Form((Section("Attack", running), *shown_fields), texts)
    kind = texts.get("kind", "grr")
    try:
        said = form.options()
        trials, seed = _checked(said)
        maximise = said.pop("maximise", "rad")
        said.pop("mode")
        question = question_of(said)
    except ParameterError as error:
        return _failed(form, error, kind)
    data = {"question": question, "trials": trials, "seed": seed, "maximise": maximise}
    return _asked(form, query, "attack", data, lambda _: attack_copies(question, trials, seed, maximise), kind)


def _audit(query: Mapping[str, str]) -> Asked:
    kind = query.get("kind", "grr")
    if kind not in AUDITED:
        raise ParameterError("kind", f"one of {', '.join(AUDITED)}", shown(kind))
    names = [param.name for param in KINDS[kind].params]
    own = [field for field in release_fields(kind) if field.name in names]
    texts = {"mode": "audit", **given_texts(query, {"defect": 1, "trials": 1, "mode": 1, "seed": 1})}
    for name, text in {"m": "10", "epsilon": "1", **_FIRST.get(kind, {})}.items():
        if name in names:
            texts.setdefault(name, text)
    if KINDS[kind].group == "noise":
        own.append(text_field("values", "possible values", "LOW:HIGH or a list.", "0:1"))
    running = (
        _mode(),
        choice("defect", "Mistake put in", _DEFECTS, "half", help_text="The claim stays as it is below."),
        _trials("100000"),
        param_field(SIGNIFICANCE, "0.05", label="risk of a false alarm (significance)", ends=("", "")),
        _seed(query, texts),
    )
    form = Form((Section("Audit", running), Section("What is claimed", (kind_field(AUDITED, "grr"), *own))), texts)
    try:
        said = form.options()
        trials, seed = _checked(said)
        question = {name: value for name, value in said.items() if name in ("kind", "values", *names)}
        data = {
            "question": question, "defect": said.get("defect", "half"), "trials": trials, "seed": seed,
            "significance": SIGNIFICANCE.check("audit", said.get("significance")),
        }  # fmt: skip
        code = _audit_code(data)
    except ParameterError as error:
        return _failed(form, error, kind)
    return _asked(form, query, "audit", data, lambda _: [Copy("Python", code, _OWN)], kind)


def _audit_code(data: dict[str, Any]) -> str:
    """Return the audit as Python: what is drawn from, what is claimed, and how reports are read."""
    question = data["question"]
    drawn = release_call(real_question(question, data["defect"]), PLACE).source()
    local = KINDS[question["kind"]].group == "local"
    prior = "" if local else f"dr.Prior.uniform({_count(question)}, {_listed(question)})"
    size = question.get("m") if local else _count(question)
    lines = [
        "import dpradar as dr",
        "",
        f"drawn = {drawn}.at({prior or None})",
        f"claim = dr.{claim_of(question)!r}",
        f"protocol = {release_call(question, PLACE).source() if local else None}",
        "result = dr.audit(",
        f"    lambda inputs, rng: drawn.sample(inputs, rng), claim=claim, domain={size}, protocol=protocol,",
        f"    trials={data['trials']}, significance={data['significance']!r}, seed={data['seed']},",
        ")",
        "print(result.explain())",
        "",
    ]
    return "\n".join(lines)


def _listed(question: dict[str, Any]) -> str:
    from ...options.reading import numbers

    return repr(numbers(question.get("values", ""), "values", PLACE))


def _count(question: dict[str, Any]) -> int:
    from ...options.reading import numbers

    return len(numbers(question.get("values", ""), "values", PLACE))


def _rows(query: Mapping[str, str]) -> Asked:
    texts = {"mode": "rows", **{name: text for name, text in query.items() if name not in ("was", "did")}}
    told = "One line each: input, output and, if you like, how often. Up to 60,000 characters."
    running = (
        _mode(),
        text_field("rows", "pairs of input and output", told, _ROWS, long=True),
        param_field(_CLAIM, "1", label="claimed epsilon"),
        number_field("claim_delta", "claimed delta", "0 for pure differential privacy.", "0"),
        param_field(SIGNIFICANCE, "0.05", label="risk of a false alarm (significance)", ends=("", "")),
        _seed(query, texts),
    )
    form = Form((Section("Audit", running),), texts)
    try:
        said = form.options()
        _, seed = _checked({"trials": 1000, "seed": said.get("seed", "")})
        data = {
            "rows": said.get("rows", ""),
            "claim_epsilon": _CLAIM.check("claim", said.get("claim_epsilon")),
            "claim_delta": said.get("claim_delta", 0.0),
            "significance": SIGNIFICANCE.check("audit", said.get("significance")),
            "seed": seed,
        }
    except ParameterError as error:
        return replace(_failed(form, error, None), sent=True)
    line = (
        f"dpradar audit log.csv --claim-epsilon {data['claim_epsilon']!r} --claim-delta {data['claim_delta']!r} "
        f"--significance {data['significance']!r} --seed {seed}"
    )
    note = "With the pairs in log.csv, in this order, each as often as it was seen, under the header input,output."
    asked = _asked(form, query, "rows", data, lambda _: [Copy("Command line", line, note)], None)
    return replace(asked, sent=True)


def shorter(query: Mapping[str, str]) -> dict[str, str]:
    """Return the same with pasted pairs merged, so that an address can hold them."""
    return {**query, "rows": merged_rows(query["rows"])} if "rows" in query else dict(query)


ATTACK = Screen(
    name="attack",
    title="Attack and audit",
    lead="Bounds say what is possible. See what an attack reaches, and whether outputs keep a promise.",
    read=read,
    shorter=shorter,
    live=False,
    button="Run",
)
