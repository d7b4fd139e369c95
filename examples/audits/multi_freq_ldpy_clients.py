"""Audit the client functions of multi-freq-ldpy: what leaves a person's device.

Run: make audits, or PYTHONPATH=.venv/audited python examples/audits/multi_freq_ldpy_clients.py
"""

from __future__ import annotations

import numpy as np
import xxhash
from multi_freq_ldpy.long_freq_est.dBitFlipPM import dBitFlipPM_Client
from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Client
from multi_freq_ldpy.long_freq_est.L_LH import L_LH_Client
from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Client
from multi_freq_ldpy.long_freq_est.L_OUE import L_OUE_Client
from multi_freq_ldpy.long_freq_est.L_SOUE import L_SOUE_Client
from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Client
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
from numba import njit
from verdicts import Case, main

import dpradar as dr

M, EPSILON = 10, 1.0
FOREVER = 2.0  # what the longitudinal protocols promise about any number of reports; EPSILON is about the first one


@njit
def seed_compiled(seed: int) -> None:
    """Set the seed of compiled functions, which have a generator of their own."""
    np.random.seed(seed)  # noqa: NPY002 (what the library draws from)


def reports(client, read, *options, before=(EPSILON,)):
    """Return what an audit starts with: the client called once for each value, its reports read as arrays."""

    def start(seed):
        seed_compiled(seed)
        np.random.seed(seed)  # noqa: NPY002 (LH draws the seed of its hash from here)
        return lambda values, _: read([client(int(value), M, *before, *options) for value in values])

    return start


def as_sets(subsets):
    """Return a row of M bits for each subset."""
    bits = np.zeros((len(subsets), M), dtype=bool)
    bits[np.arange(len(subsets))[:, None], np.array(subsets)] = True
    return bits


def as_hashed(g):
    """Return what reads (hash, seed) as the set of the values that have this hash."""

    def read(pairs):
        return np.array([[xxhash.xxh32(str(v), seed=seed).intdigest() % g == y for v in range(M)] for y, seed in pairs])

    return read


# A hashed report tells which values have its hash, and no more. That is a row of bits like those of unary encoding.
SETS = {"protocol": dr.OUE(m=M, epsilon=EPSILON)}
SYMMETRIC, OPTIMAL = False, True  # the last argument of their clients


def once():
    """Return the protocols of one report."""
    direct, histogram = ({"protocol": kind(m=M, epsilon=EPSILON)} for kind in (dr.GRR, dr.SHE))
    many = round(np.exp(EPSILON)) + 1
    return [
        ("GRR", reports(GRR_Client, np.array), direct, 1.0),
        ("SUE", reports(UE_Client, np.array, SYMMETRIC), SETS, 1.0),
        ("OUE", reports(UE_Client, np.array, OPTIMAL), SETS, 1.0),
        ("SS", reports(SS_Client, as_sets), SETS, 1.0),
        ("BLH", reports(LH_Client, as_hashed(2), SYMMETRIC), SETS, 0.5),
        ("OLH", reports(LH_Client, as_hashed(many), OPTIMAL), SETS, 0.5),
        # SHE and THE differ in what the server does; both get this vector.
        ("HE", reports(HE_Client, np.array), histogram, 1.0),
    ]


def first():
    """Return the first reports of the longitudinal protocols."""
    direct = {"protocol": dr.GRR(m=M, epsilon=EPSILON)}
    both = (FOREVER, EPSILON)
    return [
        ("L-GRR", reports(L_GRR_Client, np.array, before=both), direct, 1.0),
        ("L-SUE", reports(L_SUE_Client, np.array, before=both), SETS, 0.2),
        ("L-OUE", reports(L_OUE_Client, np.array, before=both), SETS, 0.2),
        ("L-OSUE", reports(L_OSUE_Client, np.array, before=both), SETS, 0.2),
        ("L-SOUE", reports(L_SOUE_Client, np.array, before=both), SETS, 0.2),
        # One round, of M buckets and all their bits; a report about fewer bits leaks less.
        ("dBitFlipPM", reports(dBitFlipPM_Client, np.array, before=(M, M, EPSILON)), SETS, 0.2),
        ("L-BLH", reports(L_LH_Client, as_hashed(2), SYMMETRIC, before=both), SETS, 0.5),
    ]


def cases():
    """Return the clients with what they promise."""
    loose = {"L-GRR"}  # its formula leaves out terms, on the safe side
    return [
        Case(name=name, start=start, epsilon=EPSILON, how=how, share=share, tight=name not in loose)
        for name, start, how, share in [*once(), *first()]
    ]


if __name__ == "__main__":
    main("multi-freq-ldpy", cases(), {}, trials=200_000)
