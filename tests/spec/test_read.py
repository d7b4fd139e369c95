"""Spec files as people write them: problems are reported all at once, with where they are and what to do."""

from __future__ import annotations

import contextlib
import json
import tomllib
from pathlib import Path

import pytest

import dpradar as dr
from dpradar.errors import SpecError
from dpradar.spec import KINDS, parse, read, run, toml
from dpradar.spec.file_tables import release_table
from dpradar.spec.release_kinds import IN_FILES
from dpradar.spec.schema import schema
from dpradar.spec.starter_file import starting_spec
from tests.every import every
from tests.spec.fitting import fits

ROOT = Path(__file__).parents[2]
GRR = '[release]\nkind = "grr"\nm = 3\nepsilon = 1.0\n'
LAPLACE = '[release]\nkind = "laplace"\nscale = 2.0\n'


def problems(text: str, **settings) -> list[str]:
    with pytest.raises(dr.SpecError) as caught:
        parse(text, **settings)
    return [str(problem) for problem in caught.value.problems]


BAD = {
    "nothing": (
        "",
        ["release: is missing: it must be a table. Write [release], or [[release]] for each of several."],
    ),
    "an empty list": ("release = []", ["release: must be at least one table; got none. Write [release]."]),
    "not a table": (
        "release = 3",
        ["release: must be a table; got 3. Write [release], or [[release]] for each of several."],
    ),
    "not TOML": (
        "[release\nkind = 1",
        ["must be TOML: Expected ']' at the end of a table declaration (at line 1, column 9)."],
    ),
    "decimal comma": (
        GRR.replace("1.0", "0,5"),
        ["line 4: must be TOML. It has a decimal comma. Write it with a point: 0.5."],
    ),
    "decimal comma in quotes": (
        GRR.replace("1.0", '"0,5"'),
        [
            "release.epsilon: must be a number at least 0; got '0,5'. "
            "'0,5' has a decimal comma. Write it with a point: 0.5."
        ],
    ),
    "number in quotes": (
        GRR.replace("1.0", '"1.0"'),
        ["release.epsilon: must be a number at least 0; got '1.0'. Numbers stand without quotes."],
    ),
    "unknown key": ("titel = 'x'\n" + GRR, ["titel: is not a key of this table. Did you mean 'title'?"]),
    "unknown table": (GRR + "[treat]\n", ["treat: is not a key of this table. Did you mean 'threat'?"]),
    "unknown key of a release": (
        GRR + "epsilom = 2\n",
        ["release.epsilom: is not a key of this table. Did you mean 'epsilon'?"],
    ),
    "key of a threat in a release": (
        GRR + "prior = [0.5, 0.5]\n",
        ["release.prior: is not a key of this table. It belongs to [threat]."],
    ),
    "unknown key of limits": (
        GRR + "[threat]\nlimits = { radd = 0.1 }\n",
        ["threat.limits.radd: is not a key of this table. Did you mean 'rad'?"],
    ),
    "no kind": (
        "[release]\nm = 3\n",
        [f"release.kind: must be one of {', '.join(IN_FILES)}; got nothing. `dpradar list` describes them."],
    ),
    "wrong kind": (
        '[release]\nkind = "gauss"\n',
        [f"release.kind: must be one of {', '.join(IN_FILES)}; got 'gauss'. Did you mean 'gaussian'?"],
    ),
    "kind that is no text": (
        "[release]\nkind = 3\n",
        [f"release.kind: must be one of {', '.join(IN_FILES)}; got 3. `dpradar list` describes them."],
    ),
    "missing parameter": (
        '[release]\nkind = "grr"\nm = 3\n',
        [
            "release.epsilon: is missing: it must be a number at least 0. "
            "It is the privacy-loss bound of differential privacy."
        ],
    ),
    "out of range": (
        GRR.replace("m = 3", "m = 1"),
        ["release.m: must be a whole number at least 2; got 1. It is the number of values a person can have."],
    ),
    "not whole": (
        GRR.replace("m = 3", "m = 3.5"),
        ["release.m: must be a whole number at least 2; got 3.5. It is the number of values a person can have."],
    ),
    "infinite": (
        LAPLACE.replace("2.0", "inf"),
        [
            "release.scale: must be a number above 0; got inf. "
            "It is the scale of the Laplace noise, sensitivity / epsilon."
        ],
    ),
    "truth": (
        GRR.replace("m = 3", "m = true"),
        ["release.m: must be a whole number at least 2; got True. It is the number of values a person can have."],
    ),
    "no relation": (
        '[release]\nkind = "zcdp"\nrho = 0.1\n',
        [
            "release.neighbours: must be 'replace-one' or 'add-remove'; got nothing. It is the relation of the data "
            "sets that the guarantee compares, which its source states and which is never guessed."
        ],
    ),
    "wrong relation": (
        '[release]\nkind = "zcdp"\nrho = 0.1\nneighbours = "add/remove"\n',
        [
            "release.neighbours: must be 'replace-one' or 'add-remove'; got 'add/remove'. It is the relation of the "
            "data sets that the guarantee compares, which its source states and which is never guessed."
        ],
    ),
    "two relations": (
        '[release]\nkind = "zcdp"\nrho = 0.1\nneighbours = "add-remove"\n[threat]\nm = 3\nneighbours = "replace-one"\n',
        [
            "threat.neighbours: must be 'add-remove' or left out; got 'replace-one'. "
            "Leave it out: release states 'add-remove'."
        ],
    ),
    "sum of a prior": (
        GRR + "[threat]\nprior = [0.5, 0.3, 0.1]\n",
        [
            "threat.prior: must be numbers that sum to 1 (within 1e-9); got a sum of 0.9. "
            "Divide them by their sum if they are weights."
        ],
    ),
    "prior that does not fit": (
        GRR + "[threat]\nprior = [0.5, 0.5]\n",
        ["threat.m: must be 2, as the prior has that many values; got 3. Leave out threat.m, or give as many values."],
    ),
    "labels that do not fit": (
        GRR + '[threat]\nknowledge = { labels = ["a", "b"] }\n',
        [
            "threat.knowledge: must be 3 labels, one for each value of the prior; got 2. "
            "Equal labels look alike to the attacker."
        ],
    ),
    "unknown knowledge": (
        GRR + '[threat]\nknowledge = "all"\n',
        ["threat.knowledge: must be nothing, everything, labels:A,A,B or columns:NAMES; got 'all'."],
    ),
    "unknown goal": (
        GRR + "[threat]\ngoal = { near = 3 }\n",
        ["threat.goal: must be exact, within:ETA, labels:A,A,B or columns:NAMES; got {'near': 3}."],
    ),
    "two threats in one": (
        GRR + "[threat]\nbaseline = 0.1\nmembership = 0.5\n",
        ["threat: must be one of threat.baseline, threat.membership, threat.worst or a prior; "
         "got threat.baseline and threat.membership."],
    ),
    "nothing to be known about": (
        '[release]\nkind = "zcdp"\nrho = 0.1\nneighbours = "add-remove"\n[threat]\ngoal = "within:1"\n',
        [
            "threat.knowledge and threat.goal: must be used with a prior "
            "(threat.m, threat.values, threat.prior, threat.records); got no prior."
        ],
    ),
    "tpr without fpr": (
        GRR + "[threat]\nlimits = { tpr = 0.1 }\n",
        ["threat.limits.tpr: must be given together with fpr; got one of them. Add fpr=..."],
    ),
    "limit out of range": (
        GRR + "[threat]\nlimits = { rad = 1.5 }\n",
        ["threat.limits.rad: must be a number at least 0 and at most 1; got 1.5. "
         "It is the largest probability that is accepted."],
    ),
    "rad of membership": (
        GRR + "[threat]\nmembership = 0.5\nlimits = { rad = 0.1 }\n",
        ["threat.limits.rad: must be left out for membership; got 0.1. Limit success or gain."],
    ),
    "unknown error": (
        GRR + "[utility]\nerror = 5.0\n",
        ["utility.error: must be an error that is known; got error. Known of release: frequency_error."],
    ),
    "attack on a promise": (
        '[release]\nkind = "zcdp"\nrho = 0.1\nneighbours = "add-remove"\n[threat]\nm = 3\n[evidence]\nattack = {}\n',
        [
            "evidence.attack: must be about releases to draw from; got zcdp, a promise. "
            "Attack a mechanism, such as laplace or grr."
        ],
    ),
    "attack without a prior": (
        GRR + "[threat]\nmembership = 0.5\n[evidence]\nattack = {}\n",
        ["evidence.attack: must have a threat with a prior; got none. Give a threat values, a prior or m."],
    ),
    "attack that is no table": (
        GRR + "[evidence]\nattack = true\n",
        ["evidence.attack: must be a table; {} will do; got True."],
    ),
    "trials": (
        GRR + "[threat]\n[evidence]\nattack = { trials = 0 }\n",
        [
            "evidence.attack.trials: must be a whole number at least 1 and at most 1e+12; got 0. "
            "It is the number of simulated attacks."
        ],
    ),
    "date": (
        GRR + "[decision]\ndate = 3\n",
        ["decision.date: must be a date such as 2026-03-01, or text; got 3."],
    ),
    "text": ("title = 3\n" + GRR, ["title: must be text; got 3. Put it in quotes."]),
    "files": (
        GRR + '[threat]\nprior = "@prior.csv"\n',
        [
            "threat.prior: must be given without a file; got 'prior.csv'. "
            "No file is read here: give the numbers themselves."
        ],
    ),
    "composed of different sizes": (
        "[[release]]\nkind = 'grr'\nm = 3\nepsilon = 1\n[[release]]\nkind = 'grr'\nm = 4\nepsilon = 1\n[threat]\n",
        [
            "threat: releases must be about the same number of values to be composed; "
            "got 3 (release[1]) and 4 (release[2])."
        ],
    ),
    "errors of composed releases": (
        "[[release]]\nkind = 'grr'\nm = 3\nepsilon = 1\n[[release]]\nkind = 'grr'\nm = 3\nepsilon = 1\n"
        "[utility]\nfrequency_error = 1.0\n",
        [
            "utility: must be about one release; got several composed. "
            'Write together = "compare", or one spec for each release.'
        ],
    ),
    "ten million values": (
        LAPLACE + '[threat]\nvalues = "0:9999999"\n',
        ["threat.values: must be at most 1,000,000 values; got 10,000,000. Group values that are alike."],
    ),
    "ten million values, counted": (
        LAPLACE + "[threat]\nm = 10000000\n",
        ["threat.m: must be at most 1,000,000 values; got 10,000,000. Group values that are alike."],
    ),
}  # fmt: skip


@every("name", BAD)
def test_one_problem(name):
    text, messages = BAD[name]
    assert problems(text) == messages


def test_all_problems_at_once():
    text = """
    titel = "x"
    neighbours = "both"
    [[release]]
    kind = "grr"
    m = 1
    epsilon = "0,5"
    colour = "red"
    [[release]]
    kind = "gausian"
    [[release]]
    kind = "laplace"
    scale = -1
    truncate = [5, 1, 2]
    [[threat]]
    prior = [0.5, 0.6]
    [[threat]]
    prior = [0.5, 0.4]
    knowledge = "some"
    goal = "nearly"
    limits = { rad = 2, gian = 0.1 }
    worst = "yes"
    [utility]
    eror = 3
    [decision]
    by = 7
    """
    messages = problems(text)
    assert [message.partition(": ")[0] for message in messages] == [
        "titel",
        "neighbours",
        "release[1].m",
        "release[1].epsilon",
        "release[1].colour",
        "release[2].kind",
        "release[3].scale",
        "release[3].truncate",
        "threat[2].knowledge",
        "threat[2].goal",
        "threat[2].limits.rad",
        "threat[2].limits.gian",
        "threat[2].worst",
        "threat[2].prior",
        "utility.eror",
        "decision.by",
        "threat[1].prior",
    ]


def test_the_error_says_how_many():
    with pytest.raises(dr.SpecError) as caught:
        parse(GRR.replace("m = 3", "m = 1").replace("1.0", "-1"), file="survey.toml")
    lines = str(caught.value).splitlines()
    assert lines[0] == "survey.toml has 2 problems:"
    assert all(line.startswith("  release.") for line in lines[1:])
    assert isinstance(caught.value, ValueError)


# ---------------------------------------------------------------------------------------------------------------- files


def test_ten_megabytes_are_refused(tmp_path):
    file = tmp_path / "long.toml"
    file.write_text(GRR + "# " + "x" * 10_000_000)
    with pytest.raises(dr.SpecError, match="at most 1,000,000 bytes"):
        read(file)
    with pytest.raises(dr.SpecError, match="at most 1,000,000 bytes"):
        parse(GRR + "# " + "x" * 1_000_000)


def test_lists_inside_lists_without_end():
    assert problems("a = " + "[" * 100_000) == ["must be TOML: tables inside tables without end."]


def test_files_are_found_beside_the_spec(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "prior.csv").write_text("0.5\n0.3\n0.2\n")
    (tmp_path / "data" / "survey.toml").write_text(GRR + '[threat]\nprior = "@prior.csv"\n')
    monkeypatch.chdir(tmp_path)
    spec = read("data/survey.toml")
    assert spec.threat(0, 0).prior.probabilities.tolist() == [0.5, 0.3, 0.2]
    (tmp_path / "data" / "survey.toml").write_text(GRR + '[threat]\nprior = "@missing.csv"\n')
    with pytest.raises(dr.SpecError, match=r"threat\.prior: must be a readable file after @"):
        read("data/survey.toml")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "survey.toml").write_text(GRR)
    with pytest.raises(dr.SpecError, match=r"cannot be read: No such file.*Did you mean '.*survey\.toml'"):
        read(tmp_path / "survei.toml")
    with pytest.raises(dr.SpecError, match="dpradar new"):
        read(tmp_path / "nowhere" / "other.toml")
    with pytest.raises(dr.SpecError, match="cannot be read"):
        read(tmp_path)
    (tmp_path / "latin.toml").write_bytes('title = "Zürich"\n'.encode("latin-1"))
    with pytest.raises(dr.SpecError, match="UTF-8"):
        read(tmp_path / "latin.toml")
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf" + GRR.encode())
    assert read(tmp_path / "bom.toml").releases[0].kind == "grr"


def test_evidence_must_be_an_attack_or_an_audit(tmp_path):
    threat = dr.Threat(dr.Prior.uniform(3))
    dr.assess(dr.GRR(3, 1.0), threat).save(tmp_path / "a.json")
    dr.attack(dr.GRR(3, 1.0), threat, trials=100, seed=1).save(tmp_path / "attack.json")
    (tmp_path / "broken.json").write_text('{"schema": "dpradar/attack/2"}')
    messages = problems(
        GRR + '[evidence]\nresults = ["a.json", "attack.json", "broken.json", "none.json"]\n', folder=tmp_path
    )
    assert [message.partition(":")[0] for message in messages] == [f"evidence.results[{i}]" for i in (1, 3, 4)]


def test_a_register_of_today_is_a_spec():
    spec = read(ROOT / "examples" / "register.toml")
    assert [release.kind for release in spec.releases] == ["zcdp", "laplace", "dpsgd"]
    assert dr.spec.register(ROOT / "examples" / "register.toml").mechanisms[0] == spec.release_call(0).build()
    old = parse('[[release]]\nkind = "pure-dp"\nepsilon = 1.0\nneighbours = "replace-one"\n')
    assert old.release_call(0).build() == dr.PureDP(1.0, "replace-one")


# --------------------------------------------------------------------------------------------------------- round trips

TEXTS = ['<script>alert("x")</script>', 'a"b\\c\n\t\x7f\x00é🦊', "'''", "# no comment", "[threat]", " "]


@pytest.mark.parametrize("text", TEXTS)
def test_text_passes_through_untouched(text):
    release = dr.spec.ReleaseSpec(
        kind="grr", options={"m": 3, "epsilon": 1.0}, name=text, what=text, note=text, date=text
    )
    threat = dr.spec.ThreatSpec(
        options={"knowledge": {"labels": [text, "b", "b"]}}, name=text, limits={"rad": 0.5}, limit_source=text
    )
    people = {"by": text, "outcome": text, "note": text, "date": text, "review_by": text}
    spec = dr.spec.Spec(releases=(release,), threats=(threat,), title=text, description=text, decision=people)
    assert parse(toml(spec)) == spec
    result = run(spec, made="")
    assert (result.title, result.description, result.decision) == (text, text, people)
    assert result.releases[0].assessments[0].limits[0].source == text
    assert dr.RunResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_everything_survives_writing():
    text = """
    title = "T"
    description = "D"
    neighbours = "add-remove"
    together = "compare"
    [[release]]
    name = "a"
    what = "w"
    date = 2026-01-02
    kind = "gaussian"
    sigma = 1e-05
    query = [[0.0, 1.0], [1.0, 0.0]]
    truncate = "0:1"
    times = 3
    note = "n"
    [[release]]
    kind = "rdp"
    orders = "2,4"
    epsilons = [0.1, 0.2]
    [[threat]]
    name = "t"
    records = { "a b" = [1, 2], c = ["x", "y"] }
    goal = { columns = ["c"] }
    limits = { rad = 0.1, tpr = 0.1, fpr = 0.01, epsilon = 3, delta = 1e-6 }
    limit_source = "s"
    [evidence]
    attack = { trials = 7, seed = 0, maximise = "success", confidence = 0.9 }
    [report]
    include_prior = true
    noise_table = false
    [decision]
    by = "x"
    date = 2026-01-02
    """
    messages = problems(text)  # rdp cannot be attacked; all the rest is fine
    assert messages == [
        "evidence.attack: must be about releases to draw from; got rdp, a promise. "
        "Attack a mechanism, such as laplace or grr."
    ]
    spec = parse(text.replace("attack =", "# attack ="))
    assert parse(toml(spec)) == spec
    assert tomllib.loads(toml(spec))["release"][0]["date"].isoformat() == "2026-01-02"
    full = parse(text.replace('kind = "rdp"', 'kind = "laplace"').replace('orders = "2,4"', "scale = 1").replace(
        "epsilons = [0.1, 0.2]", "query = [0, 1]"
    ))  # fmt: skip
    assert full.attack == dr.spec.AttackOptions(trials=7, seed=0, maximise="success", confidence=0.9)
    assert parse(toml(full)) == full


@pytest.mark.parametrize(
    ("release", "private"),
    [
        ('kind = "laplace"\nscale = 2.0\nquery = [17.125, 901.375, 3.5]\n', "901.375"),
        ('kind = "exponential"\nepsilon = 1.0\nutility = [[0.625, 1.0], [1.0, 0.25]]\n', "0.625"),
        ('kind = "channel"\nmatrix = [[0.8125, 0.1875], [0.25, 0.75]]\n', "0.8125"),
    ],
    ids=["query", "utility", "matrix"],
)
def test_what_records_contribute_is_left_out_of_results(release, private):
    """The description of the release keeps only how much there is; the text of the file stood beside it."""
    result = run(parse(f"[release]\n{release}"), made="")
    assert private not in json.dumps(result.to_dict())
    assert "entries, not shown" in result.spec_text
    assert result.command == ""


def test_frequencies_and_labels_are_left_out_of_results():
    text = (
        GRR
        + '[threat]\nprior = [0.123, 0.456, 0.421]\nknowledge = { labels = ["hidden", "b", "b"] }\nvalues = [7, 8, 9]\n'
    )
    result = run(parse(text), made="")
    assert not [word for word in ("0.123", "0.456", "hidden", "[7") if word in result.spec_text]
    assert "hidden" not in json.dumps(result.to_dict())
    assert "# prior: 3 entries, not shown" in result.spec_text
    assert result.command == ""
    shown = run(parse(text + "[report]\ninclude_prior = true\n"), made="")
    assert "0.123" in shown.spec_text
    assert "hidden" in shown.spec_text
    assert shown.command.startswith("dpradar assess grr --m 3 --epsilon 1.0 --prior 0.123,0.456,0.421")
    assert result.spec_hash != shown.spec_hash


# ---------------------------------------------------------------------------------------------- starting specs, schema


@pytest.mark.parametrize("kind", IN_FILES)
def test_starting_specs_can_be_run(kind):
    spec = parse(starting_spec(kind))
    assert spec.releases[0].kind == kind
    assert run(spec, made="").met is not None


def uncommented(lines: list[str], number: int) -> str:
    """Return the lines with one of them in use, and the heading of its table."""
    heading = next((i for i in range(number, -1, -1) if lines[i].startswith("# [")), None)
    inside = heading is not None and not any(line.startswith("[") for line in lines[heading:number])
    used = {number, heading} if inside else {number}
    return "\n".join(line[2:] if i in used else line for i, line in enumerate(lines))


@pytest.mark.parametrize("kind", IN_FILES)
def test_what_stands_in_comments_of_a_starting_spec_is_known(kind):
    """Each key can be used: alone it may not fit, but it is never unknown."""
    lines = starting_spec(kind).splitlines()
    keys = [i for i, line in enumerate(lines) if line.startswith("# ") and " = " in line]
    assert len(keys) > 5
    for number in keys:
        with contextlib.suppress(dr.SpecError):
            parse(uncommented(lines, number))
            continue
        messages = problems(uncommented(lines, number))
        assert not [problem for problem in messages if "not known here" in problem or "TOML" in problem]


def test_the_schema_knows_every_kind_and_key():
    own = schema()
    kinds = {shape["properties"]["kind"]["const"] for shape in own["$defs"].values() if "kind" in shape["properties"]}
    assert kinds == set(IN_FILES) == set(KINDS) - {"register"}
    assert set(own["properties"]) == {
        "title", "description", "neighbours", "together",
        "release", "threat", "utility", "evidence", "report", "decision",
    }  # fmt: skip
    assert own["additionalProperties"] is False
    assert own["required"] == ["release"]
    grr = own["$defs"]["GrrRelease"]["properties"]
    assert (grr["m"]["minimum"], grr["epsilon"]["minimum"]) == (2, 0.0)
    assert '"default": null' not in json.dumps(own)


def test_examples_fit_the_schema_and_mistakes_do_not():
    for path in sorted((ROOT / "examples").glob("*.toml")):
        assert fits(schema(), path.read_text(encoding="utf-8")), path.stem
    assert fits(schema(), GRR)
    for old, new in (("m = 3", "m = 1"), ("1.0", "-1.0"), ("grr", "gr"), ("epsilon", "epsilom"), ("3", '"ten"')):
        assert not fits(schema(), GRR.replace(old, new)), new


@pytest.mark.parametrize("kind", IN_FILES)
def test_keys_of_a_release_are_those_of_its_kind(kind):
    keys = {option.name for option in release_table(kind).options}
    assert keys == {"kind", "name", "what", "date", "note", "times", *KINDS[kind].names}


def test_the_order_of_keys_does_not_change_what_a_spec_says():
    release = '[release]\nkind = "laplace"\nscale = 2.0\n'
    first = parse(f"{release}[threat]\nprior = [0.5, 0.5]\nvalues = [0, 1]\n")
    second = parse(f"{release}[threat]\nvalues = [0, 1]\nprior = [0.5, 0.5]\n")
    assert run(first).spec_hash == run(second).spec_hash


def test_rows_that_are_texts_are_refused():
    with pytest.raises(SpecError, match=r"release.utility: must be a list of rows of numbers; got 'a'"):
        parse('[release]\nkind = "exponential"\nepsilon = 1.0\nutility = ["a", "b"]\n')
