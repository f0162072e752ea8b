"""JSON for what people type: text that is not valid Unicode must not keep the rest from saving."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable


def encode_json(value: object, *, enc_hook: Callable[[object], object] | None = None) -> bytes:
    """The value as JSON; halves of broken characters (lone surrogates) become "?"."""
    try:
        return msgspec.json.encode(value, enc_hook=enc_hook)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, enc_hook=enc_hook)
        return json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
