"""Whether this machine runs on mains power or on its battery, which changes every speed."""

from __future__ import annotations

import psutil


def power_source() -> str:
    """ "mains", "battery" or "unknown"; a machine without a battery runs on mains."""
    if not hasattr(psutil, "sensors_battery"):  # psutil leaves it out where it has no way to ask
        return "unknown"
    try:
        battery = psutil.sensors_battery()
    except OSError:
        return "unknown"
    if battery is None:
        return "mains"
    return {True: "mains", False: "battery"}.get(battery.power_plugged, "unknown")
