"""One description per option: what the constructor, the command line, files, forms and starter files make of it."""

from __future__ import annotations

import pickle
import tomllib
from dataclasses import FrozenInstanceError
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt, Le
from click.testing import CliRunner

import dpradar as dr
from dpradar.calibration.release_family import family_of_template
from dpradar.cli.assess import group
from dpradar.options import About, Span, described, number_of, option_of
from dpradar.options.reading import FLAGS, PLAIN, inside
from dpradar.spec import parse
from dpradar.spec.question import release_of
from dpradar.spec.release_kinds import KINDS, Kind
from dpradar.spec.schema import schema
from dpradar.spec.starter_file import starting_spec
from dpradar.threats.attackers import RECORD
from dpradar.web.forms.question_fields import release_fields
from tests.every import every

OPTIONS = [(kind, option) for kind in KINDS.values() for option in kind.options]


@described("staircase", "Staircase noise.", "noise", first={"values": "0:10"})
class Staircase:
    """A class as an outside package would write it."""

    scale: Annotated[float, Gt(0), About("the length of a step", example="4", typical=(0.1, 10.0), more_private="up")]
    ratio: Annotated[float, Ge(0), Le(1), About("the share of the lower half of a step", example="0.5")] = 0.25
    ends: Annotated[tuple[float, float], Span(), About("where the noise ends", example="-9:9", folded=True)] | None = (
        None
    )
    rounding: Annotated[Literal["up", "down"], About("how outputs are rounded", example="up")] = "up"


@pytest.fixture
def staircase(monkeypatch):
    monkeypatch.setitem(KINDS, "staircase", Kind("staircase", Staircase))
    return KINDS["staircase"]


def test_the_constructor_judges_every_option():
    assert Staircase(2) == Staircase(scale=2.0, ratio=0.25, ends=None, rounding="up")
    for wrong, name in (({"scale": 0}, "scale"), ({"scale": True}, "scale"), ({"scale": float("inf")}, "scale")):
        with pytest.raises(dr.ParameterError, match=rf"Staircase\.{name} must be a number above 0; got"):
            Staircase(**wrong)
    with pytest.raises(dr.ParameterError, match=r"Staircase\.ratio must be a number at least 0 and at most 1; got 2"):
        Staircase(1, ratio=2)
    with pytest.raises(dr.ParameterError, match=r"Staircase\.ends must be \(low, high\) with low below"):
        Staircase(1, ends=(3, 1))
    with pytest.raises(dr.ParameterError, match=r"Staircase\.rounding must be 'up' or 'down'; got 'sideways'"):
        Staircase(1, rounding="sideways")


def test_objects_are_frozen_hashable_and_pickle():
    one = dr.GRR(m=3, epsilon=1)
    with pytest.raises(FrozenInstanceError):
        one.m = 4
    assert {one: 1}[pickle.loads(pickle.dumps(one))] == 1  # noqa: S301 - made here


def test_a_type_without_a_shape_is_refused_where_it_is_declared():
    with pytest.raises(TypeError, match="say how it is given, by a shape"):
        option_of("tree", dict[str, Any])
    with pytest.raises(TypeError, match="not as a number"):
        number_of("ends", Annotated[tuple[float, float], Span()])


def test_one_class_gives_file_schema_form_starter_and_command(staircase):
    table = {"kind": "staircase", "scale": 3, "ends": "-5:5", "rounding": "down"}
    assert staircase.call(table, PLAIN).kwargs == {"scale": 3.0, "ends": (-5.0, 5.0), "rounding": "down"}
    fields = {field.name: field for field in release_fields(staircase, RECORD)}
    assert fields["scale"].default == "4"
    assert fields["scale"].slider.at_high == "less can be learned"
    assert fields["ends"].folded
    assert not fields["ratio"].folded
    assert [value for value, _ in fields["rounding"].choices[0][1]] == ["up", "down"]
    assert staircase.noise.name == "scale"
    assert staircase.on_command_line
    assert not staircase.counts_values
    assert not staircase.states_relation


SENTENCE = "must be a number above 0; got -1.0. It is the scale of the Laplace noise, sensitivity / epsilon."


def test_the_sentence_is_the_same_in_python_shell_and_file():
    with pytest.raises(dr.ParameterError) as python:
        dr.Laplace(scale=-1.0)
    assert str(python.value) == f"Laplace.scale {SENTENCE}"
    result = CliRunner().invoke(group(), ["laplace", "--scale", "-1", "--values", "0:9"])
    assert str(result.exception) == f"--scale {SENTENCE}"
    with pytest.raises(dr.SpecError) as file:
        parse('[release]\nkind = "laplace"\nscale = -1.0\n[threat]\nvalues = "0:9"')
    assert str(file.value).endswith(f"release.scale: {SENTENCE}")


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"kind": "laplace", "scale": 1.0, "truncate": "5:1"}, "truncate"),
        ({"kind": "gaussian", "sigma": 1.0, "sensitivity": 1.0}, "neighbours"),
        ({"kind": "gaussian", "sigma": 1e200, "query": "0,1"}, "sigma"),
        ({"kind": "gdp", "mu": 1.0, "neighbours": "both"}, "neighbours"),
        ({"kind": "the", "m": 3, "epsilon": 1.0, "threshold": 2.0}, "threshold"),
    ],
)
def test_problems_name_the_option_as_it_was_given(options, place):
    for where, name in ((FLAGS, f"--{place}"), (inside("release[2]", None), f"release[2].{place}")):
        with pytest.raises(dr.ParameterError) as error:
            release_of(options, where)
        assert error.value.name == name


@every(("kind", "option"), OPTIONS, ids=[f"{kind.name}-{option.name}" for kind, option in OPTIONS])
def test_every_option_is_described(kind, option):
    about = option.about
    assert about.what
    assert about.what[0].islower()
    assert not about.what.endswith(".")
    if option.param is not None and about.typical is not None:
        low, high = about.typical
        assert low <= float(about.example) <= high or about.example == "1e-5"
    for name in (*about.excludes, *filter(None, [about.beside])):
        assert name in kind.names
    if option.required:
        assert about.example or "file" not in about.places


@pytest.mark.parametrize("kind", [name for name in KINDS if name != "register"])
def test_examples_make_a_question_that_can_be_run(kind):
    spec = parse(starting_spec(kind))
    assert spec.release_call(0).build() is not None
    described_keys = {option.name for option in KINDS[kind].options if "file" in option.about.places}
    definition = next(
        one for one in schema()["$defs"].values() if one["properties"].get("kind", {}).get("const") == kind
    )
    assert described_keys <= set(definition["properties"])


def test_a_threshold_can_be_stated():
    # Declared at the class alone, it reached the command line, files and forms.
    done = CliRunner().invoke(group(), ["the", "--m", "5", "--epsilon", "1", "--threshold", "0.75", "--json"])
    assert done.exit_code == 0
    expected = dr.assess(dr.THE(m=5, epsilon=1.0, threshold=0.75), dr.Threat(dr.Prior.uniform(5))).rad.value
    assert f'"value": {expected!r}' in done.output


@pytest.mark.parametrize(("kind", "option"), [("grr", "epsilon"), ("laplace", "scale"), ("dp", "delta")])
def test_false_is_no_number_and_no_omission(kind, option):
    options = {"kind": kind, "m": 3, "epsilon": 1.0, "scale": 1.0, "query": "0,1", "neighbours": "add-remove"}
    with pytest.raises(dr.ParameterError, match=f"{option} must be a number .*; got False"):
        release_of({**options, option: False})


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.noise is not None])
def test_a_replaced_parameter_is_as_good_as_a_new_object(kind):
    """A threshold that follows from epsilon, for one, has to follow from the new one."""
    noise = KINDS[kind].noise
    question = tomllib.loads(starting_spec(kind))["release"] | {"times": 2}

    def fresh(value):
        return release_of({**question, noise.name: value})

    family, threat = family_of_template(noise, fresh), parse(starting_spec(kind)).threat(0, 0)
    # Noise of less than the distance of two values takes long to integrate.
    for value in (3.0, 7.0) if noise.more_private == "up" else (0.3, 0.7, 0.95):
        release, expected = family.build(value), fresh(value)
        assert repr(release) == repr(expected)
        assert dr.assess(release, threat).bounds == dr.assess(expected, threat).bounds


@pytest.mark.parametrize("pair", ["01", b"01", {3, 0}, {0: 1, 2: 3}])
def test_a_range_is_a_pair_of_numbers(pair):
    """The bytes 48 and 49 were a range, and so were the keys of a table."""
    with pytest.raises(dr.ParameterError, match=r"Laplace\.truncate must be \(low, high\)"):
        dr.Laplace(scale=1.0, query=[0.0, 1.0], truncate=pair)
