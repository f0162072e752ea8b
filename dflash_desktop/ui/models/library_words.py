"""What the library says about a model on this disk: a row of the list, and its card."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.library import ModelCondition, ModelRole
from dflash_desktop.domain.units import format_byte_rate, format_bytes, format_seconds_left
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import TextRole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from dflash_desktop.domain.library import (
        FileDifference,
        InstalledModel,
        RemovalPlan,
        VerificationReport,
        WorkProgress,
    )

ROLE_WORDS: Final = {
    ModelRole.TARGET: "Target",
    ModelRole.DRAFT: "Draft",
    ModelRole.IMAGE: "Image model",
    ModelRole.OTHER: "Other",
}
CONDITION_LOOKS: Final = {
    ModelCondition.VERIFIED: ("verified", TextRole.MUTED, None),
    ModelCondition.UNVERIFIED: ("not verified yet", TextRole.MUTED, None),
    ModelCondition.DAMAGED: ("damaged", TextRole.BAD, IconName.CIRCLE_ALERT),
    ModelCondition.ABSENT: ("folder not found", TextRole.WARN, IconName.TRIANGLE_ALERT),
}
_IN_USE: Final = ("in use", TextRole.GOOD, IconName.CIRCLE_CHECK)
_DIFFERENCE_WORDS: Final = {
    "missing": "is missing",
    "size": "has another size",
    "bytes": "has other bytes",
    "unreadable": "cannot be read",
}
_SHOWN_DIFFERENCES: Final = 3
SHORT_COMMIT: Final = 7


class SortOrder(StrEnum):
    """How the list is sorted; the value is what the choice says."""

    NAME = "Name"
    SIZE = "Largest first"
    LAST_USED = "Last used first"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One line of the list."""

    model_id: str
    title: str
    size: str
    facts: str
    state: str
    state_role: TextRole
    icon: IconName | None

    @property
    def spoken(self) -> str:
        """The whole row for screen readers."""
        return f"{self.title}, {self.size}, {self.state}, {self.facts}"


@dataclass(frozen=True, slots=True)
class ModelCardContent:
    """Everything on the card; `load_tip` says why the model cannot be loaded, if so."""

    model_id: str
    title: str
    state: str
    state_role: TextRole
    facts: tuple[tuple[str, str], ...]
    condition: ModelCondition
    is_ours: bool
    can_repair: bool  # it is known where it came from
    can_load: bool
    makes_pictures: bool
    load_tip: str = ""


def model_row(model: InstalledModel, *, in_use_on: str, now: datetime) -> ModelRow:
    """The row of a model; `in_use_on` is the device that holds it, or empty."""
    state, role, icon = _IN_USE if in_use_on else CONDITION_LOOKS[model.condition]
    facts = (
        ROLE_WORDS[model.manifest.role],
        model.manifest.precision,
        model.manifest.commit[:SHORT_COMMIT],
        f"on {in_use_on}" if in_use_on else _used_words(model.last_used_at, now),
        "" if model.is_ours else "your own folder",
    )
    return ModelRow(
        model.id,
        model.title,
        format_bytes(model.manifest.size_bytes),
        " · ".join(fact for fact in facts if fact),
        state,
        role,
        icon,
    )


def model_facts(
    model: InstalledModel, *, in_use_on: str, now: datetime
) -> tuple[tuple[str, str], ...]:
    """Name and value of everything that is known of a model."""
    manifest = model.manifest
    kind = [ROLE_WORDS[manifest.role], manifest.precision]
    if manifest.repo_id:
        source = f"{manifest.repo_id} at {manifest.commit[:SHORT_COMMIT]}"
    elif model.is_ours:
        source = "a GGUF file that was imported here"
    else:
        source = "a folder that you added; it stays where it is"
    files = f"{len(manifest.files)} file{'s' if len(manifest.files) != 1 else ''}"
    return (
        ("Kind", ", ".join(part for part in kind if part)),
        ("Size", f"{format_bytes(manifest.size_bytes)} in {files}"),
        ("From", source),
        ("Verified", _verified_words(model, now)),
        ("Last used", f"now, on {in_use_on}" if in_use_on else _last_used(model, now)),
        ("Folder", str(model.path)),
    )


def card_content(
    model: InstalledModel,
    *,
    in_use_on: str,
    now: datetime,
    load_tip: str = "",
) -> ModelCardContent:
    """The card of a model; `load_tip` says why it cannot be loaded, if so."""
    state, role, _ = _IN_USE if in_use_on else CONDITION_LOOKS[model.condition]
    return ModelCardContent(
        model_id=model.id,
        title=model.title,
        state=state,
        state_role=role,
        facts=model_facts(model, in_use_on=in_use_on, now=now),
        condition=model.condition,
        is_ours=model.is_ours,
        can_repair=model.is_ours and bool(model.manifest.repo_id),
        can_load=not load_tip,
        makes_pictures=model.manifest.role is ModelRole.IMAGE,
        load_tip=load_tip,
    )


def day_words(when: datetime, now: datetime) -> str:
    """A day as people say it: "today at 14:05", "yesterday", "02 Nov 2026"."""
    local, today = when.astimezone(now.tzinfo), now.date()
    days = (today - local.date()).days
    if days == 0:
        return f"today at {local:%H:%M}"
    return "yesterday" if days == 1 else f"{local:%d %b %Y}"


def shown_models(
    models: Sequence[InstalledModel], *, words: str, order: SortOrder
) -> list[InstalledModel]:
    """Those that every one of the words occurs in, in this order."""
    wanted = words.casefold().split()
    found = [m for m in models if all(word in _searched(m) for word in wanted)]
    keys: dict[SortOrder, Callable[[InstalledModel], tuple[float, str]]] = {
        SortOrder.NAME: lambda m: (0, m.title.casefold()),
        SortOrder.SIZE: lambda m: (-m.manifest.size_bytes, m.title.casefold()),
        SortOrder.LAST_USED: lambda m: (
            -m.last_used_at.timestamp() if m.last_used_at else 0,
            m.title.casefold(),
        ),
    }
    return sorted(found, key=keys[order])


def library_summary(models: Sequence[InstalledModel]) -> str:
    """ "12 models, 48.2 GB"; folders of the person's own count as models, not as bytes."""
    if not models:
        return ""
    count = f"{len(models)} model{'s' if len(models) != 1 else ''}"
    ours = sum(model.manifest.size_bytes for model in models if model.is_ours)
    return f"{count}, {format_bytes(ours)}" if ours else count


def report_words(report: VerificationReport) -> str:
    """The outcome of a verification in one or two sentences."""
    checked = f"{report.checked_files} files, {format_bytes(report.checked_bytes)}"
    if report.is_whole:
        return f"Every byte is right: {checked}."
    bad = [d for d in report.differences if d.kind != "extra"]
    shown = "; ".join(_difference_words(d) for d in bad[:_SHOWN_DIFFERENCES])
    more = len(bad) - _SHOWN_DIFFERENCES
    rest = f"; and {more} more" if more > 0 else ""
    verb = "is" if len(bad) == 1 else "are"
    return f"{len(bad)} of {report.checked_files} files {verb} not right: {shown}{rest}."


def _difference_words(difference: FileDifference) -> str:
    return f"{difference.path} {_DIFFERENCE_WORDS.get(difference.kind, difference.kind)}"


def _searched(model: InstalledModel) -> str:
    manifest = model.manifest
    return " ".join(
        (model.title, model.id, ROLE_WORDS[manifest.role], manifest.precision)
    ).casefold()


def _verified_words(model: InstalledModel, now: datetime) -> str:
    when, is_bad = model.manifest.verified_at, model.condition is ModelCondition.DAMAGED
    if when is None:
        return "damaged" if is_bad else "not yet"
    day = day_words(when, now)
    return f"checked {day}, damaged" if is_bad else f"{day}, every byte"


def _used_words(when: datetime | None, now: datetime) -> str:
    return "never used" if when is None else f"used {day_words(when, now)}"


def _last_used(model: InstalledModel, now: datetime) -> str:
    return "never" if model.last_used_at is None else day_words(model.last_used_at, now)


def fetched_words(paths: Sequence[str]) -> str:
    """What a repair brought."""
    if len(paths) == 1:
        return f"{paths[0]} was fetched again."
    return f"{len(paths)} files were fetched again."


def work_numbers(progress: WorkProgress, bytes_per_second: float | None) -> str:
    """ "2.10 GB of 4.82 GB · 1.20 GB/s · 2 s left"."""
    parts = [f"{format_bytes(progress.done_bytes)} of {format_bytes(progress.total_bytes)}"]
    if bytes_per_second:
        left = max(0, progress.total_bytes - progress.done_bytes) / bytes_per_second
        parts.append(format_byte_rate(bytes_per_second))
        parts.append(format_seconds_left(left))
    return " · ".join(parts)


def removal_words(plan: RemovalPlan) -> tuple[str, str]:
    """The question before a removal, and the words on its button."""
    model = plan.model
    if not plan.deletes_files:
        words = f"Take “{model.title}” off the list? Its files stay in {model.path}."
        label = "Take off the list"
    else:
        freed = format_bytes(plan.freed_bytes)
        words = f"Remove “{model.title}”? {model.path} is deleted, which frees {freed}."
        label = f"Remove {freed}"
        names = [f"“{one.title}”" for one in plan.shared_with]
        words = " ".join((words, *plan.staying_words(names)))
    if plan.used_by:
        words += f" {' and '.join(plan.used_by)} cannot be loaded afterwards."
    return words, label
