"""What Windows shows of each executable in its properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_build import layout

if TYPE_CHECKING:
    from pathlib import Path

_DESCRIPTIONS: Final = {
    layout.WINDOW: layout.APP_NAME,
    f"{layout.WINDOW}-console": f"{layout.APP_NAME} (command line)",
    layout.ENGINE: f"{layout.APP_NAME} (engine)",
}
_FORM: Final = """\
VSVersionInfo(
  ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3f, flags=0x0,
                    OS=0x40004, fileType=0x1, subtype=0x0, date=(0, 0)),
  kids=[
    StringFileInfo([StringTable("040904B0", [
      StringStruct("FileDescription", {description!r}),
      StringStruct("FileVersion", {version!r}),
      StringStruct("InternalName", {name!r}),
      StringStruct("LegalCopyright", "Apache-2.0; see the folder licences"),
      StringStruct("OriginalFilename", {file_name!r}),
      StringStruct("ProductName", {product!r}),
      StringStruct("ProductVersion", {version!r}),
    ])]),
    VarFileInfo([VarStruct("Translation", [0x409, 1200])]),
  ])
"""


def write_all(folder: Path) -> None:
    """One file for each executable, in the form that PyInstaller reads."""
    version = layout.project().version
    for name, description in _DESCRIPTIONS.items():
        text = _FORM.format(
            numbers=four_numbers(version),
            description=description,
            version=version,
            name=name,
            file_name=f"{name.removesuffix('-console')}{'.com' if 'console' in name else '.exe'}",
            product=layout.APP_NAME,
        )
        (folder / f"{name}.version").write_text(text, encoding="utf-8")


def four_numbers(version: str) -> tuple[int, int, int, int]:
    """ "1.2.3" as Windows counts: (1, 2, 3, 0)."""
    parts = [int(part) for part in version.split(".")]
    first, second, third, fourth = (*parts, 0, 0, 0, 0)[:4]
    return first, second, third, fourth
