"""The pictures of a message, small and in a row; pressing one opens it in full view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from dflash_desktop.ui.pictures.shown_picture import (
    picture_facts,
    picture_name,
    shown_picture,
)
from dflash_desktop.ui.pictures.thumbnail import PictureThumbnail
from dflash_desktop.ui.pictures.viewer import PictureViewer
from dflash_desktop.ui.widgets.flow_row import FlowRow

if TYPE_CHECKING:
    from dflash_desktop.domain.pictures import Picture
    from dflash_desktop.ui.pictures.shown_picture import PictureFiles
    from dflash_desktop.ui.theme import Theme

SIDE_PX: Final = 120


class PictureRow(QWidget):
    """Pictures of one message, in the person's order."""

    def __init__(
        self, pictures: tuple[Picture, ...], *, files: PictureFiles, theme: Theme
    ) -> None:
        super().__init__()
        self._pictures = pictures
        self._files = files
        self._theme = theme
        row = FlowRow()
        for index, picture in enumerate(pictures):
            thumbnail = PictureThumbnail(side_px=SIDE_PX, theme=theme)
            thumbnail.show_file(files.thumbnail(picture), f"Picture: {picture_name(picture)}")
            thumbnail.setToolTip(f"{picture.title}\n{picture_facts(picture)}")
            thumbnail.clicked.connect(lambda _=False, i=index: self._open(i))
            row.addWidget(thumbnail)
        self.setLayout(row)

    def _open(self, index: int) -> None:
        viewer = PictureViewer(theme=self._theme, parent=self.window())
        shown = tuple(shown_picture(one, self._files) for one in self._pictures)
        viewer.open_at(shown, index)
