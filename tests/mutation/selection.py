"""Which tests are run for a mutant: quick ones that are about its module, the most likely to notice it first."""

from __future__ import annotations

# The longest prefix of a module's path that stands here decides.
TESTS: dict[str, tuple[str, ...]] = {
    "audits": ("unit/test_audit.py", "unit/test_audit_runs.py", "unit/test_samples.py", "unit/test_executable.py"),
    "audits/epsilon_inversion": ("unit/test_inversion.py",),
    "audits/epsilon_limits": ("unit/test_limits.py", "unit/test_audit.py"),
    "audits/samples": ("unit/test_samples.py", "unit/test_audit.py"),
    "bounds": (
        "oracles/test_closed_forms.py",
        "oracles/test_exact_means_it.py",
        "oracles/test_black_box.py",
        "twin/test_twin_formulas.py",
        "properties/test_sandwich.py",
        "unit/test_rates.py",
    ),
    "bounds/exact": (
        "oracles/test_closed_forms.py",
        "oracles/test_exact_means_it.py",
        "twin/test_twin_brute.py",
        "properties/test_sandwich.py",
    ),
    "bounds/exact/continuous_prior": ("twin/test_twin_continuous.py", "oracles/test_exact_means_it.py"),
    "bounds/exact/gaussian_bends": ("oracles/test_bends.py", "oracles/test_enclosures.py"),
    "bounds/exact/laplace_bends": ("oracles/test_bends.py", "oracles/test_enclosures.py"),
    "bounds/exact/repeated_counts": ("oracles/test_repeated_counts.py", "unit/test_repeated_reports.py"),
    "bounds/exact/known_cell": ("oracles/test_known_cells.py", "twin/test_twin_brute.py"),
    "bounds/exact/argmax_location": ("oracles/test_likeliest.py", "twin/test_twin_brute.py"),
    "bounds/exact/line_noise": (
        "twin/test_twin_lines.py",
        "properties/test_line_engine.py",
        "properties/test_shifts.py",
    ),
    "bounds/exact/vector_noise": ("oracles/test_vectors.py", "twin/test_twin_vectors.py"),
    "bounds/rarest_value": ("unit/test_ceiling.py", "present/test_verdicts.py"),
    "guarantees": (
        "oracles/test_composition.py",
        "unit/test_profile.py",
        "unit/test_curves.py",
        "oracles/test_renyi.py",
        "oracles/test_adjacency.py",
        "oracles/test_small_deltas.py",
    ),
    "guarantees/curves": ("unit/test_curves.py", "unit/test_profile.py", "oracles/test_composition.py"),
    "guarantees/losses": (
        "unit/test_composed_losses.py",
        "unit/test_listed_losses.py",
        "oracles/test_composition.py",
        "oracles/test_extremes.py",
    ),
    "guarantees/renyi": ("oracles/test_renyi.py", "oracles/test_small_deltas.py"),
    "guarantees/renyi_pairs": ("oracles/test_small_deltas.py", "oracles/test_composition.py"),
    "mechanisms/adapters": (
        "unit/test_opendp_distances.py",
        "oracles/test_adjacency.py",
        "unit/test_sampling_assumed.py",
        "contract/test_dp_accounting.py",
        "oracles/test_composition.py",
    ),
    "mechanisms/noise": ("unit/test_sensitivity.py", "unit/test_samplers.py", "oracles/test_closed_forms.py"),
    "numerics": ("unit/test_numerics.py", "unit/test_limits.py", "oracles/test_intervals.py", "unit/test_rates.py"),
    "numerics/decimals": ("unit/test_decimals.py",),
    "numerics/shift_to_zero": ("unit/test_numerics.py", "properties/test_shifts.py", "twin/test_twin_lines.py"),
    "numerics/rounding": ("unit/test_numerics.py", "present/test_numbers.py"),
    "results": ("unit/test_results.py", "unit/test_saved_files.py", "present/test_verdicts.py"),
    "results/checking": ("unit/test_saved_files.py", "unit/test_results.py"),
    "results/disclosure": ("unit/test_disclosure.py",),
    "threats": ("unit/test_threats.py", "unit/test_priors.py", "unit/test_ceiling.py"),
    "threats/ceiling": ("unit/test_ceiling.py",),
}


def tests_of(module: str) -> tuple[str, ...]:
    """Return the tests of a module, named by its path in the package without the ending; () where none are listed."""
    parts = module.split("/")
    for length in range(len(parts), 0, -1):
        if found := TESTS.get("/".join(parts[:length])):
            return found
    return ()
