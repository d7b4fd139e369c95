"""Figures and tables of the sources that are not computed, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OMITTED", "SOURCES"]

SOURCES: Mapping[str, str] = {
    "rad": "[RAD] Guerra-Balboa, Sauer, Arcolezi, Strufe: Understanding Disclosure Risk in Differential Privacy (2026)",
    "unify": "[UNIFY] Kulynych et al.: Unifying Re-Identification, Attribute Inference, and Data Reconstruction Risks "
    "(2025)",
    "measurement": "[SauerThesis] Sauer: Measurement of Attack Resilience of Differential Privacy (master's thesis, "
    "2025)",
    "thesis": "[GuerraThesis] Guerra Balboa: A Formal Study of Differential Privacy in Complex and Correlated Data "
    "(doctoral thesis, 2026)",
}

_SYMBOLS = "a list of symbols: there is nothing to compute"
_DRAWING = "a drawing that explains a notion: there is nothing to compute"
_SETTINGS = "settings of the experiments, which the figures and tables here state where they differ"

OMITTED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "rad": (
        ("Table 1", "which bound applies when: it is what dpradar list and the rules of assess do"),
        ("Table 3", _SYMBOLS),
    ),
    "unify": (
        ("Figure 1, middle; Figure 7, right", "accuracies of GPT-2 and CIFAR-10 models, which need a graphics card"),
        ("Table 1", "a comparison of threat models in words"),
    ),
    "measurement": (
        ("Tables 3.1, 5.1, 5.4, 7.3", "notation, and which knowledge and bound belong to which attack"),
        ("Tables 5.2, 5.3, 7.1, 7.2, 7.5, 7.7", _SETTINGS),
        (
            "Tables 7.4, 7.6",
            "accuracies of the attacked models: that of the stand-ins is a column of Tables 8.1 and 8.2; the first "
            "parameters of the white-box models are not stated",
        ),
    ),
    "thesis": (
        ("Table 2.1", _SYMBOLS),
        ("Figures 3.1 to 3.3, 4.1, 4.2", _DRAWING),
        ("Table 3.1", "definitions of granularities: dpradar account knows them by these names"),
        (
            "Figures 5.1 to 5.9, Tables 5.1, 5.2",
            "the figures and tables of [RAD], which see: 5.n is n, with the same numbers",
        ),
    ),
}
