"""What the `models` commands hand back, for programs and for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.library import (
    CacheSize,
    InstalledModel,
    Leftover,
    LeftoverKind,
    ModelCondition,
    ModelRole,
    RemovalPlan,
    VerificationReport,
)
from dflash_desktop.domain.problems import Problem
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_CONDITION_WORDS = {
    ModelCondition.VERIFIED: "verified",
    ModelCondition.UNVERIFIED: "not verified yet",
    ModelCondition.DAMAGED: "damaged",
    ModelCondition.ABSENT: "not there now",
}
_LEFTOVER_WORDS = {
    LeftoverKind.TRANSFER: "of a download that is no more",
    LeftoverKind.REPLACED: "an older version of a model",
    LeftoverKind.REMOVED: "of a removal that was interrupted",
    LeftoverKind.EXPORT: "of an export that is no more",
    LeftoverKind.MOVED: "of moving the library",
    LeftoverKind.UNKNOWN: "unknown, perhaps yours",
}
_DIFFERENCE_WORDS = {
    "missing": "is missing",
    "size": "has another size",
    "bytes": "has other bytes",
    "unreadable": "cannot be read",
    "extra": "is there in addition",
}


def model_form(model: InstalledModel) -> dict[str, object]:
    """One model, as all forms in docs/json.md have it."""
    manifest = model.manifest
    return {
        "id": model.id,
        "title": model.title,
        "kind": manifest.role.value,
        "precision": manifest.precision or None,
        "path": str(model.path),
        "size_bytes": manifest.size_bytes,
        "repository": manifest.repo_id or None,
        "commit": manifest.commit or None,
        "verified_at": _time(manifest.verified_at),
        "installed_at": _time(manifest.installed_at),
        "last_used_at": _time(model.last_used_at),
        "state": model.condition.value,
        "is_ours": model.is_ours,
    }


@dataclass(frozen=True, slots=True)
class ModelsResult:
    """All models."""

    models: tuple[InstalledModel, ...]
    library_dir: Path
    absence: Problem | None = None  # its disk is not there
    starter_dir: Path | None = None  # it is installed there, beside the library

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        models = [model_form(model) for model in self.models]
        return {
            "library_path": str(self.library_dir),
            "library_is_there": self.absence is None,
            "models": models,
        }

    def as_text(self) -> str:
        """A line for each model, aligned."""
        if self.absence is not None:
            return f"{self.absence.headline} {self.absence.advice}"
        place = self.starter_dir
        starter = "" if place is None else f"The starter model is installed, in {place}\n"
        if not self.models:
            other = "other " if starter else ""
            return f"{starter}There are no {other}models yet. See: dflash-desktop pull --help"
        rows = [
            (
                model.id,
                model.manifest.role.value,
                model.manifest.precision or "–",
                format_bytes(model.manifest.size_bytes),
                _CONDITION_WORDS[model.condition],
            )
            for model in self.models
        ]
        total = format_bytes(sum(m.manifest.size_bytes for m in self.models if m.is_ours))
        return f"{_table(rows)}\n\n{starter}{total} in {self.library_dir}"


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One model that was added."""

    model: InstalledModel

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {"model": model_form(self.model)}

    def as_text(self) -> str:
        """What it is called now."""
        is_image = self.model.manifest.role is ModelRole.IMAGE
        kind = "an image model" if is_image else f"a {self.model.manifest.role.value}"
        where = self.model.path
        return f"“{self.model.id}” is in the library: {kind}, used where it is, in {where}."


@dataclass(frozen=True, slots=True)
class ReportsResult:
    """What comparing every byte found."""

    reports: tuple[VerificationReport, ...]
    repaired: tuple[str, ...] = ()  # files that were brought anew
    is_repair: bool = False

    @property
    def exit_code(self) -> int:
        """0 when every model is whole, 1 when one is not."""
        return 0 if all(report.is_whole for report in self.reports) else 1

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        forms = [_report_form(report) for report in self.reports]
        return {"reports": forms, **({"repaired": list(self.repaired)} if self.is_repair else {})}

    def as_text(self) -> str:
        """The verdict on each, then what differs."""
        if not self.reports:
            return "No model of the library is here now, so there was nothing to verify."
        lines = [f"Brought anew: {path}" for path in self.repaired]
        for report in self.reports:
            amount = format_bytes(report.checked_bytes)
            if report.is_whole:
                lines.append(f"{report.model_id}: every byte is right ({amount}).")
            else:
                lines.append(f"{report.model_id}: damaged.")
            lines += [f"  {one.path} {_DIFFERENCE_WORDS[one.kind]}" for one in report.differences]
        if self.exit_code and not self.is_repair:
            lines += [
                f"To mend it: dflash-desktop models repair {report.model_id}"
                for report in self.reports
                if not report.is_whole
            ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class RemovalResult:
    """What went, or would go."""

    plan: RemovalPlan
    is_removed: bool

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "id": self.plan.model.id,
            "path": str(self.plan.model.path),
            "deletes_files": self.plan.deletes_files,
            "freed_bytes": self.plan.freed_bytes,
            "shared_bytes": self.plan.shared_bytes,
            "shared_with": [model.id for model in self.plan.shared_with],
            "shared_with_models_bytes": self.plan.shared_with_models_bytes,
            "used_by": list(self.plan.used_by),
            "is_removed": self.is_removed,
        }

    def as_text(self) -> str:
        """What was freed, and what cannot be loaded any more."""
        plan = self.plan
        if not plan.deletes_files:
            what = "is forgotten" if self.is_removed else "would be forgotten"
            lines = [f"“{plan.model.id}” {what}; its folder stays: {plan.model.path}"]
        else:
            what = "is removed" if self.is_removed else "would be removed"
            lines = [f"“{plan.model.id}” {what}: {format_bytes(plan.freed_bytes)} freed."]
        lines += plan.staying_words([f"“{model.id}”" for model in plan.shared_with])
        lines += [f"Cannot be loaded any more: {title}" for title in plan.used_by]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class PlaceResult:
    """Where the library is now."""

    library_dir: Path

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {"library_path": str(self.library_dir)}

    def as_text(self) -> str:
        """One sentence."""
        return f"The models are in {self.library_dir} now."


@dataclass(frozen=True, slots=True)
class LeftoversResult:
    """What takes room for nothing, and what of it went."""

    leftovers: tuple[Leftover, ...]
    removed: frozenset[Path]

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "leftovers": [
                {
                    "path": str(one.path),
                    "kind": one.kind.value,
                    "size_bytes": one.size_bytes,
                    "looks_like_model": one.looks_like_model,
                    "is_removed": one.path in self.removed,
                }
                for one in self.leftovers
            ]
        }

    def as_text(self) -> str:
        """A line for each."""
        if not self.leftovers:
            return "Nothing is left over."
        lines = []
        for one in self.leftovers:
            what = "removed" if one.path in self.removed else _LEFTOVER_WORDS[one.kind]
            what = f"{what}: {', '.join(one.repo_ids)}" if one.repo_ids else what
            lines.append(f"{format_bytes(one.size_bytes):>10}  {one.path}  ({what})")
            if one.looks_like_model and one.path not in self.removed:
                lines.append(f"{'':12}a model: dflash-desktop models add FOLDER")
        left = [one.kind for one in self.leftovers if one.path not in self.removed]
        if any(kind is not LeftoverKind.UNKNOWN for kind in left):
            lines.append("To remove them: dflash-desktop models leftovers --remove")
        if LeftoverKind.UNKNOWN in left:
            lines.append(
                "What is perhaps yours goes by its path only: "
                "dflash-desktop models leftovers --remove PATH"
            )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class CacheResult:
    """How much compiled models take, and what clearing freed."""

    cache: CacheSize
    freed_bytes: int

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "path": str(self.cache.path),
            "file_count": self.cache.file_count,
            "size_bytes": self.cache.size_bytes,
            "freed_bytes": self.freed_bytes,
        }

    def as_text(self) -> str:
        """One or two lines."""
        size = format_bytes(self.cache.size_bytes)
        lines = [f"Compiled models: {size} in {self.cache.file_count} files, in {self.cache.path}"]
        if self.freed_bytes:
            lines.append(f"{format_bytes(self.freed_bytes)} freed.")
        return "\n".join(lines)


def _report_form(report: VerificationReport) -> dict[str, object]:
    return {
        "id": report.model_id,
        "is_whole": report.is_whole,
        "checked_files": report.checked_files,
        "checked_bytes": report.checked_bytes,
        "verified_at": _time(report.at),
        "differences": [{"path": one.path, "kind": one.kind} for one in report.differences],
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
