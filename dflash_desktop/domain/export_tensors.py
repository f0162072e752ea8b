"""What a checkpoint's tensors mean when they are not those that the model has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_HARMLESS: Final = re.compile(
    r"(^|\.)(mtp\.|rotary_emb\.inv_freq$|rotary_emb\.original_inv_freq$|"
    # A draft is given its target's embeddings and head; some bring copies of both (case 122).
    r"embed_tokens\.weight$|lm_head\.weight$)"
)
_SHOWN: Final = 6


def harmful_tensors(
    *, missing: Sequence[str], unexpected: Sequence[str], mismatched: Sequence[str]
) -> str:
    """What is wrong, in one line; empty when nothing is.

    A missing or mismatched tensor gets random numbers, so each one counts. A tensor that the
    model does not know is what became of a missing one under another name, or a part that is left
    out: harmless only where that part is known.
    """
    left_out = [name for name in unexpected if not _HARMLESS.search(name)]
    parts = [
        f"{word}: {_listed(names)}"
        for word, names in (
            ("missing", list(missing)),
            ("of another shape", list(mismatched)),
            ("not used", left_out),
        )
        if names
    ]
    return "; ".join(parts)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
