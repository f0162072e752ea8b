"""Export environments: whole or not there, whatever happens on the way."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.domain.export_environment import EnvironmentStage, EnvironmentState
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import export_install
from dflash_desktop.services.child_run import ChildEnd
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.workers.no_internet import NO_NETWORK_VARIABLE
from tests.fakes.export_tools import MODULE, environments, use_index, write_locks
from tests.fakes.library_world import app_paths
from tests.fakes.package_index import Fault, package_index
from tests.fakes.small_disk import needs_small_disk, small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflash_desktop.domain.export_environment import EnvironmentProgress, EnvironmentStatus
    from dflash_desktop.services.export_environments import ExportEnvironments
    from tests.fakes.package_index import PackageIndex

ID, OTHER_ID = "transformers-5.5", "transformers-5.2"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with package_index() as running:
        use_index(monkeypatch, running)
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_locks(tmp_path / "locks")
    return tmp_path


def status_of(tools: ExportEnvironments, environment_id: str = ID) -> EnvironmentStatus:
    (found,) = (one for one in tools.status() if one.id == environment_id)
    return found


async def refusal(tools: ExportEnvironments, environment_id: str = ID) -> str:
    with pytest.raises(AppError) as refused:
        await tools.install(environment_id)
    assert refused.value.problem.headline
    assert refused.value.problem.advice
    return refused.value.problem.code


def imports(tools: ExportEnvironments, environment_id: str = ID) -> bool:
    """Whether the Python of the environment finds the package."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{MODULE}') is None)"
    python = tools.python(environment_id)
    return subprocess.run([python, "-I", "-c", code], check=False).returncode == 0


def left_behind(home: Path) -> set[str]:
    """Folders of environments, whole or not."""
    return {path.name for path in app_paths(home).exporters_dir.glob("transformers-*")}


async def test_an_environment_is_installed_once_and_then_simply_there(
    home: Path, index: PackageIndex
) -> None:
    tools = environments(home)
    told: list[EnvironmentProgress] = []
    states: list[EnvironmentState] = []
    tools.subscribe(lambda: states.append(status_of(tools).state))
    assert status_of(tools).state is EnvironmentState.ABSENT
    assert status_of(tools).needed_bytes > 1_000_000

    await tools.install(ID, told.append)

    assert imports(tools)
    assert status_of(tools).state is EnvironmentState.READY
    assert status_of(tools).needed_bytes == 0
    assert states == [EnvironmentState.INSTALLING, EnvironmentState.READY]
    stages = list(dict.fromkeys(progress.stage for progress in told))
    assert stages == list(EnvironmentStage)
    await tools.install(ID)
    assert index.file_requests == 1


async def test_what_two_environments_share_is_fetched_and_kept_once(
    home: Path, index: PackageIndex
) -> None:
    tools = environments(home)
    await tools.install(ID)
    assert status_of(tools, OTHER_ID).needed_bytes == 0

    await tools.install(OTHER_ID)

    assert index.file_requests == 1
    assert status_of(tools).size_bytes > 0
    assert status_of(tools, OTHER_ID).size_bytes == 0  # all of it is counted for the first
    files = list(app_paths(home).exporters_dir.rglob("Tiny Model.gguf"))
    assert len({file.stat().st_ino for file in files}) == 1
    assert len(files) == 3  # and in the cache


async def test_removing_one_leaves_the_others_and_removing_the_last_leaves_nothing(
    home: Path, index: PackageIndex
) -> None:
    tools = environments(home)
    await tools.install(ID)
    await tools.install(OTHER_ID)

    await tools.remove(ID)
    assert status_of(tools).state is EnvironmentState.ABSENT
    assert imports(tools, OTHER_ID)

    await tools.remove(OTHER_ID)
    assert list(app_paths(home).exporters_dir.iterdir()) == []


async def test_nothing_is_removed_while_an_export_runs(home: Path, index: PackageIndex) -> None:
    tools = environments(home)
    await tools.install(ID)
    export = InstallLock(app_paths(home).exports_lock_file)
    assert export.acquire()

    for change in (tools.remove, tools.repair):
        with pytest.raises(AppError, match="export_environment_in_use"):
            await change(ID)

    export.release()
    assert imports(tools)


async def test_a_package_that_is_not_the_tested_one_is_never_run(
    home: Path, index: PackageIndex
) -> None:
    write_locks(home / "locks", wheel=b"another")

    assert await refusal(environments(home)) == "export_hash_mismatch"
    assert left_behind(home) == set()


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault.NO_PACKAGE, "export_package_missing"),
        (Fault.NO_FILE, "export_index_refused"),
        (Fault.CUT, "download_failed"),
        (Fault.WEB_PAGE, "export_hash_mismatch"),
        (Fault.RUBBISH, "export_hash_mismatch"),
    ],
)
async def test_each_fault_of_an_index_has_its_words_and_leaves_nothing_half(
    home: Path, index: PackageIndex, fault: Fault, code: str
) -> None:
    index.fault = fault
    tools = environments(home)

    assert await refusal(tools) == code
    assert left_behind(home) == set()

    index.fault = Fault.NONE
    await tools.install(ID)
    assert imports(tools)


async def test_without_a_network_it_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_index(monkeypatch, None)
    assert await refusal(environments(home)) == "no_network"


async def test_cancelling_ends_the_installer_and_frees_the_turn(
    home: Path, index: PackageIndex
) -> None:
    index.fault = Fault.STALLS
    tools = environments(home)
    installing = asyncio.create_task(tools.install(ID))
    await asyncio.to_thread(index.half_sent.wait, 30)
    assert status_of(environments(home)).state is EnvironmentState.INSTALLING
    assert await refusal(environments(home), OTHER_ID) == "export_installing"

    installing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await installing

    assert psutil.Process().children(recursive=True) == []
    assert left_behind(home) == set()
    assert status_of(tools).state is EnvironmentState.ABSENT


async def test_switching_the_network_off_ends_the_installer_in_the_middle(
    home: Path, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.fault = Fault.STALLS
    tools = environments(home)
    installing = asyncio.create_task(refusal(tools))
    await asyncio.to_thread(index.half_sent.wait, 30)
    monkeypatch.setenv(NO_NETWORK_VARIABLE, "1")
    assert await asyncio.wait_for(installing, 15) == "network_off"
    assert psutil.Process().children(recursive=True) == []
    assert left_behind(home) == set()


@needs_small_disk
async def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(
    home: Path, index: PackageIndex
) -> None:
    with small_disk(home / "data", "8M"):
        with pytest.raises(AppError) as refused:
            await environments(home).install(ID)
        assert refused.value.problem.code == "disk_full"
        assert "are free" in refused.value.problem.headline
    assert index.file_requests == 0


@needs_small_disk
async def test_a_disk_that_fills_up_on_the_way_is_told_and_cleared(
    home: Path, index: PackageIndex
) -> None:
    filler_bytes = 69 << 20
    with small_disk(home / "data", "70M"):
        tools = environments(home)
        paths = app_paths(home)

        def fill(progress: EnvironmentProgress) -> None:
            if progress.stage is EnvironmentStage.PREPARING:  # the check of the room is over
                with (paths.data_dir / "filler").open("wb") as file:
                    file.truncate(0)
                    file.write(b"\0" * filler_bytes)

        with pytest.raises(AppError) as refused:
            await tools.install(ID, fill)
        assert refused.value.problem.code == "disk_full"
        assert left_behind(home) == set()

        (paths.data_dir / "filler").unlink()
        await tools.install(ID)
        assert imports(tools)


async def test_another_lock_makes_it_outdated_and_an_update_takes_its_place(
    home: Path, index: PackageIndex
) -> None:
    tools = environments(home)
    await tools.install(ID)
    before = left_behind(home)
    write_locks(home / "locks", note="newer")
    assert status_of(tools).state is EnvironmentState.OUTDATED
    with pytest.raises(AppError, match="export_environment_missing"):
        tools.python(ID)

    await tools.install(ID)

    assert status_of(tools).state is EnvironmentState.READY
    assert len(left_behind(home)) == 1
    assert left_behind(home) != before


async def test_a_repair_finds_a_changed_file_and_fetches_it_anew(
    home: Path, index: PackageIndex
) -> None:
    tools = environments(home)
    await tools.install(ID)
    await tools.repair(ID)
    assert index.file_requests == 1
    (file,) = tools.python(ID).parents[1].rglob("Tiny Model.gguf")
    file.write_bytes(b"cut")

    await tools.repair(ID)

    assert index.file_requests == 2
    (file,) = tools.python(ID).parents[1].rglob("Tiny Model.gguf")
    assert file.stat().st_size > 1_000_000


async def test_an_environment_without_its_python_is_damaged_and_can_be_repaired(
    home: Path, index: PackageIndex
) -> None:
    tools = environments(home)
    await tools.install(ID)
    tools.python(ID).unlink()
    assert status_of(tools).state is EnvironmentState.DAMAGED

    await tools.repair(ID)

    assert imports(tools)


async def test_without_the_installer_it_says_what_is_missing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_install, "find_uv", lambda: None)
    assert await refusal(environments(home)) == "export_installer_missing"


async def test_a_platform_without_locks_is_told(home: Path, tmp_path: Path) -> None:
    tools = environments(home, locks_dir=tmp_path / "none")
    assert await refusal(tools) == "export_platform_unsupported"
    assert await refusal(tools, "development") == "export_platform_unsupported"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the index has it without CUDA")
async def test_where_the_index_lacks_pytorch_without_cuda_uv_is_asked_where_it_is(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installs: list[tuple[str, ...]] = []

    async def run(argv: tuple[str, ...], **options: object) -> ChildEnd:
        if "install" not in argv:
            return ChildEnd(0, '{"fault": "", "packages": []}', "")
        installs.append(argv)
        lacks = "there is no version of torch==2.13.0+cpu and you require torch==2.13.0+cpu"
        return ChildEnd(0, "", "") if len(installs) == 2 else ChildEnd(1, "", lacks)

    monkeypatch.setattr(export_install, "run_to_end", run)
    await environments(home).install(ID)

    ordinary, other = installs
    assert other == (*ordinary, "--torch-backend", "cpu")
    assert "--require-hashes" in ordinary
