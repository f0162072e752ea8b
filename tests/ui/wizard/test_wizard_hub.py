"""The setup with the real downloads, the real library and a hub on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.setup import SetupStep
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.downloads import open_downloads
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.pair_library import PairLibrary
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import HubAccess
from tests.fakes.download_world import PlainReach
from tests.fakes.engine import engine_under_test, until
from tests.fakes.fake_hub import FakeHub, HubFile, HubRepo, serve
from tests.fakes.ir_models import ModelFiles, write_draft, write_target
from tests.fakes.library_world import app_paths
from tests.ui.wizard.setup_world import SetupWorld
from tests.ui.wizard.test_wizard import QWEN, cards, on_choose

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


def repo(repo_id: str, model: ModelFiles) -> HubRepo:
    """A model on disk as the hub has it."""
    files = sorted(model.folder.iterdir())
    return HubRepo(repo_id, [HubFile(file.name, file.read_bytes()) for file in files])


def hub_with_qwen(folder: Path) -> FakeHub:
    """The two repositories of one pair of the catalogue."""
    pair = next(pair for pair in load_catalogue().pairs if pair.id == QWEN)
    assert pair.target.repository is not None
    assert pair.draft is not None
    assert pair.draft.repository is not None
    return FakeHub(
        [
            repo(pair.target.repository, write_target(folder / "target")),
            repo(pair.draft.repository, write_draft(folder / "draft")),
        ]
    )


@pytest.mark.timeout(120)
async def test_a_pair_comes_from_the_hub_into_the_library_and_is_loaded(
    theme: Theme, tmp_path: Path, qtbot: QtBot
) -> None:
    paths = app_paths(tmp_path / "home")
    library = ModelLibrary(paths=paths)
    with serve(hub_with_qwen(tmp_path)) as hub:
        async with engine_under_test(tmp_path / "logs") as under_test:
            world = SetupWorld(theme, tmp_path, under_test, opens=False)
            world.transfers = downloads = open_downloads(
                paths=paths,
                launcher=WorkerLauncher(log_dir=paths.log_dir),
                models=library,
                hub=PlainReach(HubAccess(endpoint=hub.url)),
            )
            world.pairs.find = PairLibrary(
                settings=world.settings,
                starter=world.starter,  # type: ignore[arg-type]  # never ready here
                models=library,
            ).find
            world.open_anew()
            qtbot.addWidget(world.pane)
            await on_choose(world)
            cards(world)[QWEN].radio.click()
            world.button("Get it").click()
            await until(lambda: world.can_see("Download"))
            assert "licence apache-2.0" in world.words()
            world.button("Download").click()
            await until(lambda: world.is_at(SetupStep.READY))
            assert world.pairs.loads == [QWEN]
            pair = world.pairs.chosen
            assert pair is not None
            assert pair.draft_dir is not None
            assert (pair.target_dir / "openvino_model.bin").exists()
            await world.presenter.close()
            await downloads.close()
