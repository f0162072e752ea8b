"""What every benchmark prints: a table for people, or JSON, and an exit code for scripts."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version

import psutil


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure; with `bar` it must be at most that, or at least that if more is better."""

    what: str
    value: float
    unit: str
    bar: float | None = None
    more_is_better: bool = False
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the bar is met; None without one."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.more_is_better else self.value <= self.bar


def show(title: str, rows: list[Measured], *, as_json: bool) -> int:
    """Print the figures with the conditions under which they came; 1 if a bar is missed."""
    conditions = _conditions()
    if as_json:
        figures = [asdict(row) | {"is_met": row.is_met} for row in rows]
        print(json.dumps({"title": title, "conditions": conditions, "figures": figures}, indent=1))
    else:
        print(title)
        print(", ".join(f"{name} {value}" for name, value in conditions.items()))
        width = max(len(row.what) for row in rows)
        for row in rows:
            print(f"  {row.what:{width}}  {row.value:9.3f} {row.unit:5}{_verdict(row)}")
    return int(any(row.is_met is False for row in rows))


def _verdict(row: Measured) -> str:
    words = ""
    if row.bar is not None:
        sign = ">=" if row.more_is_better else "<="
        words = f"  bar {sign} {row.bar:g}: {'met' if row.is_met else 'MISSED'}"
    return f"{words}  {row.note}".rstrip()


def _conditions() -> dict[str, str]:
    """Figures from a busy machine mean little, so the load is always shown beside them."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()) if _has_load() else "unknown"
    return {
        "system": platform.platform(),
        "cores": str(psutil.cpu_count(logical=False) or psutil.cpu_count()),
        "load": load,
        "openvino": version("openvino"),
    }


def _has_load() -> bool:
    return hasattr(os, "getloadavg")
