"""Which tests are run for a mutant: quick ones that are about its module, the most likely to notice it first."""

from __future__ import annotations

# The longest prefix of a module's path that stands here decides.
TESTS: dict[str, tuple[str, ...]] = {
    "audits": (
        "audits/test_audit.py",
        "audits/test_audit_runs.py",
        "audits/test_samples.py",
        "audits/test_executable.py",
    ),
    "audits/epsilon_inversion": ("audits/test_inversion.py",),
    "audits/epsilon_limits": ("audits/test_limits.py", "audits/test_audit.py"),
    "audits/samples": ("audits/test_samples.py", "audits/test_audit.py"),
    "bounds": (
        "bounds/test_oracles_closed_forms.py",
        "bounds/test_oracles_exact_means_it.py",
        "bounds/test_oracles_black_box.py",
        "twin/test_twin_formulas.py",
        "bounds/test_properties_sandwich.py",
        "bounds/test_rates.py",
    ),
    "bounds/exact": (
        "bounds/test_oracles_closed_forms.py",
        "bounds/test_oracles_exact_means_it.py",
        "twin/test_twin_brute.py",
        "bounds/test_properties_sandwich.py",
    ),
    "bounds/exact/continuous_prior": ("twin/test_twin_continuous.py", "bounds/test_oracles_exact_means_it.py"),
    "bounds/exact/gaussian_curvature": ("bounds/test_oracles_curvature.py", "bounds/test_oracles_enclosures.py"),
    "bounds/exact/laplace_curvature": ("bounds/test_oracles_curvature.py", "bounds/test_oracles_enclosures.py"),
    "bounds/exact/repeated_counts": ("bounds/test_oracles_repeated_counts.py", "mechanisms/test_repeated_reports.py"),
    "bounds/exact/known_cell": ("bounds/test_oracles_known_cells.py", "twin/test_twin_brute.py"),
    "bounds/exact/argmax_location": ("bounds/test_oracles_likeliest.py", "twin/test_twin_brute.py"),
    "bounds/exact/line_noise": (
        "twin/test_twin_lines.py",
        "bounds/test_properties_line_engine.py",
        "bounds/test_properties_shifts.py",
    ),
    "bounds/exact/vector_noise": ("bounds/test_oracles_vectors.py", "twin/test_twin_vectors.py"),
    "bounds/information_bound": ("bounds/test_oracles_information.py",),
    "bounds/profile_black_box": ("bounds/test_oracles_any_knowledge.py",),
    "bounds/rarest_value": ("threats/test_ceiling.py", "present/test_verdicts.py"),
    "guarantees": (
        "guarantees/test_oracles_composition.py",
        "guarantees/test_profile.py",
        "guarantees/test_curves.py",
        "guarantees/test_oracles_renyi.py",
        "bounds/test_oracles_adjacency.py",
        "guarantees/test_oracles_small_deltas.py",
    ),
    "guarantees/curves": (
        "guarantees/test_curves.py",
        "guarantees/test_profile.py",
        "guarantees/test_oracles_composition.py",
    ),
    "guarantees/losses": (
        "guarantees/test_composed_losses.py",
        "guarantees/test_listed_losses.py",
        "guarantees/test_oracles_composition.py",
        "bounds/test_oracles_extremes.py",
    ),
    "guarantees/information": ("bounds/test_oracles_information.py",),
    "guarantees/renyi": ("guarantees/test_oracles_renyi.py", "guarantees/test_oracles_small_deltas.py"),
    "guarantees/renyi_pairs": ("guarantees/test_oracles_small_deltas.py", "guarantees/test_oracles_composition.py"),
    "mechanisms/adapters": (
        "mechanisms/test_opendp_distances.py",
        "bounds/test_oracles_adjacency.py",
        "mechanisms/test_sampling_assumed.py",
        "contract/test_dp_accounting.py",
        "guarantees/test_oracles_composition.py",
    ),
    "mechanisms/noise": (
        "mechanisms/test_sensitivity.py",
        "mechanisms/test_simulation_samplers.py",
        "bounds/test_oracles_closed_forms.py",
    ),
    "numerics": (
        "numerics/test_numerics.py",
        "audits/test_limits.py",
        "bounds/test_oracles_intervals.py",
        "bounds/test_rates.py",
    ),
    "numerics/decimals": ("numerics/test_decimals.py",),
    "numerics/shift_to_zero": (
        "numerics/test_numerics.py",
        "bounds/test_properties_shifts.py",
        "twin/test_twin_lines.py",
    ),
    "numerics/rounding": ("numerics/test_numerics.py", "present/test_numbers.py"),
    "results": ("results/test_results.py", "results/test_saved_files.py", "present/test_verdicts.py"),
    "results/description": ("results/test_saved_files.py", "results/test_disclosure.py", "present/test_sentences.py"),
    "results/field_shapes": ("results/test_saved_files.py", "results/test_results.py"),
    "results/result_codec": ("results/test_saved_files.py", "results/test_results.py", "plugins/test_additions.py"),
    "results/schema_1": ("results/test_saved_files.py",),
    "results/disclosure": ("results/test_disclosure.py",),
    "threats": ("threats/test_threats.py", "threats/test_priors.py", "threats/test_ceiling.py"),
    "threats/ceiling": ("threats/test_ceiling.py",),
}


def tests_of(module: str) -> tuple[str, ...]:
    """Return the tests of a module, named by its path in the package without the ending; () where none are listed."""
    parts = module.split("/")
    for length in range(len(parts), 0, -1):
        if tests := TESTS.get("/".join(parts[:length])):
            return tests
    return ()
