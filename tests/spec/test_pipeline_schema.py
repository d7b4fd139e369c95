"""The JSON Schema of pipelines says what the reader takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpradar.cli.main import app
from dpradar.errors import ParameterError, SpecError
from dpradar.granularity import Granularity
from dpradar.granularity.neighbour_relation import NAMES, PATTERN
from dpradar.spec.pipeline import parse_pipeline
from dpradar.spec.pipeline_tables import TABLES
from dpradar.spec.schema import pipeline_schema, schema
from tests.spec.fitting import fits

EXAMPLES = sorted((Path(__file__).parents[2] / "examples/pipelines").glob("*.toml"))


def test_it_is_printed():
    done = CliRunner().invoke(app, ["schema", "pipeline"])
    assert json.loads(done.output) == pipeline_schema()
    line = CliRunner().invoke(app, ["schema", "pipeline", "--json"]).output
    assert (line.count("\n"), json.loads(line)) == (1, pipeline_schema())
    assert json.loads(CliRunner().invoke(app, ["schema"]).output) == schema()
    assert CliRunner().invoke(app, ["schema", "register"]).exit_code == 2


def test_it_knows_every_key():
    own = pipeline_schema()
    assert set(own["properties"]) == {"title", "note", "targets", *TABLES}
    assert own["required"] == ["step"]
    assert own["additionalProperties"] is False
    for table in TABLES.values():
        shape = own["$defs"][table.name]
        assert set(shape["properties"]) == {option.name for option in table.options}
        assert shape["additionalProperties"] is False
    assert own["$defs"]["Step"]["properties"]["domain"]["enum"] == ["own", "common"]
    assert '"default": null' not in json.dumps(own)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_fit(path):
    assert fits(pipeline_schema(), path.read_text(encoding="utf-8"))


SOUND = 'targets = ["node:add-remove"]\n[[step]]\nname = "a"\nepsilon = 1.0\ngranularity = "edge"\n'
BAD = [
    SOUND + "[clam]\n",
    SOUND.replace("1.0", "-1.0"),
    SOUND.replace("1.0", '"one"'),
    SOUND.replace('"edge"', '"edges"'),
    SOUND.replace("node:add-remove", "node"),
    SOUND + "times = 0\n",
    SOUND + 'domain = "shared"\n',
    SOUND + 'noise = "pink"\n',
    SOUND + "eps = 1.0\n",
    SOUND + "[claim]\nepsilon = 1.0\n",
    SOUND + '[data]\nhidden = "all"\n',
    SOUND + '[[partition]]\nname = "p"\n',
    SOUND + '[[partition]]\nname = "p"\nkind = "value"\ncells = 0\n',
    SOUND + '[[partition]]\nname = "p"\nkind = "value"\ncells = 1000000000000\n',
    "title = 'nothing'\n",
]


def test_what_fits_is_read():
    assert fits(pipeline_schema(), SOUND)
    assert parse_pipeline(SOUND).steps


@pytest.mark.parametrize("text", BAD)
def test_what_does_not_fit_is_refused_by_both(text):
    assert not fits(pipeline_schema(), text)
    with pytest.raises(SpecError):
        parse_pipeline(text)


def test_names_of_granularities():
    """The pattern takes what ``Granularity.parse`` takes."""
    sizes = [":", ":1", ":10", ":0", ":-1", ":1.5", ":²", ":٣", ":" + "9" * 5000]
    ends = ["", *sizes, ":replace-one", ":add-remove", ":x"]
    taken = 0
    for name in (*NAMES, "bonded", ""):
        for end in ends:
            fits = re.search(PATTERN, name + end) is not None
            if fits:
                Granularity.parse(name + end)
                taken += 1
            else:
                with pytest.raises(ParameterError):
                    Granularity.parse(name + end)
    assert taken == 5 + 3 * 2 + 3 * 2
