"""A window and a command that change one library at the same time."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.library import ModelCondition
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.models_in_use import ModelsInUse
from tests.fakes.library_world import app_paths, many_models

if TYPE_CHECKING:
    from dflash_desktop.domain.library import InstalledModel

ROUNDS = 12
BUSY = """
    import asyncio, sys
    from pathlib import Path
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.model_library import ModelLibrary
    from tests.fakes.library_world import app_paths, arrive

    async def work():
        paths, name = app_paths(Path(sys.argv[1])), sys.argv[2]
        library = ModelLibrary(paths=paths)
        stays = library.known("owner/model-0")
        for number in range(int(sys.argv[3])):
            arrived = arrive(paths.incoming_dir / name, {"a.bin": name.encode() * 1000})
            await library.install(
                arrived.folder, repo_id="owner/shared", commit=f"{number:040x}",
                endpoint="", files=arrived.files, title=name,
            )
            await library.verify("owner/model-0")
            await library.note_used(PairFolders("", "", stays.path, None))
            if number % 3 == 2:
                try:
                    await library.remove("owner/shared")
                except Exception as error:
                    if getattr(error, "problem", None) is None:
                        raise
    asyncio.run(work())
"""


def started(script: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(script), *arguments, str(ROUNDS)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def test_what_is_read_meanwhile_is_always_whole_and_nothing_is_left_over(
    tmp_path: Path,
) -> None:
    paths = app_paths(tmp_path)
    many_models(paths, 3)
    script = tmp_path / "busy.py"
    script.write_text(textwrap.dedent(BUSY), encoding="utf-8")
    workers = [started(script, str(tmp_path), name) for name in ("window", "command")]
    library = ModelLibrary(paths=paths)
    seen: list[InstalledModel] = []
    while any(worker.poll() is None for worker in workers):
        await library.refresh()
        models = {model.id: model for model in library.models()}
        assert {"owner/model-0", "owner/model-1", "owner/model-2"} <= models.keys()
        assert {m.condition for m in models.values() if m.id != "owner/shared"} == {
            ModelCondition.VERIFIED
        }
        seen += [model for model in library.models() if model.id == "owner/shared"]
        await asyncio.sleep(0.01)
    for worker in workers:
        _, fault = worker.communicate()
        assert worker.returncode == 0, fault
    assert len({model.manifest.commit for model in seen}) > 1
    assert {model.title for model in seen} <= {"window", "command"}
    await library.refresh()
    kept = library.find("owner/model-0")
    assert kept is not None
    assert kept.last_used_at is not None
    names = {path.name for path in paths.models_dir.iterdir()}
    assert names == {model.path.name for model in library.models()}
    assert not [path for path in paths.models_dir.rglob("*.new")]  # noqa: C416


LOADED = """
    import asyncio, sys
    from pathlib import Path
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.model_library import ModelLibrary
    from tests.fakes.library_world import app_paths

    library = ModelLibrary(paths=app_paths(Path(sys.argv[1])))
    model = library.known("owner/model-0")
    asyncio.run(library.note_used(PairFolders("", "", model.path, None)))
    print("loaded", flush=True)
    sys.stdin.read()
"""


async def test_what_a_window_has_loaded_no_command_removes_until_the_window_ends(
    tmp_path: Path,
) -> None:
    paths = app_paths(tmp_path)
    many_models(paths, 2)
    script = tmp_path / "loaded.py"
    script.write_text(textwrap.dedent(LOADED), encoding="utf-8")
    library = ModelLibrary(paths=paths)
    upkeep = LibraryUpkeep(paths=paths, library=library)
    window = started(script, str(tmp_path))
    assert window.stdout is not None
    assert await asyncio.to_thread(window.stdout.readline) == "loaded\n"

    for attempt in (library.plan_removal("owner/model-0"), library.remove("owner/model-0")):
        with pytest.raises(AppError) as raised:
            await attempt
        assert raised.value.problem.code == "model_in_use"
    with pytest.raises(AppError) as raised:
        await upkeep.move(tmp_path / "new")
    assert raised.value.problem.code == "library_in_use"
    await library.remove("owner/model-1")

    window.kill()
    await asyncio.to_thread(window.communicate)
    await library.remove("owner/model-0")
    assert library.models() == ()


def test_what_a_dead_process_left_is_swept_and_rubbish_counts_for_nothing(tmp_path: Path) -> None:
    marks = ModelsInUse(tmp_path)
    (tmp_path / "1.lock").touch()
    (tmp_path / "1.json").write_text('{"version": 1, "folders": ["/somewhere"]}')
    assert marks.by_others() == ()
    held = InstallLock(tmp_path / "2.lock")
    assert held.acquire()
    for text in ("", "{", '{"version": 2, "folders": ["/x"]}', '{"version": 1, "folders": [5]}'):
        (tmp_path / "2.json").write_text(text)
        assert marks.by_others() == ()
    (tmp_path / "2.json").write_text('{"version": 1, "folders": ["/x"]}')
    assert marks.by_others() == (Path("/x"),)
    marks.mark([tmp_path])
    assert {path.name for path in tmp_path.iterdir()} == {
        "2.lock",
        "2.json",
        f"{os.getpid()}.lock",
        f"{os.getpid()}.json",
    }
    held.release()
