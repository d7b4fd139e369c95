"""The start page: links to three screens, and examples from real settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ...guarantees import ZCDP
from ...mechanisms import DPSGD, GRR, Laplace
from ...spec.threat_options import SIZE, ThreatOptions
from ..forms.form import texts_of

__all__ = ["EXAMPLES", "START_LINKS", "Example", "StartLink"]


_ANY_VALUE = ThreatOptions()


@dataclass(frozen=True, slots=True)
class StartLink:
    """A link on the start page: its title, its text, and the screen."""

    title: str
    text: str
    screen: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A filled-in question."""

    title: str
    text: str
    screen: str
    release: Any = None
    threat: ThreatOptions = _ANY_VALUE
    fields: tuple[tuple[str, str], ...] = ()  # of the screen, besides those of the question

    @property
    def address(self) -> str:
        """Where it is answered."""
        fields = {} if self.release is None else texts_of(self.release, self.threat)
        return f"{self.screen}?{urlencode({**fields, **dict(self.fields)})}"


START_LINKS = (
    StartLink("I have parameters", "See what someone could learn about one person.", "assess"),
    StartLink("I have a risk limit", "Find the least noise that keeps it, and what that costs.", "calibrate"),
    StartLink("I have outputs to check", "Test a claim of privacy on what was released.", "attack", "mode=rows"),
)
EXAMPLES = (
    Example(
        "A health survey",
        "100 possible diagnoses, each answer randomised on the phone (GRR, epsilon 2).",
        "assess",
        GRR(m=100, epsilon=2),
    ),
    Example(
        "Wages with Laplace noise",
        "A wage between 0 and 100 thousand, published with noise. Can someone get within 5?",
        "assess",
        Laplace(scale=10),
        ThreatOptions(values="0:100", goal="within:5"),
    ),
    Example(
        "A model trained with DP-SGD",
        "1,000 steps, noise multiplier 2. Can someone tell whether a person was in the training data?",
        "assess",
        DPSGD(noise_multiplier=2, sample_rate=0.01, steps=1000),
        ThreatOptions(membership=0.5),
    ),
    Example(
        "Census tables with zCDP",
        "Only the guarantee is known: rho 0.1. How much better than guessing can anyone do?",
        "assess",
        ZCDP(rho=0.1, neighbours="replace-one"),
        ThreatOptions(baseline=0.1),
    ),
    Example(
        "At most 5 of 100 people",
        "Taking part may add at most 5 of 100 people to those an attacker is right for. How much noise?",
        "calibrate",
        fields=(("kind", "grr"), (SIZE.name, "20"), ("risk", "rad"), ("limit", "0.05")),
    ),
    Example(
        "Three protocols, one epsilon",
        "Randomised response, unary encoding and subset selection at epsilon 2.",
        "compare",
        fields=(("columns", "3"), ("1.kind", "grr"), ("2.kind", "oue"), ("3.kind", "ss")),
    ),
    Example(
        "Half the noise",
        "A mechanism that claims epsilon 1 but adds half the noise: watch an audit refute it.",
        "attack",
        fields=(("mode", "audit"), ("kind", "grr"), ("defect", "half"), ("seed", "1"), ("run", "1")),
    ),
)
