"""The JSON Schema of campaigns takes what can be read, and refuses the mistakes that one key shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpradar import campaigns
from dpradar.campaigns.campaign_schema import campaign_schema
from dpradar.campaigns.campaign_tables import ACTIONS, kinds_for, run_table
from dpradar.cli.main import app
from dpradar.errors import SpecError
from dpradar.options.reading import PLAIN
from dpradar.spec.release_kinds import KINDS
from tests.spec.fitting import fits

EXAMPLES = sorted((Path(__file__).parents[2] / "examples/campaigns").glob("*.toml"))
SOUND = "seed = 1\n[[run]]\ndo = 'attack'\nkind = 'grr'\nm = 5\nepsilon = 1.0\n"


def test_it_is_printed():
    done = CliRunner().invoke(app, ["schema", "campaign"])
    assert json.loads(done.output) == campaign_schema()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_fit(path):
    text = path.read_text(encoding="utf-8")
    assert campaigns.parse(text, folder=path.parent).runs
    assert fits(campaign_schema(), text)


@pytest.mark.parametrize("do", ACTIONS)
def test_a_run_has_the_keys_of_every_kind(do):
    properties = set(campaign_schema()["$defs"][do.capitalize()]["properties"])
    run_tables = [{"do": do, "kind": kind} for kind in kinds_for(do)] or [{"do": do}]
    if do == "audit":
        run_tables.append({"do": do})
    keys = {option.name for table in run_tables for option in run_table(table, PLAIN).options}
    assert keys == properties


@pytest.mark.parametrize("kind", [kind for kind in kinds_for("assess") if KINDS[kind].noise is not None])
def test_what_fits_one_kind_fits(kind):
    noise = KINDS[kind].noise.name
    others = "".join(f"{p.name} = {3 if p.integer else 0.5}\n" for p in KINDS[kind].params if p.name != noise)
    run = f"[[run]]\ndo = 'calibrate'\nkind = '{kind}'\nlimits = {{ rad = 0.1 }}\nseed = 3\n{others}"
    more = f"[[run]]\ndo = 'assess'\nkind = '{kind}'\ngrid = {{ {noise} = [1.0, 2.0] }}\n"
    assert fits(campaign_schema(), run)
    assert fits(campaign_schema(), run.replace("[[run]]", "[run]"))
    assert fits(campaign_schema(), run + more)


@pytest.mark.parametrize(
    "text",
    [
        "title = 'nothing'\n",
        "titel = 'x'\n" + SOUND,
        SOUND.replace("attack", "atack"),
        SOUND.replace("'grr'", "'gdp'"),
        SOUND.replace("m = 5", "m = 1"),
        SOUND.replace("1.0", "-1.0"),
        SOUND.replace("1.0", "'1'"),
        SOUND.replace("seed = 1", "seed = -1"),
        SOUND + "trails = 5\n",
        SOUND + "trials = 0\n",
        SOUND + "maximise = 'gain'\n",
        SOUND + "grid = 3\n",
        SOUND + "grid = { m = 3 }\n",
        "[[run]]\nkind = 'grr'\nm = 5\nepsilon = 1.0\n",
        "[[run]]\ndo = 'calibrate'\nkind = 'grr'\nm = 3\nlimits = { rat = 0.1 }\n",
        "[[run]]\ndo = 'learning'\nnetwork = ['a']\n",
    ],
)
def test_mistakes_are_refused_by_both(text):
    assert fits(campaign_schema(), SOUND)
    assert not fits(campaign_schema(), text)
    with pytest.raises(SpecError):
        campaigns.parse(text)
