"""What a pair's memory is computed from: the graphs and files of its folders, or known facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.catalogue import ModelKind
from dflash_desktop.domain.ir_graph import IrGraph, IrLayer, IrOutput
from dflash_desktop.domain.pair_sizes import catalogue_sizes
from dflash_desktop.services.pair_memory import pair_budget, pair_sizes
from tests.domain.pairs import draft, pair, target
from tests.fakes.ir_models import HIDDEN, VOCABULARY, write_draft, write_target

if TYPE_CHECKING:
    from pathlib import Path


def states(*shapes: tuple[int, ...]) -> IrGraph:
    layers = tuple(
        IrLayer(number, f"state.{number}", "ReadValue", (IrOutput(0, (), shape),))
        for number, shape in enumerate(shapes)
    )
    return IrGraph(layers, {}, {}, 0)


def test_a_cache_is_what_grows_with_the_conversation() -> None:
    key = value = (-1, 8, -1, 128)
    convolution, recurrent = (-1, 2048, 4), (-1, 32, 128, 128)

    assert states(key, value).kv_values_per_token() == 2 * 8 * 128
    assert states(key, value, convolution, recurrent).kv_values_per_token() == 2 * 8 * 128
    assert states(convolution, recurrent, (-1, -1, -1, -1), ()).kv_values_per_token() == 0


def test_folders_tell_their_sizes_themselves(tmp_path: Path) -> None:
    write_target(tmp_path / "target")
    write_draft(tmp_path / "draft")
    sizes = pair_sizes(tmp_path / "target", tmp_path / "draft")

    assert sizes is not None
    assert sizes.target_bytes == sum(f.stat().st_size for f in (tmp_path / "target").glob("*.bin"))
    assert sizes.draft_bytes == (tmp_path / "draft" / "openvino_model.bin").stat().st_size
    assert sizes.hidden_values == 3 * HIDDEN
    assert sizes.table_values == VOCABULARY * HIDDEN
    assert sizes.largest_tensor_bytes is not None
    assert 0 < sizes.largest_tensor_bytes <= sizes.target_bytes
    assert not sizes.is_estimated


def test_a_target_alone_has_nothing_of_a_draft(tmp_path: Path) -> None:
    write_target(tmp_path / "target")
    sizes = pair_sizes(tmp_path / "target", None)

    assert sizes is not None
    assert (sizes.draft_bytes, sizes.draft_kv_values, sizes.hidden_values) == (0, 0, 0)


async def test_a_folder_that_is_no_model_has_no_budget(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "not there"):
        budget = await pair_budget(folder, None, context_tokens=1, runs_on_cpu=True)
        assert budget is None


@pytest.mark.parametrize("kind", [ModelKind.TEXT, ModelKind.IMAGE])
def test_only_what_writes_words_keeps_a_cache(kind: ModelKind) -> None:
    sizes = catalogue_sizes(pair(target(kind=kind), draft()))

    assert sizes is not None
    assert (sizes.target_kv_values > 0) is (kind is ModelKind.TEXT)
    assert (sizes.draft_kv_values > 0) is (kind is ModelKind.TEXT)
