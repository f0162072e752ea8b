from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.services.hub_reach import SettingsHubReach, hf_cache_dirs
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.token_store import TokenStore
from dflash_desktop.workers.fetch_messages import HubAccess

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.fixture
def settings(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "settings.json")


def reach(
    settings: SettingsStore, environment: Mapping[str, str], *, endpoint: str = ""
) -> SettingsHubReach:
    return SettingsHubReach(
        settings=settings, tokens=TokenStore(), endpoint=endpoint, environment=environment
    )


async def test_the_command_goes_before_the_setting_and_that_before_the_environment(
    settings: SettingsStore,
) -> None:
    mirror = {"HF_ENDPOINT": "https://mirror.example"}
    assert (await reach(settings, {}).access()) == HubAccess()
    assert (await reach(settings, mirror).access()).endpoint == "https://mirror.example"
    settings.change(hub_endpoint=" https://own.example ")
    assert (await reach(settings, mirror).access()).endpoint == "https://own.example"
    named = reach(settings, mirror, endpoint="https://named.example")
    assert (await named.access()).endpoint == "https://named.example"


async def test_an_existing_login_is_used_only_when_the_person_agreed(
    settings: SettingsStore,
) -> None:
    environment = {"HF_TOKEN": "hf_login"}
    assert (await reach(settings, environment).access()).token == ""
    settings.change(use_hf_login=True)
    assert (await reach(settings, environment).access()).token == "hf_login"  # noqa: S105


async def test_proxy_certificates_and_limit_come_from_the_settings(
    settings: SettingsStore,
) -> None:
    settings.change(
        hub_proxy="http://proxy:8080",
        hub_ca_file=Path("/etc/company.pem"),
        download_limit_bytes_per_second=5,
    )
    chosen = reach(SettingsStore(settings._file), {})
    access = await chosen.access()
    assert (access.proxy, access.ca_file) == ("http://proxy:8080", str(Path("/etc/company.pem")))
    assert chosen.max_bytes_per_second == 50_000  # the least that is accepted


def test_xet_is_used_only_when_it_is_wanted(settings: SettingsStore) -> None:
    assert not reach(settings, {}).use_xet
    settings.change(use_xet=True)
    assert reach(settings, {}).use_xet


def test_caches_are_found_where_the_hubs_tools_put_them(
    tmp_path: Path, settings: SettingsStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("one", "home/hub", ".cache/huggingface/hub"):
        (tmp_path / name).mkdir(parents=True)
    environment = {
        "HF_HUB_CACHE": str(tmp_path / "one"),
        "HUGGINGFACE_HUB_CACHE": str(tmp_path / "absent"),
        "HF_HOME": str(tmp_path / "home"),
    }
    assert hf_cache_dirs(environment) == (
        tmp_path / "one",
        tmp_path / "home" / "hub",
        tmp_path / ".cache" / "huggingface" / "hub",
    )
    assert hf_cache_dirs({}) == (tmp_path / ".cache" / "huggingface" / "hub",)
    assert reach(settings, environment).cache_dirs()
    settings.change(use_hf_cache=False)
    assert reach(settings, environment).cache_dirs() == ()
