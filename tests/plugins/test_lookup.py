"""When a plug-in is looked up, loaded and refused."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

import dpradar as dr
from dpradar.cli.main import app
from dpradar.options.entry_points import installed_plugins
from dpradar.spec import parse, release_of

from .conftest import distribution

RAISES = "raise RuntimeError('imported')\n"
COIN = """
from typing import Annotated

from annotated_types import Gt, Lt

import dpradar as dr
from dpradar.plugins import About, described


@described("coin", "A coin.", "local")
class Coin:
    truth: Annotated[float, Gt(0), Lt(1), About("the probability of the truth", example="0.5")]

    def at(self, prior):
        same, other = 0.5 + self.truth / 2, 0.5 - self.truth / 2
        return dr.Channel([[same, other], [other, same]]).at(prior)
"""


def cli(*words):
    return CliRunner().invoke(app, list(words), obj={"given": list(words)})


def test_a_kind_of_ours_is_never_looked_up(tmp_path, install):
    folder = distribution(
        tmp_path / "installed", "other-grr", "2.0", {"other_grr.py": RAISES}, {"grr": "other_grr:GRR"}
    )
    install(folder)
    expected = dr.assess(dr.GRR(m=4, epsilon=1.0), dr.Threat(dr.Prior.uniform(4))).rad.value
    done = cli("assess", "grr", "--m", "4", "--epsilon", "1", "--json")
    assert json.loads(done.output)["rad"]["value"] == expected
    assert release_of({"kind": "grr", "m": 4, "epsilon": 1.0}) == dr.GRR(m=4, epsilon=1.0)
    assert json.loads(cli("list", "--json").output)["plugins"] == {}
    assert "other_grr" not in sys.modules


def test_listing_and_other_questions_import_no_plug_in(tmp_path, install):
    install(distribution(tmp_path / "installed", "bad", "0.1", {"bad_one.py": RAISES}, {"bad": "bad_one:Bad"}))
    assert [str(plugin) for plugin in installed_plugins() if plugin.kind == "bad"] == ["bad 0.1"]
    assert json.loads(cli("list", "--json").output)["plugins"] == {"bad": "bad 0.1"}
    parse('release = {kind = "oue", m = 3, epsilon = 1}')
    with pytest.raises(dr.ParameterError, match=r"Did you mean 'oue'\?"):
        release_of({"kind": "ouee"})
    with pytest.raises(dr.ParameterError) as error:
        release_of({"kind": "bad"})
    assert "'bad' of bad 0.1 (RuntimeError: imported)" in str(error.value)
    assert "uninstall" in str(error.value)


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("coins:Missing", "AttributeError"),
        ("coins:About", "is not a class made by @described('coin', ...)"),
        ("no_such_module:Coin", "ModuleNotFoundError"),
    ],
)
def test_what_is_offered_must_be_a_mechanism(tmp_path, install, target, why):
    install(distribution(tmp_path / "installed", "coins", "1", {"coins.py": COIN}, {"coin": target}))
    with pytest.raises(dr.ParameterError) as error:
        release_of({"kind": "coin", "truth": 0.5})
    assert why in str(error.value)


def test_two_distributions_that_offer_one_kind_are_refused(tmp_path, install):
    for name in ("one", "two"):
        install(distribution(tmp_path / "installed" / name, name, "1", {"coins.py": COIN}, {"coin": "coins:Coin"}))
    with pytest.raises(dr.ParameterError, match="kind must be offered by one plug-in; got 'coin' of one 1 and two 1"):
        release_of({"kind": "coin", "truth": 0.5})


def test_what_a_plug_in_cannot_do_is_said(tmp_path, install):
    install(distribution(tmp_path / "installed", "coins", "1", {"coins.py": COIN}, {"coin": "coins:Coin"}))
    done = cli("calibrate", "coin", "--limit", "rad=0.1")
    assert done.exit_code == 2
    assert "cannot calibrate 'coin': its noise is not one number" in done.output
    done = cli("assess", "coin", "--truth", "2", "--m", "2")
    assert str(done.exception).startswith("--truth must be a number above 0 and below 1; got 2")


def test_registers_and_campaigns_know_it(tmp_path, install):
    install(distribution(tmp_path / "installed", "coins", "1", {"coins.py": COIN}, {"coin": "coins:Coin"}))
    register = tmp_path / "register.toml"
    register.write_text('[[release]]\nkind = "coin"\ntruth = 0.5\n[[release]]\nkind = "grr"\nm = 2\nepsilon = 1.0\n')
    done = cli("assess", "register", "--file", str(register), "--m", "2", "--json")
    notes = json.loads(done.output)["rad"]["assumes"]
    assert "the plug-in coins 1 describes coin correctly" in notes
    from dpradar import campaigns

    text = '[[run]]\ndo = "assess"\nkind = "coin"\ntruth = 0.5\nm = 2\n'
    assert campaigns.parse(text).runs
    with pytest.raises(dr.SpecError, match="kind"):
        campaigns.parse(text.replace('"assess"', '"audit"'))


def test_a_saved_result_loads_without_the_plug_in(tmp_path, install):
    install(distribution(tmp_path / "installed", "coins", "1", {"coins.py": COIN}, {"coin": "coins:Coin"}))
    done = cli("assess", "coin", "--truth", "0.5", "--m", "2", "--json")
    saved = tmp_path / "saved.json"
    saved.write_text(done.output)
    for name in [name for name in sys.modules if name == "coins"]:
        del sys.modules[name]
    assert dr.load(saved).rad.value == pytest.approx(0.25)
    assert "coins" not in sys.modules
