"""The statements behind the rules as functions, for those who check a derivation, compare formulas or measure speed.

``dpradar.assess`` chooses among them and says which one it used; the pages of derivations prove them. Names here change
only as SemVer says.

Examples
--------
The largest rad of any mechanism with epsilon = 1 about two equally likely values:

>>> from dpradar.theorems import pure_black_box
>>> import numpy as np
>>> round(pure_black_box(np.array([0.5, 0.5]), 1.0).proven, 6)
0.231059
"""

from .audits.epsilon_limits import Tally
from .bounds.approx_black_box import approx_black_box
from .bounds.exact.finite_channel import finite_risk
from .bounds.exact.randomised_response import diagonal_risk
from .bounds.exact.set_partitions import partition_risk
from .bounds.exact.set_reports import inclusion_risk
from .bounds.exact.set_windows import set_window_risk
from .bounds.fano import fano_success, generalised_fano, replaced_information
from .bounds.information_bound import information_advantage
from .bounds.profile_black_box import any_knowledge_bound, pure_any_knowledge
from .bounds.pure_black_box import pure_black_box
from .bounds.rad import knapsack, pairwise_knapsack
from .calibration.risk_order import no_riskier
from .data.sampling_region import sampling_distance, walk_average
from .guarantees.composition import composition, forget_compositions
from .guarantees.curves import approx_curve, gaussian_curve
from .guarantees.information import information_of_pairs
from .guarantees.losses import compose
from .guarantees.pairs import GaussianPair, LaplacePair, SampledGaussianPair
from .guarantees.renyi import RenyiBound, doubled_renyi, renyi_curve, renyi_epsilon, zcdp_success
from .numerics.confidence_sequences import always_low

__all__ = [
    "GaussianPair",
    "LaplacePair",
    "RenyiBound",
    "SampledGaussianPair",
    "Tally",
    "always_low",
    "any_knowledge_bound",
    "approx_black_box",
    "approx_curve",
    "compose",
    "composition",
    "diagonal_risk",
    "doubled_renyi",
    "fano_success",
    "finite_risk",
    "forget_compositions",
    "gaussian_curve",
    "generalised_fano",
    "inclusion_risk",
    "information_advantage",
    "information_of_pairs",
    "knapsack",
    "no_riskier",
    "pairwise_knapsack",
    "partition_risk",
    "pure_any_knowledge",
    "pure_black_box",
    "renyi_curve",
    "renyi_epsilon",
    "replaced_information",
    "sampling_distance",
    "set_window_risk",
    "walk_average",
    "zcdp_success",
]
