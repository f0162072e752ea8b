"""Takes the internet away from this process and from everything that it starts, for good.

On Linux the kernel refuses such sockets, also to native code; other systems have nothing that a
program may do to itself, so there Python's own calls are refused.
"""

from __future__ import annotations

import ctypes
import ipaddress
import os
import platform
import struct
import sys
from typing import Final

NO_NETWORK_VARIABLE: Final = "DFLASH_NO_NETWORK"
"""Set to 1, this program and all its processes stay off the network, whatever the settings say."""

_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_MODE_FILTER: Final = 2
_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_REFUSE: Final = 0x00050000 | 13  # SECCOMP_RET_ERRNO with EACCES
_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL: Final = 0x15
_RETURN: Final = 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FAMILY_AT = 0, 4, 16  # in seccomp_data
_INTERNET: Final = (2, 10)  # AF_INET, AF_INET6
_MACHINES: Final = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""Of each its name in audit records, and the number of socket()."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def is_network_forbidden() -> bool:
    """Whether the environment keeps this process off the network."""
    return os.environ.get(NO_NETWORK_VARIABLE, "") not in ("", "0")


def forbid_internet(*, kills: bool = False) -> bool:
    """Refuse internet sockets from now on; whether the kernel does it, native code included.

    With `kills` whoever opens one is ended at once, which tests use. Call it before threads are
    started: it holds for this thread and all that begins later.
    """
    is_held = sys.platform.startswith("linux") and _filter(_KILL if kills else _REFUSE)
    if not is_held:
        sys.addaudithook(_refuse)
    return is_held


def _filter(action: int) -> bool:
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return False
    architecture, socket_number = machine
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 0, 6, architecture),  # programs of another kind are none of ours
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_EQUAL, 0, 4, socket_number),
        (_LOAD, 0, 0, _FAMILY_AT),
        (_JUMP_EQUAL, 1, 0, _INTERNET[0]),
        (_JUMP_EQUAL, 0, 1, _INTERNET[1]),
        (_RETURN, 0, 0, action),
        (_RETURN, 0, 0, _ALLOW),
    ]
    packed = b"".join(struct.pack("=HBBI", *step) for step in steps)
    program = _Program(len(steps), packed)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    address = ctypes.cast(ctypes.byref(program), ctypes.c_void_p)
    return bool(libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, address, 0, 0) == 0)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: Python's sockets reach this machine and no other."""
    if event in ("socket.connect", "socket.sendto") and len(arguments) > 1:
        if not _is_here(arguments[1]):
            raise PermissionError(f"{event}: this process has no network")
    elif event == "socket.getaddrinfo" and not _is_here((arguments[0],)):
        raise PermissionError(f"{event}: this process has no network")


def _is_here(address: object) -> bool:
    if not isinstance(address, tuple) or not address:
        return True  # a socket of this machine's own kind
    host = address[0].decode("ascii", "replace") if isinstance(address[0], bytes) else address[0]
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False
