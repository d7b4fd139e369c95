"""What may stand in the parts of a saved result: bounds, estimates, limits, steps; ``checking`` has the whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .agreement import curves, limit_met, ordered, usable
from .bound import QUANTITIES
from .shapes import also, each, flag, mapping, maybe, name, number, table, text, whole, word

if TYPE_CHECKING:
    from .shapes import Check

SHARE = number(0.0, 1.0)
OPEN_SHARE = number(0.0, 1.0, ends=False)
DIFFERENCE = number(-1.0, 1.0)
LOSS = number(0.0, infinite=math.inf)  # an epsilon, a mu, an error
TEXT_LOSS = number(0.0, infinite="inf")  # where an infinite one is written as a text
EVIDENCE = number(0.0, 1e6)  # a lower bound on epsilon, which is a logarithm of counts
TEXTS = each(text)
SIDE = word("exact", "upper", "lower")
RELATION = word("replace-one", "add-remove", "none")


# ----------------------------------------------------------------------------------------------- parts of the results


def _bound(values: Check) -> Check:
    """Return the shape of a bound on a quantity with these values."""
    return also(
        table(
            {"value": values, "side": SIDE, "rule": name},
            {
                "cites": TEXTS,
                "assumes": TEXTS,
                "low": maybe(values),
                "high": maybe(values),
                "neighbours": maybe(name),
            },
            only=True,
        ),
        ordered("low", "value", "high"),
    )


def estimate(values: Check) -> Check:
    """Return the shape of a measured number with these values, and of its interval."""
    return also(table({"estimate": values, "low": values, "high": values}), ordered("low", "estimate", "high"))


RISK = _bound(SHARE)
FULL_RISK = also(RISK, table({"cites": TEXTS, "assumes": TEXTS}))
LEAKAGE = also(_bound(number(0.0)), table({"cites": TEXTS, "assumes": TEXTS}))
COST = mapping(maybe(LOSS))  # null is an infinite error
DISCARDED = table({"quantity": word(*QUANTITIES), "rule": text, "why": text, "bound": maybe(FULL_RISK)})
RATES = also(table({"fpr": each(SHARE), "fnr": each(each(SHARE)), "assumes": TEXTS}), curves)
PRIOR = table({}, {"size": maybe(whole()), "kappa": maybe(SHARE), "skew": maybe(LOSS), "id": maybe(text)})
RAREST = table({"tpr": FULL_RISK, "fpr": SHARE, "odds": maybe(number(0.0))})
RAW = also(table({"least": LOSS, "most": LOSS}, only=True), ordered("least", "most"))
NEAR_CEILING = {"raw": maybe(RAW), "acknowledge": word("", "near-ceiling")}
LIMIT = also(
    table(
        {
            "quantity": text,
            "limit": number(),
            "value": maybe(number(infinite=math.inf)),
            "side": SIDE,
            "met": flag,
            "rule": text,
            "source": text,
            "at": maybe(number(0.0)),
            "reason": text,
        },
        {**NEAR_CEILING, "neighbours": text},
    ),
    limit_met,
)
CHANGE = table(
    {
        "parameter": text,
        "value": maybe(number()),
        "instead_of": number(),
        "more_private": maybe(word("up", "down")),
        "reason": text,
    },
    {"exact": flag},
)
ACHIEVED = table(
    {
        "quantity": text,
        "value": number(infinite=math.inf),
        "limit": maybe(number()),
        "threat": text,
        "rule": text,
        "side": SIDE,
    },
    {**NEAR_CEILING, "neighbours": text},
)
WITNESS = also(
    table(
        {
            "first": text,
            "other": text,
            "event": text,
            "seen_first": whole(),
            "drawn_first": whole(),
            "seen_other": whole(),
            "drawn_other": whole(),
        },
        {"never": flag},
        only=True,
    ),
    ordered("seen_first", "drawn_first"),
    ordered("seen_other", "drawn_other"),
)
READING = table(
    {"method": text, "epsilon": maybe(TEXT_LOSS), "kind": word("lower", "estimate", "claim test"), "note": text}
)
STEP = table(
    {
        "step": text,
        "notion": word("pure", "gaussian", "none"),
        "loss": TEXT_LOSS,
        "counted": flag,
        "rule": text,
        "part": text,
    }
)
TOTAL = table(
    {
        "granularity": text,
        "unit": text,
        "exposed": text,
        "notion": word("pure", "gaussian", "mixed", "none"),
        "epsilon": maybe(TEXT_LOSS),
        "mu": maybe(TEXT_LOSS),
        "mu_all": TEXT_LOSS,
        "sequential_epsilon": maybe(TEXT_LOSS),
        "sequential_mu": maybe(TEXT_LOSS),
        "metric": text,
        "reason": text,
        "steps": each(STEP),
    }
)
NOTICE = table(
    {"granularity": text, "unit": text, "exposed": text, "factor": TEXT_LOSS, "implied": TEXT_LOSS, "why": text}
)
CHECK = table({"name": text, "holds": maybe(flag), "text": text})
THEOREM = also(
    table(
        {
            "rule": text,
            "title": text,
            "usable": flag,
            "why": text,
            "claimed": maybe(LOSS),
            "epsilon": maybe(LOSS),
            "error": maybe(LOSS),
            "times": maybe(LOSS),
            "bound": maybe(LEAKAGE),
        }
    ),
    usable,
)
SIMULATED = table(
    {
        "runs": whole(1),
        "seed": maybe(whole()),
        "error": LOSS,
        "error_exact": LOSS,
        "mape": maybe(LOSS),
        "mape_exact": maybe(LOSS),
    }
)
