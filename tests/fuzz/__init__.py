"""Random questions beside the independent twin, mutated files, command lines and requests: ``python -m tests.fuzz``.

Every case is a plain question (JSON data) drawn from (family, seed, index). A family judges it: the numbers of dpradar
against the truth of the twin, the answer to a damaged file against the rules that every result keeps. A finding is made
shorter and written out as a pytest file. See docs/how-to/fuzz.md.
"""
