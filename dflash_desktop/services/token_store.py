"""The token for the hub: in the system's keyring, or in memory for this run, never in a file."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_log = logging.getLogger(__name__)

SERVICE: Final = "dflash-desktop"
USER: Final = "hub token"

_SAFE_BACKENDS: Final = (
    "keyring.backends.SecretService",
    "keyring.backends.kwallet",
    "keyring.backends.libsecret",
    "keyring.backends.Windows",
    "keyring.backends.macOS",
)
"""All others either keep nothing or keep it where every program can read it."""

_MAX_TOKEN_CHARACTERS: Final = 1000


class TokenStore:
    """One token. A keyring may ask the person to unlock it, so nothing here is quick."""

    def __init__(self) -> None:
        self._of_this_run = ""

    async def can_keep(self) -> bool:
        """Whether this system has a keyring that is worth the name."""
        return await asyncio.to_thread(_has_safe_keyring)

    async def token(self) -> str:
        """The token, or an empty text."""
        return self._of_this_run or await asyncio.to_thread(_read)

    def use_for_this_run(self, token: str) -> None:
        """Take this token until the program ends. Raises `ValueError` for what is none."""
        self._of_this_run = checked_token(token)

    async def keep(self, token: str) -> bool:
        """Put it into the keyring; False: there is none, and it holds for this run only.

        Raises `ValueError` for what cannot be a token.
        """
        token = checked_token(token)
        self._of_this_run = token
        return await asyncio.to_thread(_write, token)

    async def forget(self) -> None:
        """Remove it here and from the keyring."""
        self._of_this_run = ""
        await asyncio.to_thread(_delete)


def checked_token(text: str) -> str:
    """The token without blanks around it. Raises `ValueError`, whose text does not repeat it."""
    token = text.strip()
    if not token:
        raise ValueError("The token is empty.")
    if len(token) > _MAX_TOKEN_CHARACTERS or not token.isascii() or not token.isprintable():
        raise ValueError("This is not a token: it is too long, or has characters that none has.")
    if " " in token:
        raise ValueError("This is not a token: there is a blank in it.")
    return token


def login_token(environment: Mapping[str, str] = os.environ) -> str:
    """The token of an existing login of the hub's own tools, where they keep it; may be empty."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if found := environment.get(name, "").strip():
            return found
    named = environment.get("HF_TOKEN_PATH")
    file = Path(named) if named else hf_home(environment) / "token"
    try:
        return checked_token(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""


def hf_home(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the hub's own tools keep their things."""
    if named := environment.get("HF_HOME"):
        return Path(named).expanduser()
    cache = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "huggingface"


def _has_safe_keyring() -> bool:
    import keyring

    try:
        return _is_safe(keyring.get_keyring())
    except Exception as error:  # noqa: BLE001 - backends raise whatever their libraries raise
        _log.info("no keyring: %s", type(error).__name__)
        return False


def _is_safe(backend: object) -> bool:
    parts = getattr(backend, "backends", None)
    if parts is not None:  # a chain hands a secret to its first part, and asks all of them
        parts = tuple(parts)
        return bool(parts) and all(_is_safe(part) for part in parts)
    return type(backend).__module__ in _SAFE_BACKENDS


def _read() -> str:
    import keyring

    if not _has_safe_keyring():
        return ""
    try:
        return keyring.get_password(SERVICE, USER) or ""
    except Exception as error:  # noqa: BLE001 - as above; its text might repeat the secret
        _log.info("the keyring gives no token: %s", type(error).__name__)
        return ""


def _write(token: str) -> bool:
    import keyring

    if not _has_safe_keyring():
        return False
    try:
        keyring.set_password(SERVICE, USER, token)
    except Exception as error:  # noqa: BLE001 - as above
        _log.info("the keyring takes no token: %s", type(error).__name__)
        return False
    return True


def _delete() -> None:
    import keyring

    if not _has_safe_keyring():
        return
    try:
        keyring.delete_password(SERVICE, USER)
    except Exception as error:  # noqa: BLE001 - as above; mostly there was none
        _log.info("the keyring has no token to delete: %s", type(error).__name__)
