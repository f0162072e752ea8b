"""An installation that is killed at any step: the old model is there or the new one, whole."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.library import LeftoverKind
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from tests.fakes.deadly_calls import run_script
from tests.fakes.library_world import FILES, app_paths

if TYPE_CHECKING:
    from pathlib import Path

KILLED = """
    import asyncio, os, sys
    from pathlib import Path
    from dflash_desktop.services.model_library import ModelLibrary
    from tests.fakes.deadly_calls import DeadlyCalls
    from tests.fakes.library_world import FILES, app_paths, arrive

    calls = DeadlyCalls()

    async def main():
        paths = app_paths(Path(sys.argv[1]))
        library = ModelLibrary(paths=paths)
        for version, at in (("a", 0), ("b", int(sys.argv[2]))):
            folder = paths.incoming_dir / version
            arrived = arrive(folder, FILES | {"config.json": version.encode()})
            calls.count, calls.die_at = 0, at
            await library.install(
                folder, repo_id="o/n", commit=version * 40, endpoint="", files=arrived.files
            )
        print(calls.count)

    calls.watch(os, "fsync")
    calls.watch(Path, "unlink", "rmdir", "replace", "rename", "mkdir")
    asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a POSIX signal")
def test_the_old_model_or_the_new_one_is_there_after_a_kill_at_any_step(tmp_path: Path) -> None:
    total = int(run_script(KILLED, tmp_path / "counted", 0).stdout)
    assert total > 15
    found = []
    for step in range(1, total + 1, 2):
        home = tmp_path / str(step)
        ended = run_script(KILLED, home, step)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        library = ModelLibrary(paths=app_paths(home))
        (model,) = library.models()
        version = model.manifest.commit[0]
        whole = FILES | {"config.json": version.encode()}
        assert {path: (model.path / path).read_bytes() for path in whole} == whole
        assert asyncio.run(library.verify("o/n")).is_whole
        found.append(version)
        upkeep = LibraryUpkeep(paths=app_paths(home), library=library)
        kinds = {one.kind for one in asyncio.run(upkeep.leftovers())}
        assert kinds <= {LeftoverKind.REPLACED, LeftoverKind.REMOVED}
    assert found == sorted(found)
    assert set(found) == {"a", "b"}
