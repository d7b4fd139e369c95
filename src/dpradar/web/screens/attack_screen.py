"""Attack and audit: how often an attack succeeds, and whether outputs contradict a claim."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...attacks.attack_options import TRIALS
from ...audits.audit_options import SIGNIFICANCE
from ...errors import ParameterError
from ...params import Param, shown
from ...spec.kinds import KINDS
from ...spec.question import release_call
from ..copy_as import Copy, attack_copies
from ..forms.fields import Field, Slider, choice, number_field, param_field, text_field
from ..forms.form import PLACE, Form, FormSection, question_of, question_sections, texts_for_kind
from ..forms.release_fields import OFFERED_KINDS, kind_field, release_fields
from ..work.demonstration_audits import AUDITABLE_KINDS, merge_equal_rows, promised_guarantee, question_with_defect
from .screen_request import Screen, ScreenRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ATTACK", "read"]

_MODES = (
    ("attack", "attack a mechanism"),
    ("audit", "audit a mechanism with a defect"),
    ("rows", "audit outputs that you paste"),
)
_DEFECTS = (("none", "none"), ("tenth", "10 % too little noise"), ("half", "half the noise"))
_SAMPLED_KINDS = tuple(name for name in OFFERED_KINDS if KINDS[name].samples)
_MOST_TRIALS = 10_000_000
_NUMBER_OF_SEEDS = 10**6
_EXAMPLES = {"laplace": {"scale": "1"}, "geometric": {"scale": "1"}, "gaussian": {"sigma": "1"}}
_EXAMPLE_ROWS = "input,output,count\n0,0,500\n0,1,100\n1,0,120\n1,1,480"
_CLAIM = Param(name="claim_epsilon", low=0.0, what="the epsilon that is claimed", typical=(0.05, 12.0))
_COMMAND_LINE_NOTE = "Your own functions, programs and logs: dpradar audit module:function, --program or log.csv"


def _trials_field(default: str) -> Field:
    slider = Slider(low=1000, high=1e6, log=True, whole=True, at_low="quick", at_high="precise")
    return number_field("trials", "trials", f"Number of outputs to draw, at most {_MOST_TRIALS:,}.", default, slider)


def _seed_field(query: Mapping[str, str], texts: dict[str, str]) -> Field:
    """Return the field of the seed; if the query has none, one is drawn, so that the address is reproducible."""
    if not query.get("seed"):
        texts["seed"] = str(secrets.randbelow(_NUMBER_OF_SEEDS))
    return text_field("seed", "seed", "The same seed gives the same result.", texts.get("seed", ""), folded=True)


def read(query: Mapping[str, str]) -> ScreenRequest:
    """Return the request of a query."""
    mode = query.get("mode", "attack")
    readers = {"attack": _read_attack, "audit": _read_audit, "rows": _read_pairs}
    if mode not in readers:
        raise ParameterError("mode", f"one of {', '.join(readers)}", shown(mode))
    # A form that was rendered for another mode submits fields with another meaning.
    same = query.get("did", mode) == mode
    return readers[mode]({name: text for name, text in query.items() if same or name == "mode"})


def _mode_field() -> Field:
    return choice("mode", "What to do", _MODES, "attack", redraws=True)


def _request(
    form: Form, query: Mapping[str, str], task: str, data: dict[str, Any], copies: Any, kind: str | None
) -> ScreenRequest:
    started = query.get("run") == "1"
    hidden_fields = (("did", form.texts.get("mode", "attack")), *((("was", kind),) if kind is not None else ()))
    return ScreenRequest(
        form=form,
        task=task if started else None,
        data=data,
        long=True,
        hidden_fields=hidden_fields,
        extra_query=(("run", "1"),) if started else (),
        copies=copies,
    )


def _request_with_problem(form: Form, error: ParameterError, kind: str | None) -> ScreenRequest:
    hidden_fields = (("did", form.texts.get("mode", "attack")), *((("was", kind),) if kind is not None else ()))
    return ScreenRequest(form=form, task=None, hidden_fields=hidden_fields, problem=str(error), option=error.name)


def _trials_and_seed(options: dict[str, Any]) -> tuple[int, int]:
    trials = int(TRIALS.check("attack", options.pop("trials", None)))
    if trials > _MOST_TRIALS:
        hint = "The command line has no such limit."
        raise ParameterError("trials", f"at most {_MOST_TRIALS:,}", f"{trials:,}", hint)
    seed = options.pop("seed", "")
    if not str(seed).isdecimal() or len(str(seed)) > 15:
        raise ParameterError("seed", "a whole number at least 0", shown(seed))
    return trials, int(seed)


def _read_attack(query: Mapping[str, str]) -> ScreenRequest:
    sections, texts, _ = question_sections(query, offered=_SAMPLED_KINDS, attackers=("record", "table"))
    texts.setdefault("mode", "attack")
    aim_choices = (("rad", "what taking part adds"), ("success", "being right"))
    running = (
        _mode_field(),
        _trials_field("100000"),
        choice("maximise", "The attacker maximises", aim_choices, "rad", folded=True),
        _seed_field(query, texts),
    )
    shown_sections = [
        FormSection(section.title, tuple(field for field in section.fields if field.name != "neighbours"))
        for section in sections
    ]
    form = Form((FormSection("Attack", running), *shown_sections), texts)
    kind = texts.get("kind", "grr")
    try:
        options = form.options()
        trials, seed = _trials_and_seed(options)
        maximise = options.pop("maximise", "rad")
        options.pop("mode")
        question = question_of(options)
    except ParameterError as error:
        return _request_with_problem(form, error, kind)
    data = {"question": question, "trials": trials, "seed": seed, "maximise": maximise}
    return _request(form, query, "attack", data, lambda _: attack_copies(question, trials, seed, maximise), kind)


def _read_audit(query: Mapping[str, str]) -> ScreenRequest:
    kind = query.get("kind", "grr")
    if kind not in AUDITABLE_KINDS:
        raise ParameterError("kind", f"one of {', '.join(AUDITABLE_KINDS)}", shown(kind))
    names = [param.name for param in KINDS[kind].params]
    fields = [field for field in release_fields(kind) if field.name in names]
    texts = {"mode": "audit", **texts_for_kind(query, ["defect", "trials", "mode", "seed"])}
    for name, text in {"m": "10", "epsilon": "1", **_EXAMPLES.get(kind, {})}.items():
        if name in names:
            texts.setdefault(name, text)
    if KINDS[kind].group == "noise":
        fields.append(text_field("values", "possible values", "LOW:HIGH or a list.", "0:1"))
    running = (
        _mode_field(),
        choice("defect", "Defect", _DEFECTS, "half", help_text="The claim below stays the same."),
        _trials_field("100000"),
        param_field(SIGNIFICANCE, "0.05", label="risk of a false alarm (significance)", ends=("", "")),
        _seed_field(query, texts),
    )
    form = Form(
        (FormSection("Audit", running), FormSection("What is claimed", (kind_field(AUDITABLE_KINDS, "grr"), *fields))),
        texts,
    )
    try:
        options = form.options()
        trials, seed = _trials_and_seed(options)
        question = {name: value for name, value in options.items() if name in ("kind", "values", *names)}
        data = {
            "question": question, "defect": options.get("defect", "half"), "trials": trials, "seed": seed,
            "significance": SIGNIFICANCE.check("audit", options.get("significance")),
        }  # fmt: skip
        code = _audit_code(data)
    except ParameterError as error:
        return _request_with_problem(form, error, kind)
    return _request(form, query, "audit", data, lambda _: [Copy("Python", code, _COMMAND_LINE_NOTE)], kind)


def _audit_code(data: dict[str, Any]) -> str:
    """Return the audit as Python: what is drawn from, what is claimed, and how reports are read."""
    question = data["question"]
    release = release_call(question_with_defect(question, data["defect"]), PLACE).source()
    local = KINDS[question["kind"]].group == "local"
    prior = "" if local else f"dr.Prior.uniform({_number_of_values(question)}, {_values_source(question)})"
    size = question.get("m") if local else _number_of_values(question)
    lines = [
        "import dpradar as dr",
        "",
        f"drawn = {release}.at({prior or None})",
        f"claim = dr.{promised_guarantee(question)!r}",
        f"protocol = {release_call(question, PLACE).source() if local else None}",
        "result = dr.audit(",
        f"    lambda inputs, rng: drawn.sample(inputs, rng), claim=claim, domain={size}, protocol=protocol,",
        f"    trials={data['trials']}, significance={data['significance']!r}, seed={data['seed']},",
        ")",
        "print(result.explain())",
        "",
    ]
    return "\n".join(lines)


def _values_source(question: dict[str, Any]) -> str:
    from ...options.reading import numbers

    return repr(numbers(question.get("values", ""), "values", PLACE))


def _number_of_values(question: dict[str, Any]) -> int:
    from ...options.reading import numbers

    return len(numbers(question.get("values", ""), "values", PLACE))


def _read_pairs(query: Mapping[str, str]) -> ScreenRequest:
    texts = {"mode": "rows", **{name: text for name, text in query.items() if name not in ("was", "did")}}
    help_text = "One pair per line: input, output and, optionally, a count. Up to 60,000 characters."
    running = (
        _mode_field(),
        text_field("rows", "pairs of input and output", help_text, _EXAMPLE_ROWS, long=True),
        param_field(_CLAIM, "1", label="claimed epsilon"),
        number_field("claim_delta", "claimed delta", "0 for pure differential privacy.", "0"),
        param_field(SIGNIFICANCE, "0.05", label="risk of a false alarm (significance)", ends=("", "")),
        _seed_field(query, texts),
    )
    form = Form((FormSection("Audit", running),), texts)
    try:
        options = form.options()
        _, seed = _trials_and_seed({"trials": 1000, "seed": options.get("seed", "")})
        data = {
            "rows": options.get("rows", ""),
            "claim_epsilon": _CLAIM.check("claim", options.get("claim_epsilon")),
            "claim_delta": options.get("claim_delta", 0.0),
            "significance": SIGNIFICANCE.check("audit", options.get("significance")),
            "seed": seed,
        }
    except ParameterError as error:
        return replace(_request_with_problem(form, error, None), post_only=True)
    command_line = (
        f"dpradar audit log.csv --claim-epsilon {data['claim_epsilon']!r} --claim-delta {data['claim_delta']!r} "
        f"--significance {data['significance']!r} --seed {seed}"
    )
    note = "Save the pairs in log.csv in this order, each repeated by its count, under the header input,output."
    request = _request(form, query, "rows", data, lambda _: [Copy("Command line", command_line, note)], None)
    return replace(request, post_only=True)


def with_merged_rows(query: Mapping[str, str]) -> dict[str, str]:
    """Return the query with equal pairs merged, so that it fits into an address."""
    return {**query, "rows": merge_equal_rows(query["rows"])} if "rows" in query else dict(query)


ATTACK = Screen(
    name="attack",
    title="Attack and audit",
    lead="Run the best attack against a mechanism, or check whether outputs contradict a privacy claim.",
    read=read,
    shorten=with_merged_rows,
    live=False,
    button="Run",
)
