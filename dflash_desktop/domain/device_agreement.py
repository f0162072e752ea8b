"""Whether a device gives the answers that the processor gives (case 63)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import Problem, Remedy, Severity
from dflash_desktop.domain.text_difference import first_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

_DRIFT_FROM_TOKEN: Final = 12
"""Rounding moves a word now and then; an answer that parts sooner says something else."""


@dataclass(frozen=True, slots=True)
class DeviceAnswers:
    """One question, answered on a device and on the processor by the same model alone."""

    device_name: str
    device_text: str
    cpu_text: str
    difference_token: int | None  # the first that differs; None: none does

    @property
    def agrees(self) -> bool:
        """Whether they are the same, or part late, as rounding makes them."""
        return self.difference_token is None or self.difference_token >= _DRIFT_FROM_TOKEN

    @property
    def finding(self) -> Problem | None:
        """What to do about a device that answers differently; None if it does not."""
        if self.agrees:
            return None
        return Problem(
            code="device_answers_differ",
            headline=f"{self.device_name} answers the same question differently than the "
            "processor.",
            advice="Some drivers compute wrong texts. Update the graphics driver and compare "
            "again; until then, the processor is safer. Both texts are in the details.",
            severity=Severity.WARNING,
            detail=f"On {self.device_name}:\n{self.device_text}\n\nOn the processor:\n"
            f"{self.cpu_text}",
            remedies=(Remedy.USE_CPU,),
        )


def compared(
    *, device_name: str, device: tuple[str, Sequence[int]], cpu: tuple[str, Sequence[int]]
) -> DeviceAnswers:
    """Two answers, each as text and tokens."""
    return DeviceAnswers(device_name, device[0], cpu[0], first_difference(device[1], cpu[1]))
