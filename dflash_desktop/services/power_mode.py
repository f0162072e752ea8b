"""Which power mode a person has chosen for this machine, as the system calls it."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import Final

_WINDOWS_OVERLAYS: Final = {
    "961cc777-2547-4f9d-8174-7d86181b8a7a": "best power efficiency",
    "00000000-0000-0000-0000-000000000000": "balanced",
    "3af9b8d9-7c97-431d-ad78-34a8bfea439f": "better performance",
    "ded574b5-45a0-4f42-8737-46345c09c238": "best performance",
}
"""https://learn.microsoft.com/windows-hardware/customize/power-settings/configure-power-overlay"""

_LINUX_FILES: Final = (
    "sys/firmware/acpi/platform_profile",  # which power-profiles-daemon sets, too
    "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
)
_DAEMON_STATE: Final = "var/lib/power-profiles-daemon/state.ini"


def power_mode() -> str:
    """ "balanced", "power-saver", "best performance" …; "" where nobody tells."""
    if sys.platform == "win32":
        return overlay_name(_effective_overlay())
    return linux_power_mode() if sys.platform.startswith("linux") else ""


def linux_power_mode(root: Path = Path("/")) -> str:
    """The firmware's profile, the daemon's, or else the processor's preference."""
    profile = _word(root / _LINUX_FILES[0])
    if profile:
        return profile
    for line in _text(root / _DAEMON_STATE).splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "Profile" and value.strip():
            return value.strip()[:40]
    return _word(root / _LINUX_FILES[1])


def overlay_name(guid: bytes) -> str:
    """The words of Windows' settings for an overlay scheme; "" for one that is not known."""
    if len(guid) != 16:
        return ""
    return _WINDOWS_OVERLAYS.get(str(uuid.UUID(bytes_le=guid)), "")


def _word(file: Path) -> str:
    return _text(file).strip()[:40]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


if sys.platform == "win32":

    def _effective_overlay() -> bytes:
        """16 bytes, or none where Windows is too old to have overlays."""
        import ctypes

        guid = (ctypes.c_ubyte * 16)()
        try:
            failed = ctypes.WinDLL("powrprof").PowerGetEffectiveOverlayScheme(ctypes.byref(guid))
        except (OSError, AttributeError):
            return b""
        return b"" if failed else bytes(guid)

else:

    def _effective_overlay() -> bytes:
        return b""
