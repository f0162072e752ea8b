"""What `dflash-desktop export plan` prints."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.domain.export_plan import ExportAlternative, ExportPlan, ExportVerdict
from dflash_desktop.domain.shell_words import command_line, shells_of
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.export_plan import ExportStep

_VERDICTS = {
    ExportVerdict.FITS: "It fits.",
    ExportVerdict.TIGHT: "It is tight.",
    ExportVerdict.CANNOT: "It cannot work here.",
}


@dataclass(frozen=True, slots=True)
class ExportPlanResult:
    """A plan, in both forms."""

    plan: ExportPlan

    @property
    def exit_code(self) -> int:
        """1 when it cannot work here."""
        return 1 if self.plan.verdict is ExportVerdict.CANNOT else 0

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        plan = self.plan
        return {
            "title": plan.request.title,
            "environment": plan.environment_id,
            "steps": [_step(step) for step in plan.steps],
            "peak_bytes": plan.peak_bytes,
            "peak_formula": plan.peak_formula,
            "disk_bytes": plan.disk_bytes,
            "temporary_bytes": plan.temporary_bytes,
            "free_disk_bytes": plan.free_disk_bytes,
            "available_bytes": plan.available_bytes,
            "verdict": plan.verdict.value,
            "reasons": list(plan.reasons),
            "warnings": list(plan.warnings),
            "fetches": [
                {
                    "repo_id": fetch.repo_id,
                    "commit": fetch.commit,
                    "file_count": fetch.file_count,
                    "size_bytes": fetch.size_bytes,
                    "missing_bytes": fetch.missing_bytes,
                    "licence": fetch.licence or None,
                }
                for fetch in plan.fetches
            ],
            "alternatives": [_alternative(one) for one in plan.alternatives],
        }

    def as_text(self) -> str:
        """The same for a person; what runs comes last, to be copied."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        plan, shell = self.plan, shells_of(sys.platform)[0]
        yield f"{plan.request.title}: {_VERDICTS[plan.verdict]}"
        yield from plan.reasons
        yield f"Memory: {format_bytes(plan.peak_bytes)} at most ({plan.peak_formula})."
        tools = ", the export tools among them" if plan.brings_tools else ""
        yield (
            f"Disk: {format_bytes(plan.disk_bytes)} stay{tools}; "
            f"{format_bytes(plan.temporary_bytes)} more are needed meanwhile; "
            f"{format_bytes(plan.free_disk_bytes)} are free."
        )
        for fetch in plan.fetches:
            yield f"Download: {fetch.repo_id}, {format_bytes(fetch.missing_bytes)}."
        yield from plan.warnings
        yield ""
        for number, step in enumerate(plan.steps, start=1):
            yield f"{number}. {step.title}"
            if step.command:
                yield f"   {command_line(step.command, shell)}"
        if plan.verdict is not ExportVerdict.FITS:
            yield ""
            yield "Instead:"
            for one in plan.alternatives:
                yield f"- {one.title}. {one.advice}"
                yield from (f"  {line}" for line in one.commands)


def _step(step: ExportStep) -> dict[str, object]:
    return {
        "name": step.name,
        "kind": step.kind.value,
        "title": step.title,
        "command": list(step.command),
        "peak_bytes": step.peak_bytes or None,
    }


def _alternative(one: ExportAlternative) -> dict[str, object]:
    return {
        "title": one.title,
        "advice": one.advice,
        "pair": one.pair_id or None,
        "weights": None
        if one.request is None
        else {str(item.role): str(item.weight_format) for item in one.request.items},
        "commands": list(one.commands),
    }
