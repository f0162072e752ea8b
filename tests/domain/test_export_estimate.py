"""The memory that a plan promises, against what real exports took.

tests/data/exports/memory.jsonl is what `tests/perf/export_memory.py` wrote.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dflash_desktop.domain.checkpoint import Checkpoint
from dflash_desktop.domain.export_estimate import (
    ExportEstimate,
    estimate_export,
    largest_likely_bytes,
)
from dflash_desktop.domain.export_recipes import Recipe
from dflash_desktop.domain.export_request import WeightFormat
from dflash_desktop.services.checkpoint_inspection import checkpoint_of
from tests.exporting.measured_export import MeasuredExport

TABLE = Path(__file__).parents[1] / "data" / "exports" / "memory.jsonl"
RECIPES = {
    "draft": Recipe.DRAFT,
    "text": Recipe.TEXT_TARGET,
    "vision": Recipe.VISION_TARGET,
    "qwen3_5": Recipe.VISION_TARGET,
    "qwen3_moe": Recipe.TEXT_TARGET,
}


@dataclass(frozen=True, slots=True)
class Measured(MeasuredExport):
    """One line of the table."""

    @property
    def id(self) -> str:
        return f"{self.shape} {self.weight_format}"

    @property
    def peak_bytes(self) -> int:
        """The tree's, sampled, may miss a short moment that the process itself remembers."""
        return max(self.tree_bytes, self.process_bytes)

    def estimate(self) -> ExportEstimate:
        kind = self.shape.split(":")[0]
        recipe = RECIPES[kind]
        checkpoint = Checkpoint(
            name="measured",
            model_type=kind,
            expert_count=8 if kind == "qwen3_moe" else 0,
            architectures=("DFlashDraftModel",) if recipe.is_draft else ("Qwen3ForCausalLM",),
            parameters=self.parameters,
            largest_tensor_values=self.largest_tensor_values,
            weights_bytes=self.checkpoint_bytes,
        )
        return estimate_export(
            checkpoint,
            recipe,
            WeightFormat(self.weight_format),
            group_size=64,
            all_layers=recipe.is_draft,
        )


ROWS = [Measured(**json.loads(line)) for line in TABLE.read_text("utf-8").splitlines()]
IDS = [row.id for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_estimate_is_within_a_quarter_of_the_measured_peak(row: Measured) -> None:
    estimate = row.estimate()

    assert estimate.peak_bytes == pytest.approx(row.peak_bytes, rel=0.25)
    assert largest_likely_bytes(estimate.peak_bytes) > row.peak_bytes


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_disk_is_enough(row: Measured) -> None:
    estimate = row.estimate()

    needed = row.output_bytes + row.temporary_bytes
    promised = estimate.output_bytes + estimate.temporary_bytes
    assert needed < promised * 1.05
    assert estimate.output_bytes == pytest.approx(row.output_bytes, rel=0.1, abs=20_000_000)


def test_the_table_has_enough_of_both_kinds() -> None:
    assert sum(row.is_calibration for row in ROWS) >= 6
    assert sum(not row.is_calibration for row in ROWS) >= 4
    assert {row.shape.split(":")[0] for row in ROWS} == set(RECIPES)


def test_a_mixture_of_experts_is_counted_as_wide_as_the_exporter_makes_it() -> None:
    experts = Checkpoint(name="e", expert_count=8, parameters=10**9, weights_bytes=2 * 10**9)

    estimate = estimate_export(experts, Recipe.TEXT_TARGET, WeightFormat.INT4)

    assert "4.00 GB for the checkpoint (1.00 billion as 32 bits" in estimate.formula
    assert "a mixture of experts is widened" in estimate.formula
    dense = estimate_export(
        replace(experts, expert_count=0), Recipe.TEXT_TARGET, WeightFormat.INT4
    )
    assert estimate.peak_bytes > 2 * dense.peak_bytes
    assert estimate.temporary_bytes - dense.temporary_bytes == 2 * experts.parameters
    assert "experts" not in dense.formula


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ({"num_experts": 128}, 128),
        ({"text_config": {"num_local_experts": 16}}, 16),
        ({"n_routed_experts": 64}, 64),
        ({"num_experts": None}, 0),
        ({"num_experts": "8"}, 0),
    ],
)
def test_the_configuration_tells_how_many_experts_there_are(
    config: dict[str, object], count: int
) -> None:
    assert checkpoint_of("c", config, {}).expert_count == count
