"""Numbers printed in the project's theory notes, as data; all are recomputed by the twin in `test_twin_oracles*.py`.

Sources: [1] = 1-rad.md, [3] = 3-composition-and-correlation.md, [4] = 4-measurement.md; "L" is the line there.
`p(".17775")` keeps the value and how many digits after the point were printed; a recomputation agrees when it rounds to
them. Where a printed number does not, `ours` holds the recomputed one and tests compare with that.
All are replace-one, uniform prior, no knowledge, exact goal (eta = 0) unless a row says otherwise.
"""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """A printed number, its digits after the point, and our number where the printed one is wrong."""

    value: float
    digits: int
    ours: float | None = None


def p(text: str, ours: float | None = None) -> Printed:
    """A number as it was printed."""
    return Printed(float(text), len(text.partition(".")[2]), ours)


def off(number: float, printed: Printed) -> float:
    """Distance of a recomputed number from the printed one (or ours) in units of the last digit; <= 1/2 agrees."""
    reference = printed.value if printed.ours is None else printed.ours
    return abs(float(number) - reference) * 10.0**printed.digits


# [3] L472-473: Thm 5.3 on a 3 x 3 channel. Loss |x - x'|.
TINY_CHANNEL = [["0.5", "0.4", "0.1"], ["0.45", "0.35", "0.2"], ["0.1", "0.2", "0.7"]]
TINY_PRIOR = ["0.4", "0.35", "0.25"]
TINY_LAW = ["0.3825", "0.3325", "0.285"]
TINY_RAD = [
    {"knowledge": [0, 0, 0], "eta": 0, "rad": "0.17775"},
    {"knowledge": [0, 1, 1], "eta": 0, "rad": "0.2075"},
    {"knowledge": [0, 1, 2], "eta": 0, "rad": "0.2075"},
    {"knowledge": [0, 0, 0], "eta": 1, "rad": "0.17775"},
    {"knowledge": [0, 0, 0], "eta": 2, "rad": "0"},
]
TINY_TV, TINY_KAPPA, TINY_THM_4_2, TINY_EPSILON = "0.6", "0.345", "0.393", p("1.945910")

# [3] L475: m = 11 values equally spaced in [0, 1]; Laplace scale 1/eps, OUE; Gaussian with sensitivity 1.
LINE_M11 = [
    {"epsilon": 1, "laplace": p(".0443369"), "oue": p(".0746981")},
    {"epsilon": 5, "laplace": p(".2010902"), "oue": p(".4351926")},
    {"epsilon": 10, "laplace": p(".3576994"), "oue": p(".4544113")},
    {"epsilon": 14, "laplace": p(".4576497"), "oue": p(".4545430")},
]
GAUSSIAN_M11 = {"sigma": 3.730632, "rad": p(".0097212")}
# [1] L100, Fig 1: Laplace leaks less than OUE up to this epsilon.
LAPLACE_OUE_CROSSING = p("13.86282")
# [3] L271: the same crossing in the limit, 20 ln 2.
LAPLACE_OUE_LIMIT = p("13.8629")

# [3] L478-479: GRR / OUE / SS with subset size omega.
LDP_UNIFORM = [
    {"m": 3052, "epsilon": 1, "grr": p(".00056250"), "oue": p(".00028150"), "ss": p(".00028169"), "omega": 820},
    {"m": 3052, "epsilon": 4, "grr": p(".01725290"), "oue": p(".00878082"), "ss": p(".00885422"), "omega": 54},
    {"m": 3052, "epsilon": 6, "grr": p(".11645831"), "oue": p(".06589413"), "ss": p(".06841126"), "omega": 7},
    {"m": 3052, "epsilon": 8, "grr": p(".49386644"), "oue": p(".31274034"), "ss": p(".49386644"), "omega": 1},
    {"m": 3052, "epsilon": 10, "grr": p(".87800933"), "oue": p(".46673215"), "ss": p(".87800933"), "omega": 1},
    {"m": 3052, "epsilon": 12, "grr": p(".98127130"), "oue": p(".49517580"), "ss": p(".98127130"), "omega": 1},
    {"m": 5356, "epsilon": 4, "grr": p(".00990612"), "oue": p(".00500356"), "ss": p(".00501241"), "omega": 96},
    {"m": 5356, "epsilon": 6, "grr": p(".06987213"), "oue": p(".03756797"), "ss": p(".03791728"), "omega": 13},
    {"m": 5356, "epsilon": 8, "grr": p(".35741562"), "oue": p(".23202483"), "ss": p(".35741562"), "omega": 1},
    {"m": 5356, "epsilon": 10, "grr": p(".80424305"), "oue": p(".44374902"), "ss": p(".80424305"), "omega": 1},
]

# [3] L481: black box, U[10], delta = 1e-5: Prop 5.3 / Thm 5.5 = Cor 5.6 / Thm 4.2.
BLACK_BOX_U10 = [
    {"epsilon": 0.5, "prop_5_3": p(".0648821"), "thm_5_5": p(".0548366"), "thm_4_2": p(".2204336")},
    {"epsilon": 1, "prop_5_3": p(".1718382"), "thm_5_5": p(".1319770"), "thm_4_2": p(".4159103")},
    {"epsilon": 2, "prop_5_3": p(".6389156"), "thm_5_5": p(".3508586"), "thm_4_2": p(".6854369")},
    {"epsilon": 3, "prop_5_3": p(".8146343"), "thm_5_5": p(".5905710"), "thm_4_2": p(".8146343")},
    {"epsilon": 5, "prop_5_3": p(".8879530"), "thm_5_5": p(".8428262"), "thm_4_2": p(".8879530")},
]

# [3] L482: Thm 5.5 (Thm 5.15 of the thesis), delta = 0. K and R are its break item and remainder.
THM_5_5 = [
    {"prior": (0.5, 0.3, 0.2), "epsilon": 1, "bound": p(".2473359"), "K": 2, "R": p(".1738101")},
    {"prior": (0.5, 0.3, 0.2), "epsilon": 2, "bound": p(".4397423")},
    {"prior": (0.7, 0.2, 0.1), "epsilon": 1, "bound": p(".1929855")},
    {"prior": (0.4, 0.3, 0.2, 0.1), "epsilon": 1, "bound": p(".2680958")},
    {"prior": (0.4, 0.3, 0.2, 0.1), "epsilon": 2, "bound": p(".4891315"), "K": 3},
    {"prior": (0.9, 0.06, 0.04), "epsilon": 1, "bound": p(".0775639")},
]

# [3] L483: the epsilon whose Cor 5.6 bound is this RAD.
AUDIT_INVERSE = [
    {"rad": 0.5, "m": 3052, "epsilon": p("8.024535")},
    {"rad": 0.3, "m": 10, "epsilon": p("1.791759")},
    {"rad": 0.1, "m": 2, "epsilon": p(".405465")},
]

# [3] L486: sigma for RAD <= rad with mu = sqrt(steps)/sigma (double it for replace-one), Thm 5.1 / Thm 4.2.
GDP_CALIBRATION = [
    {"steps": 100, "m": 10, "rad": 0.1, "thm_5_1": p("21.9332"), "thm_4_2": p("35.7883")},
    {"steps": 100, "m": 8, "rad": 0.1, "thm_5_1": p("24.0737"), "thm_4_2": p("34.7876")},
    {"steps": 100, "m": 8, "rad": 0.2, "thm_5_1": p("13.5227"), "thm_4_2": p("17.2113")},
    {"steps": 100, "m": 8, "rad": 0.5, "thm_5_1": p("6.1218"), "thm_4_2": p("6.3160")},
    {"steps": 100, "m": 2, "rad": 0.1, "thm_5_1": p("19.7358"), "thm_4_2": p("19.7358")},
    {"steps": 100, "m": 100, "rad": 0.1, "thm_5_1": p("9.0750"), "thm_4_2": p("39.3895")},
    {"steps": 1000, "m": 10, "rad": 0.05, "thm_5_1": p("124.8832"), "thm_4_2": p("226.8983")},
]

# [3] L487: full-batch DP-SGD, m = 8, delta = 1e-5: mu of that epsilon, 1 - f(1/m), Thm 4.2, Thm 5.1 (second form).
DPSGD_M8 = [
    {"epsilon": 1, "mu": p(".2681"), "rero": p(".1888"), "thm_4_2": p(".0933"), "thm_5_1": p(".0605")},
    {"epsilon": 2, "mu": p(".5016"), "rero": p(".2582"), "thm_4_2": p(".1733"), "thm_5_1": p(".1250")},
    {"epsilon": 4, "mu": p(".9249"), "rero": p(".4108"), "thm_4_2": p(".3117"), "thm_5_1": p(".2629")},
    {"epsilon": 8, "mu": p("1.666"), "rero": p(".6970"), "thm_4_2": p(".5208"), "thm_5_1": p(".5096")},
    {"epsilon": 16, "mu": p("2.9055"), "rero": p(".9604"), "thm_4_2": p(".7470"), "thm_5_1": p(".7470")},
]

# [3] L489: Laplace, m = 10 equally spaced: epsilon for this RAD, error at 95 % = ln(20)/eps.
LAPLACE_CALIBRATION = [
    {"rad": 0.05, "epsilon": p("1.028851"), "error": p("2.911725")},
    {"rad": 0.1, "epsilon": p("2.120095"), "error": p("1.413018")},
    {"rad": 0.2, "epsilon": p("4.523660"), "error": p(".662236")},
    {"rad": 0.5, "epsilon": p("14.596744"), "error": p(".205233")},
]
# [3] L489: epsilon with 1 - f(1/10) = success for the Laplace curve f.
LAPLACE_RERO_CALIBRATION = [
    {"success": 0.2, "epsilon": p(".693147"), "error": p("4.321928")},
    {"success": 0.5, "epsilon": p("1.609438"), "error": p("1.861353")},
    {"success": 0.8, "epsilon": p("2.525729"), "error": None},
]

# [3] L492-494: values {0..100}, Laplace scale 100/eps clamped to [0, 100], goal within eta.
ADULT_ETAS = (0, 20, 40, 60, 80, 100)
ADULT_UNIFORM_RAD = {
    1: (p(".00494"), p(".11011"), p(".11028"), p(".10252"), p(".06573"), p(".00000")),
    10: (p(".04829"), p(".54259"), p(".46071"), p(".36276"), p(".19397"), p(".00000")),
    20: (p(".09422"), p(".64060"), p(".52504"), p(".39000"), p(".19791"), p(".00000")),
}
ADULT_UNIFORM_SUCCESS = {1: (p(".01484"), p(".51605"), p(".86793"), p("1.00000"), p("1.00000"), p("1.00000"))}
# Prior 1/2, 1/2 on 0 and 100 (guesses still range over {0..100}): the same for every eta below 100, 0 at 100.
ADULT_TWO_POINT_RAD = {1: p(".19673"), 10: p(".49663")}
# [1] L105, Fig 6: the eta at which RAD peaks, uniform prior.
ADULT_PEAK_ETA = {1: 26, 10: 16, 20: 11}
# [1] L134: uniform against two-point prior at eta = 20, eps = 20.
ADULT_WORST_PRIOR = {"uniform": p("0.641"), "two_point": p("0.500")}

# [4] L172: limits of the audited epsilon for OUE and OLH, ln(m + 1), and for BLH.
AUDIT_LIMITS = {3052: p("8.024"), 5356: p("8.586")}
AUDIT_LIMIT_BLH = p("0.693")

# [4] L177-184: expected audited epsilon (Cor 5.6 inversion of the success), m = 3052 and m = 5356.
AUDIT_COLUMNS = ("grr", "ss", "sue", "oue", "she", "the", "blh", "olh")
AUDIT_3052 = {
    1: ("1", ".621", ".500", ".620", ".500", ".470", ".380", ".547"),
    2: ("2", "1.436", "1.001", "1.435", "1.001", ".935", ".567", "1.414"),
    4: ("4", "3.342", "2.002", "3.334", "2.002", "1.902", ".675", "3.329"),
    6: ("6", "5.417", "3.006", "5.377", "3.006", "2.894", ".691", "5.376"),
    8: ("8", "8", "4.018", "7.237", "4.018", "3.900", ".693", "7.237"),
    10: ("10", "10", "5.050", "7.891", "5.050", "4.927", ".693", "7.891"),
    15: ("15", "15", "7.955", "8.023", "7.748", "7.526", ".694", "8.023"),
    20: ("20", "20", "10.670", "8.024", "9.967", "8.570", ".694", None),
}
AUDIT_5356 = {
    1: ("1", ".620", ".500", ".620", ".500", ".470", ".380", ".547"),
    2: ("2", "1.435", "1.000", "1.434", "1.000", ".935", ".566", "1.414"),
    4: ("4", "3.332", "2.001", "3.330", "2.001", "1.901", ".675", "3.325"),
    6: ("6", "5.357", "3.004", "5.348", "3.004", "2.892", ".691", "5.347"),
    8: ("8", "8", "4.010", "7.390", "4.010", "3.894", ".693", "7.390"),
    10: ("10", "10", "5.028", "8.361", "5.028", "4.908", ".693", "8.361"),
    15: ("15", "15", "7.833", "8.585", "7.731", "7.579", ".694", "8.585"),
    20: ("20", "20", "10.653", "8.586", "10.058", "9.031", ".694", None),
}
# Cells whose third digit is off by one (they look rounded twice; THE also depends on how its threshold is found), and
# BLH at m = 5356, where the note prints one number for both domains: ours.
AUDIT_CORRECTED = {
    (3052, 2, "blh"): 0.566469,
    (3052, 4, "olh"): 3.328453,
    (3052, 15, "blh"): 0.693475,
    (3052, 20, "blh"): 0.693475,
    (5356, 1, "the"): 0.469498,
    (5356, 8, "the"): 3.893462,
    (5356, 15, "blh"): 0.693334,
    (5356, 20, "blh"): 0.693334,
}

# [4] L186: GRR, uniform prior; then GRR with a prior of this kappa, and its limit 1 - kappa.
GRR_UNIFORM = {
    3052: {1: p("0.000563"), 5: p("0.046060"), 8: p("0.493866"), 10: p("0.878009"), 15: p("0.998740")},
    5356: {1: p("0.000321"), 5: p("0.026781"), 8: p("0.357416"), 10: p("0.804243"), 15: p("0.998178")},
}
GRR_SKEWED = [
    {"m": 3052, "kappa": 0.03, "epsilon": 10, "rad": p("0.8519"), "limit": 0.97},
    {"m": 5356, "kappa": 0.05, "epsilon": 10, "rad": p("0.7642"), "limit": 0.95},
]

# [4] L188: m = 3052, 10^6 trials: expected LDP-Auditor output (tail .0025), Cor 5.6 with a lower limit (tail .005).
LDP_AUDITOR = [
    {"protocol": "grr", "epsilon": 1, "auditor": p("0.752"), "lower": p("0.912")},
    {"protocol": "grr", "epsilon": 4, "auditor": p("3.825"), "lower": p("3.980")},
    {"protocol": "grr", "epsilon": 8, "auditor": p("7.782"), "lower": p("7.995")},
    {"protocol": "grr", "epsilon": 12, "auditor": p("10.980"), "lower": p("11.981")},
    {"protocol": "grr", "epsilon": 15, "auditor": p("12.024"), "lower": p("14.917")},
    {"protocol": "grr", "epsilon": 20, "auditor": p("12.025"), "lower": p("19.088")},
    {"protocol": "oue", "epsilon": 6, "auditor": p("5.208"), "lower": p("5.367")},
]
# [4] L189: ceilings at 10^6 trials: LDP-Auditor by tail; ours with one failure, and with none and a lower limit.
AUDITOR_CEILING = {0.0025: p("12.025"), 0.005: p("12.148")}
AUDIT_CEILING = [
    {"m": 3052, "one_failure": p("21.84"), "lower": p("20.17")},
    {"m": 5356, "one_failure": p("22.40"), "lower": p("20.73")},
    {"m": 2, "one_failure": p("13.82"), "lower": p("12.15")},
]

# [4] L193-197: what broken implementations look like. (a) GRR whose lie may be the truth.
BUG_GRR_FULL_DOMAIN = {
    0.25: p("0.826"),
    0.5: p("0.974"),
    1: p("1.3135"),
    2: p("2.127"),
    3: p("3.049"),
    5: p("5.007"),
    10: p("10.0004"),
}
# (b) GRR that keeps the value with p + 0.1; "until" is the epsilon above which the inversion is undefined.
BUG_GRR_KEEPS_MORE = [
    {"m": 3052, "audit": {1: p("5.836"), 5: p("6.260"), 8: p("8.405"), 10: p("11.83")}, "until": p("10.22")},
    {"m": 5356, "audit": {1: p("6.394"), 5: p("6.658"), 8: p("8.416"), 10: p("10.83")}, "until": p("10.78")},
]
# (c), (d) unary encoding whose true bit is set with p + (1 - p) q: audited, true, and own-curve epsilon.
BUG_UNARY_AUDIT = {
    "sue": {0.25: p("0.471"), 0.5: p("0.544"), 0.75: p("0.622")},
    "oue": {0.25: p("0.496"), 0.5: p("0.601"), 0.75: p("0.722")},
}
BUG_UNARY_TRUE = {
    "sue": {0.25: p("1.229"), 0.5: p("1.369"), 1: p("1.680"), 2: p("2.408"), 4: p("4.143")},
    "oue": {0.25: p("1.189"), 0.5: p("1.294"), 1: p("1.551"), 2: p("2.240"), 4: p("4.036")},
}
BUG_UNARY_OWN_CURVE = {
    "sue": {0.25: p("0.942"), 0.5: p("1.087"), 1: p("1.412"), 2: p("2.189"), 3: p("3.080"), 4: p("4.032")},
    "oue": {0.25: p("0.826"), 0.5: p("0.974"), 1: p("1.313"), 2: p("2.127"), 3: p("3.049"), 4: p("4.018")},
}

# [4] L200: exponential mechanism on the path with 12 nodes, weights exp(-eps d/22); "report" = output the report.
PATH_12 = [
    {
        "epsilon": 5,
        "actual_epsilon": 2.5,
        "tv": p(".592700"),
        "report": {0: (p(".174083"), p(".083333"), p(".090749")), 3: (p(".728092"), p(".509003"), p(".219089"))},
        "optimal": {0: p(".090749"), 3: p(".223671")},
    },
    {
        "epsilon": 20,
        "actual_epsilon": 10.0,
        "tv": p(".991483"),
        "report": {0: (p(".469224"), p(".083333"), p(".385890")), 3: (p(".975123"), p(".502785"), p(".472338"))},
        "optimal": {0: p(".385890"), 3: p(".506682")},
    },
]

# [4] L201: a Markov chain as knowledge: records (previous, current), GRR (m = 3) on the current state, exact goal; the
# attack reports when transition probability > tau, else draws from the chain. Success, correction, advantage.
MARKOV_CHAIN = [["0", "0.7", "0.3"], ["0.5", "0", "0.5"], ["1", "0", "0"]]
MARKOV_STATIONARY = (p(".425532"), p(".297872"), p(".276596"))
MARKOV_ATTACK = [
    {"epsilon": 1, "tau": "0", "terms": (p(".777236"), p(".651448"), p(".125788")), "bound": p(".238058")},
    {"epsilon": 1, "tau": "0.4", "terms": (p(".769945"), p(".688702"), p(".081243")), "bound": p(".238058")},
    {"epsilon": 3, "tau": "0", "terms": (p(".952409"), p(".653923"), p(".298487")), "bound": p(".564895")},
]

# [4] L202: exact black-box optimum / Thm 5.5 / Thm 7 / Thm 4.2, delta = 0.
BLACK_BOX_PRIORS = [
    {
        "prior": (0.35, 0.35, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05),
        "rows": {
            1: (p(".1784"), p(".2421"), p(".2703"), p(".3420")),
            2: (p(".3334"), p(".4524"), p(".5191"), p(".5636")),
            5: (p(".7019"), p(".7168"), p(".7248"), p(".7301")),
        },
    },
    {"prior": (0.5, 0.3, 0.1, 0.05, 0.05), "rows": {1: (p(".196655"), p(".256795"), p(".266197"), p(".298066"))}},
]

# [4] L203: Cor 1 (= Cor 5.6), delta = 0.
COR_1 = [
    {"m": 8, "epsilon": 1, "bound": p(".15470807")},
    {"m": 100, "epsilon": 5, "bound": p(".58985960")},
    {"m": 3052, "epsilon": 1, "bound": p(".00056250")},
]
# [4] L204: m = 100, delta = 1e-5: Thm 5 (WPES'24) / Cor 1.
THM_5_COR_1 = [
    {"epsilon": 1, "thm_5": p(".01818"), "cor_1": p(".01673")},
    {"epsilon": 5, "thm_5": p(".97675"), "cor_1": p(".58986")},
    {"epsilon": 8, "thm_5": p(".98934"), "cor_1": p(".95786")},
]

# [4] L205: orthogonal candidate gradients of norm C, 100 steps, delta = 1e-5, mu = sqrt(steps)/sigma.
ORTHOGONAL = [
    {"epsilon": 1, "mu": p(".2681"), "sigma": p("37.306"), "success_8": p(".1791"), "rad_8": p(".0541")},
    {"epsilon": 5, "mu": p("1.1212"), "sigma": p("8.919"), "success_8": p(".4256"), "rad_8": p(".3006")},
    {"epsilon": 10, "mu": p("2.0004"), "sigma": p("4.999"), "success_8": p(".7111"), "rad_8": p(".5861")},
    {"epsilon": 20, "mu": p("3.4478"), "sigma": p("2.900"), "success_8": p(".9606"), "rad_8": p(".8356")},
    {"epsilon": 50, "mu": p("6.6773"), "sigma": p("1.498"), "success_8": p("1.000"), "rad_8": p(".8750")},
]
ORTHOGONAL_RAD_128 = {1: p(".0074"), 5: p(".0787"), 10: p(".2861"), 20: p(".7783"), 50: p(".9921")}
ORTHOGONAL_HAYES_8 = {1: p(".1888"), 5: p(".4884"), 10: p(".8024"), 20: p(".9892"), 50: p("1.0000")}

# [1] L81: GRR calibration to RAD 0.1.
GRR_CALIBRATION = [{"m": 2, "rad": 0.1, "epsilon": p("0.405465")}, {"m": 100, "rad": 0.1, "epsilon": p("2.504379")}]

# [1] L118-122: m = 10, 100 steps, RAD 0.1: sigma by route; "printed" are those of the paper.
SIGMA_ROUTES = {
    "thm_5_1_printed": p("21.93"),
    "thm_5_1_replace_one": p("43.87"),
    "root": p("39.53"),
    "success_add_remove": p("22.73"),
    "thm_4_2_replace_one": p("71.58"),
    "thm_4_2_printed": p("35.79"),
}
# [1] L119, L132-133: orthogonal, uniform, everything known, mu = sqrt(steps)/sigma: exact RAD / the printed rule.
ORTHOGONAL_KNOWN_8 = {2: (p("0.6612"), p("0.503")), 4: (p("0.866"), p("0.615"))}
# [1] L119, L154, [4] L251 (E2): bounds at mu = 2, m = 8, with the same f. 0.597 is Thm 4.2; the notes give it for
# Thm 5.1 too, whose second form is 0.5964 (its first form, the success bound of Hayes et al. minus 1/m, is .677).
MU_2_M_8 = {"thm_4_2": p("0.597"), "thm_5_1": p("0.597", 0.596387), "root": p("0.518"), "hayes_minus_1_m": p(".677")}
# [1] L132: orthogonal candidates, mu = 1: RAD of the success-optimal and of the RAD-optimal guess.
MAP_AGAINST_RAD = {"prior": (0.5, 0.2, 0.1, 0.1, 0.05, 0.05), "mu": 1.0, "map": p("0.198"), "rad": p("0.250")}
# [3] L397-399 (E1), L410-411 (E3): m = 8 orthogonal, everything known, exact / printed rule / bound with mu unchanged.
# The note says +-.002 (Monte Carlo); the third digit of the exact values is ours.
ORTHOGONAL_KNOWN_MONTE_CARLO = [
    {"mu": 1.666, "exact": p(".577", 0.57573), "rule": p(".463", 0.46245), "bound": p(".521")},
    {"mu": 2.9, "exact": p(".808", 0.80862), "rule": p(".567"), "bound": p(".746")},
]
# [3] L398: no knowledge, mu = 2.9 (the same Monte Carlo).
ORTHOGONAL_UNKNOWN_MONTE_CARLO = {"mu": 2.9, "rad": p(".780", 0.779409)}
# [3] L399: two antipodal candidates, closed form (1/2)(2 Phi(mu) - 1) against the claimed (1/2)(2 Phi(mu/2) - 1).
# .322 belongs to the unrounded mu = 0.92493 of eps = 4; at 0.925 it is .3225.
ANTIPODAL = {"mu": 0.925, "exact": p(".322", 0.322517), "claimed": p(".178")}
# [4] L233 (5.1): the plain attack on orthogonal candidates against Thm 4.2 with the add/remove mu (so not a bound).
ADJACENCY_COUNTEREXAMPLES = [
    {"m": 4, "epsilon": 10, "rad": p(".573"), "claimed": p(".512")},
    {"m": 8, "epsilon": 20, "rad": p(".836"), "claimed": p(".801")},
    {"m": 2, "epsilon": 10, "rad": p(".421"), "claimed": p(".341")},
]
