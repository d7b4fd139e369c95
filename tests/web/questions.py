"""Questions that the explorer must answer: every kind, with every attacker it offers, and some further options."""

from __future__ import annotations

from dpradar.spec.release_kinds import KINDS
from dpradar.web.forms.question_fields import OFFERED_KINDS

EVERY = [{"kind": kind, "who": attacker.name} for kind in OFFERED_KINDS for attacker in KINDS[kind].attackers]
FURTHER = [
    {"kind": "grr", "m": "3", "epsilon": "1.5", "prior": "0.5, 0.3, 0.2", "knowledge": "labels", "known": "a, a, b"},
    {"kind": "grr", "m": "100", "epsilon": "2", "knowledge": "everything"},
    {"kind": "oue", "m": "4", "epsilon": "1e0", "times": "3"},
    {"kind": "ss", "m": "6", "epsilon": "2", "goal": "labels", "sought": "a,a,a,b,b,b"},
    {"kind": "grr", "m": "4", "epsilon": "1", "values": "1, 2, 4, 8", "goal": "within", "within": "2"},
    {"kind": "laplace", "scale": "100", "values": "0:100", "goal": "within", "within": "40", "truncate": "0:100"},
    {"kind": "laplace", "scale": "2", "values": "0:20", "prior": "continuous:beta:2,5", "within": "2"},
    {"kind": "gaussian", "sigma": "3", "values": "0:3", "query": "0, 0, 1, 1"},
    {"kind": "gaussian", "sigma": "2.5", "who": "membership", "membership": "0.2", "sensitivity": "2",
     "neighbours": "replace-one", "times": "12"},
    {"kind": "exponential", "epsilon": "1", "utility": "0,1;1,0", "interval": "", "values": "0:1"},
    {"kind": "channel", "matrix": "0.9 0.1\n0.2 0.8", "prior": "0.5, 0.5"},
    {"kind": "dp", "epsilon": "0.5", "delta": "0", "neighbours": "add-remove", "who": "baseline", "baseline": "0.25"},
    {"kind": "oue", "who": "table", "epsilon": "2", "known": "age", "sought": "diagnosis"},
    {"kind": "grr", "m": "5", "epsilon": "1", "neighbours": "replace-one"},
]  # fmt: skip
