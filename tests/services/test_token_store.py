"""The token goes into a keyring that deserves the name, or nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

from dflash_desktop.services import token_store
from dflash_desktop.services.token_store import TokenStore, checked_token, login_token

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "hf_ThisIsSecret"  # noqa: S105 - made up


class Wallet(KeyringBackend):
    """A keyring in memory."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring's base has no types
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._ask()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._ask()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._ask()
        del self.kept[service, username]

    def _ask(self) -> None:
        if self.is_locked:
            raise RuntimeError(f"locked, and a careless backend says {TOKEN}")


class PlainFile(Wallet):
    """Keeps passwords where every program can read them."""


@pytest.fixture
def wallet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wallet]:
    before = keyring.get_keyring()
    wallet = Wallet()
    keyring.set_keyring(wallet)
    monkeypatch.setattr(token_store, "_SAFE_BACKENDS", (Wallet.__module__,))
    yield wallet
    keyring.set_keyring(before)


async def test_a_kept_token_is_there_in_the_next_run(wallet: Wallet) -> None:
    assert await TokenStore().keep(f" {TOKEN}\n")
    assert await TokenStore().token() == TOKEN
    store = TokenStore()
    await store.forget()
    assert await TokenStore().token() == ""
    await store.forget()  # there is none: nothing to say


async def test_for_this_run_means_that_no_keyring_learns_it(wallet: Wallet) -> None:
    store = TokenStore()
    store.use_for_this_run(TOKEN)
    assert await store.token() == TOKEN
    assert wallet.kept == {}
    assert await TokenStore().token() == ""


@pytest.mark.parametrize("kind", [fail.Keyring, null.Keyring, PlainFile])
async def test_without_a_real_keyring_it_holds_for_this_run_only(
    kind: type[KeyringBackend], wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_store, "_SAFE_BACKENDS", ("keyring.backends.SecretService",))
    backend = kind()
    keyring.set_keyring(backend)
    store = TokenStore()
    assert not await store.can_keep()
    assert not await store.keep(TOKEN)
    assert await store.token() == TOKEN
    assert await TokenStore().token() == ""
    assert not getattr(backend, "kept", {})


async def test_a_chain_is_as_good_as_its_worst_part(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing: type[KeyringBackend] = null.Keyring

    class Chain(PlainFile):
        backends: tuple[KeyringBackend, ...] = (wallet, nothing())

    keyring.set_keyring(Chain())
    assert not await TokenStore().can_keep()
    monkeypatch.setattr(Chain, "backends", (wallet,))
    assert await TokenStore().can_keep()


async def test_a_locked_keyring_is_no_error_and_its_words_are_not_repeated(
    wallet: Wallet, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    wallet.is_locked = True
    store = TokenStore()
    assert await store.token() == ""
    assert not await store.keep(TOKEN)
    assert await store.token() == TOKEN
    assert "RuntimeError" in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("text", ["", "  \n", "two words", "ü" * 9, "x" * 1001, "a\x00b"])
def test_what_cannot_be_a_token_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError, match="token") as caught:
        checked_token(text)
    assert not text.strip() or text.strip() not in str(caught.value)


def test_an_existing_login_is_found_where_the_hubs_tools_keep_it(tmp_path: Path) -> None:
    assert login_token({"HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path)}) == TOKEN
    assert login_token({"HF_HOME": str(tmp_path)}) == ""
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert login_token({"HF_HOME": str(tmp_path)}) == TOKEN
    (tmp_path / "huggingface").mkdir()
    (tmp_path / "huggingface" / "token").write_text("hf_other")
    assert login_token({"XDG_CACHE_HOME": str(tmp_path)}) == "hf_other"
    assert login_token({"HF_TOKEN_PATH": str(tmp_path / "token")}) == TOKEN
