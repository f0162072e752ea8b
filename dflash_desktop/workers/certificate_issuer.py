"""Who signed the certificate that a server shows: a company's proxy and a virus scanner sign anew.

Python tells the parts of a certificate only when it trusts it, and this is asked when it does not.
So the few bytes of DER that lead to the issuer's name are read here.
"""

from __future__ import annotations

import socket
import ssl
from typing import Final

_ORGANISATION: Final = b"\x06\x03\x55\x04\x0a"  # object identifier 2.5.4.10
_COMMON_NAME: Final = b"\x06\x03\x55\x04\x03"  # 2.5.4.3
_CONTEXT_0: Final = 0xA0


def issuer_seen_at(host: str, port: int, *, timeout_seconds: float = 5.0) -> str:
    """The issuer's name as the server shows it, or an empty text if that cannot be found out.

    Nothing is sent over this connection, which trusts anybody.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=timeout_seconds) as plain,
            context.wrap_socket(plain, server_hostname=host) as secured,
        ):
            certificate = secured.getpeercert(binary_form=True)
    except OSError:
        return ""
    return issuer_of(certificate or b"")


def issuer_of(certificate: bytes) -> str:
    """The organisation or else the common name of a DER certificate's issuer; empty if broken."""
    try:
        _, outer = _element(certificate, 0)  # Certificate
        _, body = _element(outer, 0)  # TBSCertificate
        position = 0
        if body[0] == _CONTEXT_0:  # the version, which is optional
            position = _end(body, 0)
        position = _end(body, position)  # serial number
        position = _end(body, position)  # algorithm
        _, issuer = _element(body, position)
        return _name(issuer, _ORGANISATION) or _name(issuer, _COMMON_NAME)
    except (IndexError, UnicodeDecodeError):
        return ""


def _name(issuer: bytes, identifier: bytes) -> str:
    found = issuer.find(identifier)
    if found < 0:
        return ""
    tag, value = _element(issuer, found + len(identifier))
    text = value.decode("utf-16-be" if tag == 0x1E else "utf-8")
    return "".join(character for character in text if character.isprintable())[:100]


def _element(data: bytes, position: int) -> tuple[int, bytes]:
    start, end = _bounds(data, position)
    return data[position], data[start:end]


def _end(data: bytes, position: int) -> int:
    return _bounds(data, position)[1]


def _bounds(data: bytes, position: int) -> tuple[int, int]:
    """Where the content of the element at `position` begins and ends."""
    length = data[position + 1]
    start = position + 2
    if length & 0x80:
        count = length & 0x7F
        length = int.from_bytes(data[start : start + count], "big")
        start += count
    if start + length > len(data):
        raise IndexError("an element is longer than what holds it")
    return start, start + length
