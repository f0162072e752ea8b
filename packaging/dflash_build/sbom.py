"""The bill of materials, in CycloneDX's form: what is inside, for those who look for known flaws.

Written here and not by a tool that lists an environment: the environment of a build holds what
builds and tests, too, and knows neither of Python nor of the model.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Final

from dflash_build import layout
from dflash_build.components import Component, components

_OWN_PURL: Final = "pkg:generic/{name}@{version}"


def document() -> dict[str, object]:
    """The same text for the same checkout and the same packages."""
    version = layout.project().version
    parts = [_part(one) for one in components()]
    parts += [_model()]
    own = {
        "type": "application",
        "bom-ref": "program",
        "name": layout.PACKAGE_NAME,
        "version": version,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": _OWN_PURL.format(name=layout.PACKAGE_NAME, version=version),
    }
    made_at = datetime.fromtimestamp(layout.source_date(), UTC)
    names = "\n".join(str(part["bom-ref"]) for part in parts)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, f'{made_at} {names}')}",
        "version": 1,
        "metadata": {"timestamp": made_at.isoformat(), "component": own},
        "components": parts,
        "dependencies": [{"ref": "program", "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def _part(one: Component) -> dict[str, object]:
    name = one.name.lower().replace("_", "-")
    purl = f"pkg:generic/python@{one.version}"
    if one.name != "Python":
        purl = f"pkg:pypi/{name}@{one.version}"
    part: dict[str, object] = {
        "type": "library",
        "bom-ref": purl,
        "name": one.name,
        "version": one.version,
        "description": one.summary,
        "purl": purl,
    }
    if one.licence:
        part["licenses"] = [{"license": {"name": one.licence}}]
    return part


def _model() -> dict[str, object]:
    from dflash_desktop.services.starter_store import starter_resources

    pin = starter_resources().pin
    return {
        "type": "machine-learning-model",
        "bom-ref": "starter",
        "name": pin.title,
        "version": pin.wheel.version,
        "licenses": [{"license": {"id": pin.licence}}],
        "hashes": [{"alg": "SHA-256", "content": pin.sha256}],
    }
