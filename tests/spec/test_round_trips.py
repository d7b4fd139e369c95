"""Drawn specs: writing and reading changes nothing, and the three ways to ask give the same objects."""

from __future__ import annotations

import datetime as dt
import math

from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr
from dpradar.attacks.attack_options import AttackOptions
from dpradar.spec import FLAGS, KINDS, parse, release_of, toml
from dpradar.spec.model import ReleaseSpec, Spec, ThreatSpec
from dpradar.spec.question import release_call
from dpradar.spec.release_kinds import IN_FILES

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
DAYS = st.dates(dt.date(1970, 1, 1), dt.date(2099, 12, 31)) | TEXT.filter(bool)
RELATIONS = st.sampled_from(["replace-one", "add-remove"])
SHARES = st.floats(0.0, 1.0)


def values(param):
    """Draw a value of a parameter from its own domain."""
    if param.integer:
        return st.integers(max(1, math.ceil(param.low)), 50)
    low, high = param.typical
    return st.floats(max(param.low, low, 1e-6), min(param.high, high))


EXTRA = {
    "query": st.sampled_from([[0.0, 1.0], [[0.5, 1.0], [1.0, 0.25]], "0,1", "[0, 1]"]),
    "truncate": st.sampled_from([[0.0, 1.5], "0:1.5"]),
    "interval": st.sampled_from([[0.0, 1.5], "0:1.5"]),
    "utility": st.just([[1.0, 0.0], [0.0, 1.0]]),
    "matrix": st.just([[0.75, 0.25], [0.5, 0.5]]),
    "neighbours": RELATIONS,
    "orders": st.just([2.0, 3.0]),
    "epsilons": st.just([0.1, 0.2]),
    "fpr": st.just([0.25]),
    "fnr": st.just([0.5]),
}
OPTIONAL = ("query", "truncate", "interval", "utility")


@st.composite
def releases(draw) -> ReleaseSpec:
    name = draw(st.sampled_from(IN_FILES))
    kind = KINDS[name]
    options = {param.name: draw(values(param)) for param in kind.params}
    for extra in kind.names:
        if extra in EXTRA and (extra not in OPTIONAL or draw(st.booleans())):
            options[extra] = draw(EXTRA[extra])
    if "utility" in options:
        options.pop("interval", None)
    people = {"name": draw(TEXT), "what": draw(TEXT), "note": draw(TEXT), "date": draw(st.none() | DAYS)}
    return ReleaseSpec(kind=name, options=options, times=draw(st.integers(1, 5)), **people)


@st.composite
def threats(draw) -> ThreatSpec:
    kind = draw(st.sampled_from(["baseline", "membership", "worst"]))
    options = {kind: True if kind == "worst" else draw(SHARES)}
    limits = {"worst_gain": draw(SHARES)} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        limits |= {"tpr": draw(SHARES), "fpr": draw(SHARES)}
    return ThreatSpec(options=options, name=draw(TEXT), limits=limits, limit_source=draw(TEXT))


@st.composite
def specs(draw) -> Spec:
    return Spec(
        releases=tuple(draw(st.lists(releases(), min_size=1, max_size=3))),
        threats=tuple(draw(st.lists(threats(), max_size=3))),
        title=draw(TEXT),
        description=draw(TEXT),
        neighbours=draw(st.none() | RELATIONS),
        together=draw(st.sampled_from(["compose", "compare"])),
        include_prior=draw(st.booleans()),
        noise_table=draw(st.booleans()),
        decision=draw(
            st.dictionaries(st.sampled_from(["by", "outcome", "note"]), TEXT) | st.just({"date": dt.date(2026, 1, 2)})
        ),
    )


@given(specs())
def test_writing_and_reading_changes_nothing(spec):
    again = parse(toml(spec))
    assert again == spec
    assert toml(parse(toml(again))) == toml(again)


@given(specs())
def test_a_spec_with_an_attack(spec):
    samples = all(KINDS[release.kind].samples for release in spec.releases)
    attack = AttackOptions(trials=3, seed=0)
    changed = Spec(releases=spec.releases, threats=(ThreatSpec(options={"m": 2}),), attack=attack)
    sizes = {release.options.get("m", 2) for release in spec.releases}
    if samples and sizes == {2}:
        assert parse(toml(changed)) == changed


@given(releases(), st.none() | RELATIONS)
@settings(max_examples=50)
def test_python_and_objects_are_the_same(release, relation):
    question = {"neighbours": relation or "add-remove", **release.question}
    call = release_call(question, FLAGS)
    rebuilt = eval(call.source(), {"dr": dr})  # noqa: S307 - our own code
    assert repr(rebuilt) == repr(call.build()) == repr(release_of(question, FLAGS))
