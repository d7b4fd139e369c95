"""Attack and audit: how often an attack succeeds, and whether outputs contradict a claim."""

from __future__ import annotations

import secrets
from dataclasses import MISSING, replace
from typing import TYPE_CHECKING, Any

from ...attacks.attack_options import TRIALS, AttackOptions
from ...audits.audit_options import SIGNIFICANCE, AuditOptions
from ...errors import ParameterError
from ...options.reading import FLAGS
from ...options.tables import options_in
from ...params import shown
from ...spec.claims import ClaimOptions
from ...spec.model import RELATION
from ...spec.question import release_call, threat_call
from ...spec.release_kinds import KINDS
from ...spec.threat_options import VALUES
from ...threats.attackers import WITH_PRIOR
from ..copy_as import Copy, attack_copies
from ..forms.fields import Field, Slider, choice, option_field, text_field
from ..forms.form import PLACE, Form, FormSection, question_of, question_sections, texts_for_kind
from ..forms.question_fields import OFFERED_KINDS, kind_field
from ..work.demonstration_audits import (
    AUDITABLE_KINDS,
    DEFECTS,
    merge_equal_rows,
    promised_guarantee,
    question_with_defect,
)
from .screen_request import Screen, ScreenRequest, request_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    FormAndTask = tuple[Form, Callable[[Form], dict[str, Any]]]

__all__ = ["ATTACK", "read"]


_MODES = (
    ("attack", "attack a mechanism"),
    ("audit", "audit a mechanism with a defect"),
    ("rows", "audit outputs that you paste"),
)
_DEFECTS = tuple((name, words) for name, (words, _) in DEFECTS.items())
_SAMPLED_KINDS = tuple(name for name in OFFERED_KINDS if KINDS[name].samples)
_MOST_TRIALS = 10_000_000
_NUMBER_OF_SEEDS = 10**6
_EXAMPLE_ROWS = "input,output,count\n0,0,500\n0,1,100\n1,0,120\n1,1,480"
_TRIALS, _SEED, _MAXIMISE = options_in(AttackOptions, "trials", "seed", "maximise")
(_SIGNIFICANCE,) = options_in(AuditOptions, "significance")
_DELTA, _EPSILON = options_in(ClaimOptions, "claim_delta", "claim_epsilon")
_EPSILON = replace(_EPSILON, default=MISSING)  # must be given here
_COMMAND_LINE_NOTE = "Your own functions, programs and logs: dpradar audit module:function, --program or log.csv"


def _trials_field() -> Field:
    slider = Slider(low=1000, high=1e6, log=True, whole=True, at_low="quick", at_high="precise")
    help_text = f"Number of outputs to draw, at most {_MOST_TRIALS:,}."
    return replace(option_field(_TRIALS, f"{_TRIALS.default}"), help=help_text, slider=slider)


def _seed_field(query: Mapping[str, str], texts: dict[str, str]) -> Field:
    """Return the field of the seed; if the query has none, one is drawn, so that the address is reproducible."""
    name = _SEED.name
    if not query.get(name):
        texts[name] = str(secrets.randbelow(_NUMBER_OF_SEEDS))
    return text_field(name, name, "The same seed gives the same result.", texts.get(name, ""), folded=True)


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


def _trials(values: dict[str, Any]) -> dict[str, int]:
    trials = int(TRIALS.check("attack", values.get(_TRIALS.name)))
    if trials > _MOST_TRIALS:
        hint = "The command line has no such limit."
        raise ParameterError(_TRIALS.name, f"at most {_MOST_TRIALS:,}", f"{trials:,}", hint)
    return {_TRIALS.name: trials}


def _significance(values: dict[str, Any]) -> dict[str, float]:
    return {_SIGNIFICANCE.name: SIGNIFICANCE.check("audit", values.get(_SIGNIFICANCE.name))}


def _seed(values: dict[str, Any]) -> dict[str, int]:
    seed = values.get(_SEED.name, "")
    if not seed.isdecimal() or len(seed) > 15:
        raise ParameterError(_SEED.name, "a whole number at least 0", shown(seed))
    return {_SEED.name: int(seed)}


def _read_attack(query: Mapping[str, str]) -> FormAndTask:
    (release, threat), texts = question_sections(query, offered=_SAMPLED_KINDS, attackers=WITH_PRIOR)
    texts.setdefault("mode", "attack")
    running = (
        _mode_field(),
        _trials_field(),
        replace(option_field(_MAXIMISE), help=""),
        _seed_field(query, texts),
    )
    # The attack is on records, whatever data sets are compared.
    release = replace(release, fields=tuple(field for field in release.fields if field.name != RELATION.name))

    def ask(form: Form) -> dict[str, Any]:
        values = form.values()
        settings = {**_trials(values), **_seed(values), _MAXIMISE.name: values[_MAXIMISE.name]}
        of_run = {field.name for field in running}
        question = question_of({name: value for name, value in values.items() if name not in of_run})
        data = {"question": question, "settings": settings}
        return {"task": "attack", "data": data, "copies": lambda _: attack_copies(question, **settings)}

    return Form((FormSection("Attack", running), release, threat), texts), ask


def _read_audit(query: Mapping[str, str]) -> FormAndTask:
    name = query.get("kind", "grr")
    if name not in AUDITABLE_KINDS:
        raise ParameterError("kind", f"one of {', '.join(AUDITABLE_KINDS)}", shown(name))
    kind = KINDS[name]
    first = {} if kind.noise is None else {kind.noise.name: "1"}
    fields = [option_field(option, first.get(option.name)) for option in kind.options if option.param in kind.params]
    texts = {"mode": "audit", **texts_for_kind(query, ["defect", _TRIALS.name, "mode", _SEED.name])}
    if kind.is_about_numbers:
        fields.append(option_field(VALUES, "0:1"))
    running = (
        _mode_field(),
        choice("defect", "Defect", _DEFECTS, "half", help_text="The claim below stays the same."),
        _trials_field(),
        option_field(_SIGNIFICANCE),
        _seed_field(query, texts),
    )
    claimed = (kind_field(AUDITABLE_KINDS, "grr"), *fields)

    def ask(form: Form) -> dict[str, Any]:
        values = form.values()
        data = {
            "question": {field.name: values[field.name] for field in claimed if field.name in values},
            "defect": values["defect"],
            "settings": {**_trials(values), **_significance(values), **_seed(values)},
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
        f"    {', '.join(f'{name}={value!r}' for name, value in data['settings'].items())},",
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
        option_field(_EPSILON),
        option_field(_DELTA),
        option_field(_SIGNIFICANCE),
        _seed_field(query, texts),
    )

    def ask(form: Form) -> dict[str, Any]:
        values = form.values()
        epsilon = _EPSILON.check("claim", values.get(_EPSILON.name))
        claim = {_EPSILON.name: epsilon, _DELTA.name: values.get(_DELTA.name, 0.0)}
        settings = {**_significance(values), **_seed(values)}
        data = {"rows": values.get("rows", ""), "claim": claim, "settings": settings}
        words = [f"{FLAGS(name)} {value!r}" for name, value in {**claim, **settings}.items()]
        command_line = f"dpradar audit log.csv {' '.join(words)}"
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
