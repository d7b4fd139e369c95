"""Audit the clients of pure-ldp: what leaves a person's device.

Run: make audits, or PYTHONPATH=.venv/audited python examples/audits/pure_ldp_clients.py
"""

from __future__ import annotations

import random

import numpy as np
import xxhash
from pure_ldp.core import generate_hash_funcs
from pure_ldp.frequency_oracles import (
    CMSClient,
    DEClient,
    FastLHClient,
    HadamardMechClient,
    HadamardResponseClient,
    HEClient,
    LHClient,
    PCSClient,
    RAPPORClient,
    UEClient,
)
from verdicts import Case, main

import dpradar as dr

M, EPSILON = 10, 1.0
SEEDS = 1000  # hash functions of the fast variant of local hashing
WIDTH = 16  # cells of a sketch


def from_zero(value):
    """Values are 0 .. M-1 here; pure-ldp counts from 1 unless told otherwise."""
    return value


OURS = {"index_mapper": from_zero}


def reports(client, read):
    """Return what an audit starts with: the client called once for each value, its reports read as arrays."""

    def start(seed):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 (what the library draws from)
        return lambda values, _: read([client.privatise(int(value)) for value in values])

    return start


def as_hashed(client):
    """Return what reads (hash, seed) as the set of the values that have this hash."""

    def read(pairs):
        hashed = [[xxhash.xxh32(str(v), seed=seed).intdigest() % client.g for v in range(M)] for _, seed in pairs]
        return np.array(hashed) == np.array([[y] for y, _ in pairs])

    return read


def as_signs(outputs):
    """Read (column, sign) pairs as the set of the values whose row of the Hadamard matrix has these signs."""
    pairs = np.array([list(output) for output in outputs])  # report, pair, (column, sign)
    signs = 1 - 2 * (np.bitwise_count(np.arange(M)[:, None, None] & pairs[:, :, 0]) % 2).astype(int)
    return (signs == pairs[:, :, 1]).all(axis=2).T


def as_cells(functions, signs=None):
    """Return what reads (vector, number of the hash function) as the set of the values whose cell is 1, or its sign."""
    cells = np.array([[function(str(v)) for v in range(M)] for function in functions])
    supported = (
        np.ones_like(cells) if signs is None else np.array([[2 * s(str(v)) - 1 for v in range(M)] for s in signs])
    )

    def read(pairs):
        vectors = np.array([vector for vector, _ in pairs])
        rows, places = np.arange(len(pairs))[:, None], np.array([place for _, place in pairs])
        return vectors[rows, cells[places]] == supported[places]

    return read


def as_coefficients(functions, matrix):
    """Return what reads (sign, number of the hash function, row) as the set of the values with this sign in the row."""
    cells = np.array([[function(str(v)) for v in range(M)] for function in functions])

    def read(rows):
        signs, places, lines = np.array(rows).T
        return matrix[lines[:, None], cells[places]] == signs[:, None]

    return read


def sketches(how):
    """Return the clients that hash into a sketch of 16 cells with one of two functions, which the report names."""
    random.seed(1)
    functions, signs = generate_hash_funcs(2, WIDTH), generate_hash_funcs(2, 2)
    hcms = CMSClient(EPSILON, functions, WIDTH, is_hadamard=True)
    pcs = PCSClient(EPSILON, 2, WIDTH, list(zip(functions, signs, strict=True)))
    # With f = 1/2 a bit is kept with probability 3/4; epsilon is what the library itself says about it.
    rappor = RAPPORClient(0.5, WIDTH, [[function] for function in functions], num_of_cohorts=2, **OURS)
    return [
        ("CMS", CMSClient(EPSILON, functions, WIDTH), EPSILON, as_cells(functions), how, 0.5),
        ("HCMS", hcms, EPSILON, as_coefficients(functions, hcms.had), how, 0.5),
        ("PCS", pcs, EPSILON, as_cells(functions, signs), how, 0.3),
        ("RAPPOR", rappor, rappor.convert_f_to_eps(0.5, 1), as_cells(functions), how, 0.3),
    ]


def cases():
    """Return the clients with what they promise."""
    # A report that tells which values speak for it, and no more, is read like a row of bits of unary encoding.
    sets = {"protocol": dr.OUE(m=M, epsilon=EPSILON)}
    blh, olh = LHClient(EPSILON, M, **OURS), LHClient(EPSILON, M, use_olh=True, **OURS)
    fast = FastLHClient(EPSILON, M, SEEDS, use_olh=True, **OURS)
    direct, histogram, response = (kind(m=M, epsilon=EPSILON) for kind in (dr.GRR, dr.SHE, dr.HadamardResponse))
    hadamard = HadamardResponseClient(EPSILON, M, None, **OURS)
    # Above epsilon 1 it has another matrix, which dpradar does not describe: pair and event are searched for.
    general = HadamardResponseClient(2.0, M, list(range(M)), **OURS)
    listed = [
        ("DE", DEClient(EPSILON, M, **OURS), EPSILON, np.array, {"protocol": direct}, 1.0),
        ("SUE", UEClient(EPSILON, M, **OURS), EPSILON, np.array, sets, 0.3),
        ("OUE", UEClient(EPSILON, M, use_oue=True, **OURS), EPSILON, np.array, sets, 0.3),
        ("BLH", blh, EPSILON, as_hashed(blh), sets, 0.5),
        ("OLH", olh, EPSILON, as_hashed(olh), sets, 0.5),
        ("FastOLH", fast, EPSILON, as_hashed(fast), sets, 0.5),
        ("HE", HEClient(EPSILON, M, **OURS), EPSILON, np.array, {"protocol": histogram}, 1.0),
        ("HadamardResponse", hadamard, EPSILON, np.array, {"protocol": response}, 0.5),
        ("HadamardResponse, general", general, 2.0, np.array, {"domain": M}, 0.5),
        ("HadamardMech t=1", HadamardMechClient(EPSILON, M, 1, **OURS), EPSILON, as_signs, sets, 0.5),
        ("HadamardMech t=2", HadamardMechClient(EPSILON, M, 2, **OURS), EPSILON, as_signs, sets, 0.5),
        *sketches(sets),
    ]
    return [
        Case(name=name, start=reports(client, read), epsilon=epsilon, how=how, share=share)
        for name, client, epsilon, read, how, share in listed
    ]


SKIPPED = {
    "SketchResponse": "it only passes a hash of the value to one of the clients above",
}

if __name__ == "__main__":
    main("pure-ldp", cases(), SKIPPED, trials=300_000)
