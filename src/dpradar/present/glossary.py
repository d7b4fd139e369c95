"""The words of dpradar, each in a sentence or two."""

from __future__ import annotations

__all__ = ["GROUPS", "TERMS", "term"]

TERMS: dict[str, str] = {
    "target": "The one person whose record is protected and who is attacked. All numbers are about one person.",
    "release": "Everything that is published about the data: a table, a report of one person, a model, or several of "
    "them together.",
    "mechanism": "The random procedure that makes a release from data, with its parameters: randomised response, "
    "Laplace noise, DP-SGD.",
    "guarantee": "A promise about a mechanism that says less than the mechanism itself, such as epsilon. It always "
    "states its neighbour relation.",
    "composition": "Several releases about the same people, judged together.",
    "sensitivity": "The largest change of a result between neighbours, without noise. It is stated with its neighbour "
    "relation: one person added or removed, or one person's data replaced.",
    "query": "What one record adds to a result: one number or vector for each value that the record can have.",
    "attacker": "Whoever sees the release and guesses. The best possible one is meant, who knows the mechanism, the "
    "prior and all other records, and computes without limit.",
    "threat": "Prior, knowledge and goal together: who attacks, and what counts as success.",
    "prior": "What is believed about the target's record before the release, as probabilities. Published statistics "
    "about the population are a good one.",
    "knowledge": "What the attacker knows of the target's record for certain: nothing, everything, some columns.",
    "goal": "What counts as a right guess: the exact value, a value at most eta away, one column.",
    "membership": "The question whether the target's record was used at all, with a prior probability that it was.",
    "rad": "Reconstruction advantage: the chance of being right for a person who took part, minus the chance of "
    "being right for one who did not, for the attack that makes this difference largest. What taking "
    "part gives away.",
    "hit": "The first term of rad: how often that attack is right for a person who took part.",
    "false_hit": "The second term of rad: how often it is right for a person who did not. Knowledge about people in "
    "general, which statistics are for.",
    "success": "The largest chance of being right for a person who took part, over all attackers. Elsewhere: ReRo, "
    "reconstruction robustness; accuracy of the attack.",
    "baseline": "The best chance of being right without the release. Elsewhere: kappa, blind guess, prior success.",
    "gain": "Success minus baseline. Never larger than rad. Elsewhere: advantage.",
    "worst_gain": "What no gain exceeds, whatever the prior, knowledge and goal: the total variation. Elsewhere: "
    "(membership) advantage.",
    "tpr": "True-positive rate, the share of targets who are found. tpr at an fpr is the largest share found by any "
    "attack that wrongly flags that share of non-members.",
    "fpr": "False-positive rate, the share of non-members who are wrongly flagged.",
    "ceiling": "The rad of publishing the raw data, under the same prior, knowledge and goal. A release that reaches "
    "90 % of it or more hardly protects, however small its rad is.",
    "near-ceiling": "What a limit acknowledges that accepts a release which is hardly better than publishing the raw "
    "data: acknowledge = \"near-ceiling\".",
    "skew": "How many times as likely the likeliest value is as the rarest one. With a skewed prior an average hides "
    "what a release says about people with the rarest value.",
    "kappa": "The chance that two people drawn from the prior agree. No rad exceeds 1 - kappa.",
    "limit": "The most that you accept: of rad, success, gain, worst_gain, tpr at an fpr, epsilon at a delta, or of an "
    "error.",
    "calibration": "Finding the least noise that keeps every limit.",
    "error": "How far off a released number is: 95 of 100 are closer than this.",
    "frequency_error": "The standard deviation of an estimated frequency near 0 from one report of a local protocol; "
    "from n reports it is smaller by the square root of n.",
    "side": "Whether a number is exact, an upper or a lower bound.",
    "exact": "The value itself, for the best possible attacker; the attack that reaches it exists.",
    "upper": "Proven, and possibly larger than the truth. Shown as 'at most', rounded up. Safe to compare with "
    "a limit.",
    "lower": "Proven, and possibly smaller than the truth. Shown as 'at least', rounded down. Audits and simulations "
    "give these.",
    "vacuous": "True of almost every mechanism, and so without information: a bound that excludes less than 1 % of "
    "what is possible. It rules out almost nothing.",
    "rule": "A theorem with the code that evaluates it. Each number names its rule; `dpradar list` has all of them.",
    "attack": "A run of the optimal attacker, or of another one, on simulated reports: an estimate with an interval.",
    "audit": "A test of an implementation by its outputs. It can refute a claim; it cannot prove one.",
    "refuted": "The outputs contradict the claim, except with a probability of at most the significance.",
    "significance": "The accepted probability that an audit refutes a true claim.",
    "neighbours": "Which two data sets are compared: one record exchanged for another (replace-one), or one record "
    "there or not (add-remove). It is never guessed.",
    "replace-one": "Two data sets are neighbours when one record is exchanged for another.",
    "add-remove": "Two data sets are neighbours when one has a record that the other lacks.",
    "epsilon": "The parameter of differential privacy: no event is more than e^epsilon times as likely on one data set "
    "as on its neighbour. Smaller is more private. It is a limit on a ratio of probabilities, not a chance.",
    "leakage": "The epsilon of Bayesian DP: what epsilon becomes when records depend on each other and the other "
    "records tell about the target too. Equal to epsilon for independent records.",
    "delta": "How far (epsilon, delta)-DP may miss what epsilon alone promises: an additive probability.",
    "rho": "The parameter of zero-concentrated DP, a promise about Renyi divergences.",
    "mu": "The parameter of Gaussian DP: no easier to tell apart than two normal distributions at distance mu.",
    "tv": "Total variation: the largest difference of the probabilities of an event between neighbours.",
    "spec": "A TOML file that says what is released, who attacks and which limits hold; `dpradar run` answers it.",
}  # fmt: skip
# The words in the order in which they are met.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("What is at risk", ("target", "rad", "hit", "false_hit", "baseline", "success", "gain", "worst_gain", "ceiling")),
    ("Who attacks", ("attacker", "threat", "prior", "knowledge", "goal", "membership", "kappa", "skew", "tpr", "fpr")),
    ("What is released", ("release", "mechanism", "guarantee", "sensitivity", "query", "composition")),
    ("Parameters of guarantees", ("epsilon", "delta", "mu", "rho", "tv", "neighbours", "replace-one", "add-remove")),
    ("How sure a number is", ("side", "exact", "upper", "lower", "vacuous", "rule")),
    (
        "Decide and check",
        ("limit", "near-ceiling", "calibration", "error", "frequency_error", "attack", "audit", "refuted"),
    ),
)


def term(name: str) -> str | None:
    """Return what a word means, however it is written; None where it is not known.

    Examples
    --------
    >>> term("Worst gain") == term("worst_gain") == TERMS["worst_gain"]
    True
    """
    plain = _plain(name)
    return next((text for word, text in TERMS.items() if _plain(word) == plain), None)


def _plain(word: str) -> str:
    return word.strip().lower().replace("_", "-").replace(" ", "-")
