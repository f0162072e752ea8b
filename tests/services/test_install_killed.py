"""An installation that is killed at any step: the old model is there or the new one, whole."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from dflash_desktop.domain.library import LeftoverKind
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from tests.fakes.library_world import FILES, app_paths

KILLED = """
    import asyncio, os, sys
    from pathlib import Path
    from dflash_desktop.services.model_library import ModelLibrary
    from tests.fakes.library_world import FILES, app_paths, arrive

    calls, die_at = 0, 0

    def dying(original):
        def call(*arguments, **options):
            global calls
            calls += 1
            if calls == die_at:
                os.kill(os.getpid(), 9)
            return original(*arguments, **options)
        return call

    async def main():
        global calls, die_at
        paths = app_paths(Path(sys.argv[1]))
        library = ModelLibrary(paths=paths)
        for version, at in (("a", 0), ("b", int(sys.argv[2]))):
            folder = paths.incoming_dir / version
            arrived = arrive(folder, FILES | {"config.json": version.encode()})
            calls, die_at = 0, at
            await library.install(
                folder, repo_id="o/n", commit=version * 40, endpoint="", files=arrived.files
            )
        print(calls)

    os.fsync = dying(os.fsync)
    for name in ("unlink", "rmdir", "replace", "rename", "mkdir"):
        setattr(Path, name, dying(getattr(Path, name)))
    asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a POSIX signal")
def test_the_old_model_or_the_new_one_is_there_after_a_kill_at_any_step(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED), encoding="utf-8")

    def run(home: Path, die_at: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(script), str(home), str(die_at)],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    total = int(run(tmp_path / "counted", 0).stdout)
    assert total > 15
    found = []
    for step in range(1, total + 1, 2):
        home = tmp_path / str(step)
        ended = run(home, step)
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
