"""Attack and audit: how often an attack succeeds, and whether outputs contradict a claim."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from ...attacks.attack_options import TRIALS
from ...audits.audit_options import SIGNIFICANCE
from ...errors import ParameterError
from ...options import About, option_of
from ...params import Param, shown
from ...spec.file_tables import RELATION
from ...spec.kinds import KINDS
from ...spec.question import release_call, threat_call
from ...spec.threat_options import VALUES
from ...threats.attackers import WITH_PRIOR
from ..copy_as import Copy, attack_copies
from ..forms.fields import Field, Slider, choice, number_field, option_field, text_field
from ..forms.form import PLACE, Form, FormSection, question_of, question_sections, texts_for_kind
from ..forms.question_fields import OFFERED_KINDS, kind_field
from ..work.demonstration_audits import AUDITABLE_KINDS, merge_equal_rows, promised_guarantee, question_with_defect
from .screen_request import Screen, ScreenRequest, request_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    FormAndTask = tuple[Form, Callable[[Form], dict[str, Any]]]

__all__ = ["ATTACK", "read"]


def _param_field(param: Param, first: str, label: str) -> Field:
    hint = Annotated[float, param, About(param.what, first, slider=param.typical, label=label)]
    return option_field(option_of(param.name, hint))


_MODES = (
    ("attack", "attack a mechanism"),
    ("audit", "audit a mechanism with a defect"),
    ("rows", "audit outputs that you paste"),
)
_DEFECTS = (("none", "none"), ("tenth", "10 % too little noise"), ("half", "half the noise"))
_SAMPLED_KINDS = tuple(name for name in OFFERED_KINDS if KINDS[name].samples)
_MOST_TRIALS = 10_000_000
_NUMBER_OF_SEEDS = 10**6
_EXAMPLE_ROWS = "input,output,count\n0,0,500\n0,1,100\n1,0,120\n1,1,480"
_CLAIM = Param(name="claim_epsilon", low=0.0, what="the epsilon that is claimed", typical=(0.05, 12.0))
_CLAIM_FIELD = _param_field(_CLAIM, "1", "claimed epsilon")
_SIGNIFICANCE_FIELD = _param_field(SIGNIFICANCE, "0.05", "risk of a false alarm (significance)")
_COMMAND_LINE_NOTE = "Your own functions, programs and logs: dpradar audit module:function, --program or log.csv"


def _trials_field() -> Field:
    slider = Slider(low=1000, high=1e6, log=True, whole=True, at_low="quick", at_high="precise")
    return number_field("trials", "trials", f"Number of outputs to draw, at most {_MOST_TRIALS:,}.", "100000", slider)


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
    form, ask = readers[mode]({name: text for name, text in query.items() if same or name == "mode"})
    hidden_fields = [("did", mode)]
    if mode != "rows":
        hidden_fields.append(("was", form.texts.get("kind", "grr")))
    request = request_of(form, ask, long=True, hidden_fields=tuple(hidden_fields), post_only=mode == "rows")
    if query.get("run") != "1" or request.problem:
        return replace(request, task=None)
    return replace(request, extra_query=(("run", "1"),))


def _mode_field() -> Field:
    return choice("mode", "What to do", _MODES, "attack", redraws=True)


def _trials_and_seed(values: dict[str, Any]) -> dict[str, int]:
    trials = int(TRIALS.check("attack", values.get("trials")))
    if trials > _MOST_TRIALS:
        hint = "The command line has no such limit."
        raise ParameterError("trials", f"at most {_MOST_TRIALS:,}", f"{trials:,}", hint)
    return {"trials": trials, "seed": _seed(values)}


def _seed(values: dict[str, Any]) -> int:
    seed = values.get("seed", "")
    if not seed.isdecimal() or len(seed) > 15:
        raise ParameterError("seed", "a whole number at least 0", shown(seed))
    return int(seed)


def _read_attack(query: Mapping[str, str]) -> FormAndTask:
    (release, threat), texts = question_sections(query, offered=_SAMPLED_KINDS, attackers=WITH_PRIOR)
    texts.setdefault("mode", "attack")
    aim_choices = (("rad", "what taking part adds"), ("success", "being right"))
    running = (
        _mode_field(),
        _trials_field(),
        choice("maximise", "The attacker maximises", aim_choices, "rad", folded=True),
        _seed_field(query, texts),
    )
    # The attack is on records, whatever data sets are compared.
    release = replace(release, fields=tuple(field for field in release.fields if field.name != RELATION.name))

    def ask(form: Form) -> dict[str, Any]:
        values = form.values()
        run = {**_trials_and_seed(values), "maximise": values["maximise"]}
        of_run = {field.name for field in running}
        question = question_of({name: value for name, value in values.items() if name not in of_run})
        data = {"question": question, **run}
        return {"task": "attack", "data": data, "copies": lambda _: attack_copies(question, **run)}

    return Form((FormSection("Attack", running), release, threat), texts), ask


def _read_audit(query: Mapping[str, str]) -> FormAndTask:
    name = query.get("kind", "grr")
    if name not in AUDITABLE_KINDS:
        raise ParameterError("kind", f"one of {', '.join(AUDITABLE_KINDS)}", shown(name))
    kind = KINDS[name]
    first = {} if kind.noise is None else {kind.noise.name: "1"}
    fields = [option_field(option, first.get(option.name)) for option in kind.options if option.param in kind.params]
    texts = {"mode": "audit", **texts_for_kind(query, ["defect", "trials", "mode", "seed"])}
    if kind.is_about_numbers:
        fields.append(option_field(VALUES, "0:1"))
    running = (
        _mode_field(),
        choice("defect", "Defect", _DEFECTS, "half", help_text="The claim below stays the same."),
        _trials_field(),
        _SIGNIFICANCE_FIELD,
        _seed_field(query, texts),
    )
    claimed = (kind_field(AUDITABLE_KINDS, "grr"), *fields)

    def ask(form: Form) -> dict[str, Any]:
        values = form.values()
        data = {
            "question": {field.name: values[field.name] for field in claimed if field.name in values},
            "defect": values["defect"],
            "significance": SIGNIFICANCE.check("audit", values.get("significance")),
            **_trials_and_seed(values),
        }
        copies = [Copy("Python", _audit_code(data), _COMMAND_LINE_NOTE)]
        return {"task": "audit", "data": data, "copies": lambda _: copies}

    return Form((FormSection("Audit", running), FormSection("What is claimed", claimed)), texts), ask


def _audit_code(data: dict[str, Any]) -> str:
    """Return the audit as Python: what is drawn from, what is claimed, and how reports are read."""
    question = data["question"]
    release = release_call(question_with_defect(question, data["defect"]), PLACE).source()
    local = KINDS[question["kind"]].group == "local"
    prior = threat_call(question, PLACE).args[0]
    size = prior.build().size
    lines = [
        "import dpradar as dr",
        "",
        f"drawn = {release}.at({None if local else prior.source()})",
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


def _read_pairs(query: Mapping[str, str]) -> FormAndTask:
    texts = {"mode": "rows", **{name: text for name, text in query.items() if name not in ("was", "did")}}
    help_text = "One pair per line: input, output and, optionally, a count. Up to 60,000 characters."
    running = (
        _mode_field(),
        replace(text_field("rows", "pairs of input and output", help_text, _EXAMPLE_ROWS), kind="long"),
        _CLAIM_FIELD,
        number_field("claim_delta", "claimed delta", "0 for pure differential privacy.", "0"),
        _SIGNIFICANCE_FIELD,
        _seed_field(query, texts),
    )

    def ask(form: Form) -> dict[str, Any]:
        values = form.values()
        data = {
            "rows": values.get("rows", ""),
            "claim_epsilon": _CLAIM.check("claim", values.get("claim_epsilon")),
            "claim_delta": values.get("claim_delta", 0.0),
            "significance": SIGNIFICANCE.check("audit", values.get("significance")),
            "seed": _seed(values),
        }
        command_line = (
            f"dpradar audit log.csv --claim-epsilon {data['claim_epsilon']!r} --claim-delta {data['claim_delta']!r} "
            f"--significance {data['significance']!r} --seed {data['seed']}"
        )
        note = "Save the pairs in log.csv in this order, each repeated by its count, under the header input,output."
        return {"task": "rows", "data": data, "copies": lambda _: [Copy("Command line", command_line, note)]}

    return Form((FormSection("Audit", running),), texts), ask


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
