"""Which half of a pair a checkpoint on this disk is, by what it says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.services.checkpoint_inspection import inspect_checkpoint

if TYPE_CHECKING:
    from pathlib import Path


def role_of(path: Path) -> ExportRole:
    """Blocking. Raises `AppError` for what is no checkpoint; a GGUF file can only be a draft."""
    if path.suffix.lower() == ".gguf":
        return ExportRole.DRAFT
    is_draft = inspect_checkpoint(path).draft_kind() is not None
    return ExportRole.DRAFT if is_draft else ExportRole.TARGET
