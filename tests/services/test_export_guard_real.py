"""The real export tools under the guard."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.export_run import ExportState
from tests.export_environment_fixture import cached_environments
from tests.fakes.export_plans import until
from tests.fakes.export_world import ExportWorld, export_plan, marked_processes

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT_BYTES = 200_000_000
"""Less than importing torch takes."""


@pytest.mark.export
@pytest.mark.usefixtures("export_python")
async def test_a_real_export_that_the_guard_stops_leaves_nothing_and_says_how_much_was_missing(
    tmp_path: Path,
) -> None:
    world = ExportWorld(tmp_path, cached_environments())
    world.limit_bytes = _LIMIT_BYTES
    config = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}
    (world.source / "config.json").write_text(json.dumps(config), encoding="utf-8")
    exports = world.open()
    run = exports.start(export_plan(world.source, ExportRole.TARGET, peak_bytes=700_000_000))
    await until(lambda: exports.runs()[0].state is ExportState.FAILED, seconds=60)
    stopped = exports.runs()[0]
    assert stopped.problem is not None
    assert stopped.problem.code == "export_guard_limit", stopped.problem
    assert "stopped by the memory guard at 2" in stopped.problem.headline
    assert "About 4" in stopped.problem.advice or "About 5" in stopped.problem.advice
    assert _LIMIT_BYTES < stopped.peak_bytes < _LIMIT_BYTES + 512_000_000
    assert marked_processes(run.id) == []
    (work_dir,) = world.paths.incoming_dir.iterdir()
    assert list(work_dir.iterdir()) == []
    assert world.library.models() == ()
    exports.cancel(run.id)
    await until(lambda: exports.runs()[0].state is ExportState.CANCELLED)
    assert world.left() == []
    await world.close()
