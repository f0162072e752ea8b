"""Who may reach a network: only a transfer that a person started, and none once it is off."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.services.export_environment_store import ExportEnvironmentStore
from dflash_desktop.services.export_environments import ExportEnvironments
from dflash_desktop.services.export_guard import ExportGuard, StepCommand
from dflash_desktop.services.export_install import ExportInstall
from dflash_desktop.services.export_lock import ExportLock
from dflash_desktop.services.uv_program import python_inside
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.services.worker_launch import WorkerLauncher, leashed, worker_environment
from dflash_desktop.workers.no_internet import NO_NETWORK_VARIABLE
from dflash_desktop.workers.protocol import Hello
from tests.fakes.download_world import until, until_state
from tests.fakes.fake_hub import FakeHub, serve, small_repo
from tests.fakes.ir_models import write_draft, write_target
from tests.fakes.library_world import app_paths
from tests.services.test_downloads_hub import HubWorld, wish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.worker_launch import WorkerCommand

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="asks Linux's kernel who is held"
)
ROOT = Path(__file__).parents[2]


async def _is_held(command: WorkerCommand) -> bool:
    """Whether the kernel refuses internet sockets to this worker."""
    channel = WorkerChannel(command)
    held = False
    async for event in channel.events():
        if isinstance(event, Hello):
            status = (Path("/proc") / str(channel.pid) / "status").read_text("ascii")
            held = "Seccomp:\t2" in status
            break
    channel.kill_tree()
    await channel.exited
    return held


def test_a_program_of_others_cannot_either_where_the_environment_forbids_it() -> None:
    opens = leashed((sys.executable, "-c", "import socket; socket.socket()"))
    env = worker_environment() | {NO_NETWORK_VARIABLE: "1"}
    done = subprocess.run(opens, env=env, capture_output=True, text=True, check=False, cwd=ROOT)
    assert "PermissionError" in done.stderr


async def test_the_check_of_the_export_tools_cannot_either(tmp_path: Path) -> None:
    code = "import socket; socket.socket()"
    python = python_inside(tmp_path / "env")
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\nexec {shlex.join((sys.executable, '-c', code))}\n", "utf-8")
    python.chmod(0o755)
    log_file = tmp_path / "log"
    install = ExportInstall(store=ExportEnvironmentStore(tmp_path), log_file=log_file)
    await install.fault(tmp_path / "env", ExportLock(tmp_path / "lock.txt", "", ()))
    assert "PermissionError" in log_file.read_text("utf-8")


@pytest.mark.parametrize("worker", ["engine", "probe", "pictures", "guard"])
async def test_no_worker_but_the_fetcher_can_reach_a_network(worker: str, tmp_path: Path) -> None:
    launcher = WorkerLauncher(log_dir=tmp_path)
    assert await _is_held(getattr(launcher, worker)())


async def test_the_fetcher_cannot_either_once_the_network_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not await _is_held(WorkerLauncher(log_dir=tmp_path).fetch())
    assert await _is_held(WorkerLauncher(log_dir=tmp_path, is_network_off=lambda: True).fetch())
    monkeypatch.setenv(NO_NETWORK_VARIABLE, "1")
    assert await _is_held(WorkerLauncher(log_dir=tmp_path).fetch())


async def test_what_an_export_starts_can_reach_no_network(tmp_path: Path) -> None:
    code = "import socket, subprocess, sys\ntry: socket.socket()\nexcept OSError: sys.exit(7)"
    guard = ExportGuard(launcher=WorkerLauncher(log_dir=tmp_path))
    step = StepCommand(
        (sys.executable, "-c", code), dict(os.environ), tmp_path, tmp_path / "log", "mark"
    )
    ended = await guard.run(step, lambda _: None)
    assert ended.code == 7


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubWorld]:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    hub = FakeHub([small_repo("team/target", weights_bytes=4_000_000)])
    with serve(hub):
        yield HubWorld(tmp_path, hub)


async def test_with_the_network_off_nothing_is_asked_of_a_hub(
    world: HubWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NO_NETWORK_VARIABLE, "1")
    downloads = world.downloads()
    request = wish(world.hub.repos[0])
    with pytest.raises(AppError) as refused:
        await downloads.plan(request)
    assert refused.value.problem.code == "network_off"
    downloads.add(request)
    failed = await until_state(downloads, TransferState.FAILED)
    await downloads.close()
    assert failed.problem is not None
    assert failed.problem.code == "network_off"
    assert world.hub.seen == []


async def test_switching_it_off_ends_a_transfer_in_the_middle_and_keeps_what_arrived(
    world: HubWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.hub.repos[0].file("openvino_model.bin").bytes_per_second = 400_000
    downloads = world.downloads()
    downloads.add(wish(world.hub.repos[0]))
    await until(downloads, lambda transfer: transfer.done_bytes > 200_000)
    monkeypatch.setenv(NO_NETWORK_VARIABLE, "1")
    failed = await until_state(downloads, TransferState.FAILED)
    assert failed.problem is not None
    assert failed.problem.code == "network_off"
    sent = world.hub.sent_bytes("openvino_model.bin")
    await asyncio.sleep(0.3)
    assert world.hub.sent_bytes("openvino_model.bin") - sent < 200_000, "it went on"
    monkeypatch.delenv(NO_NETWORK_VARIABLE)
    world.hub.repos[0].file("openvino_model.bin").bytes_per_second = None
    downloads.resume(downloads.transfers()[0].id)
    await until_state(downloads, TransferState.DONE)
    await downloads.close()


async def test_the_export_tools_are_not_installed_with_the_network_off(tmp_path: Path) -> None:
    environments = ExportEnvironments(paths=app_paths(tmp_path), is_network_off=lambda: True)
    with pytest.raises(AppError) as refused:
        await environments.install("transformers-5.5")
    assert refused.value.problem.code == "network_off"


def _without_internet(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.fakes.without_internet", sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"DFLASH_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )


@pytest.mark.openvino
@pytest.mark.parametrize(
    "command",
    [
        ("doctor",),
        ("recommend",),
        ("models", "list"),
        ("export-env", "status"),
        ("verify", "target", "draft"),
    ],
    ids=lambda command: command[0],
)
def test_no_command_opens_an_internet_socket(command: tuple[str, ...], tmp_path: Path) -> None:
    write_target(tmp_path / "target")
    write_draft(tmp_path / "draft")
    words = [str(tmp_path / w) if w in ("target", "draft") else w for w in command]
    done = _without_internet("-m", "dflash_desktop", *words, "--json", home=tmp_path / "home")
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert json.loads(done.stdout)["json_version"] == 1


@pytest.mark.starter
def test_no_answer_needs_an_internet_socket(tmp_path: Path, starter_pair: PairFolders) -> None:
    assert starter_pair.draft_dir is not None
    done = _without_internet(
        *("-m", "dflash_desktop", "chat", "--json", "--target", str(starter_pair.target_dir)),
        *("--draft", str(starter_pair.draft_dir), "--max-tokens", "8", "--prompt", "Say hello."),
        home=tmp_path / "home",
    )
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_a_transfer_does_open_one_and_dies_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    done = _without_internet(
        *("-m", "dflash_desktop", "pull", "owner/name", "--json"),
        *("--endpoint", "http://127.0.0.1:9"),
        home=tmp_path / "home",
    )
    assert done.returncode == 1
    assert json.loads(done.stdout.splitlines()[-1])["code"] == "worker_error"
