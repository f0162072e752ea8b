"""Where the person writes: a field that grows, long pastes as chips, Send or Stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.messages import MAX_MESSAGE_CHARACTERS
from dflash_desktop.ui.chat.message_field import MAX_FIELD_CHARACTERS, MessageField
from dflash_desktop.ui.chat.sampling_popover import SamplingPopover, sampling_words
from dflash_desktop.ui.chat.system_prompt_popover import SystemPromptPopover
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pictures.attachment_bar import AttachmentBar
from dflash_desktop.ui.pictures.sight_note import SightNote
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.domain.generation import DraftUse, SamplingParams
    from dflash_desktop.ui.theme import Theme

PICTURE_FILTER: Final = (
    "Pictures (*.jpg *.jpeg *.png *.webp *.gif *.bmp *.tif *.tiff *.avif *.heic *.heif *.jp2 "
    "*.ico *.ppm *.pgm *.pbm);;All files (*)"
)


class Composer(SurfaceFrame):
    """Signals: `send_requested(str)`, `stop_requested`, `system_prompt_changed(str)`,
    `sampling_changed(SamplingParams)`, `picking_began` before pictures are chosen,
    `files_given(paths)` as strings, `picture_pasted(bytes | QImage)`, `models_requested`.
    """

    send_requested = Signal(str)
    stop_requested = Signal()
    system_prompt_changed = Signal(str)
    sampling_changed = Signal(object)
    picking_began = Signal()
    files_given = Signal(tuple)
    picture_pasted = Signal(object)
    models_requested = Signal()

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.CARD, parent)
        self.setProperty("kind", "composer")
        self._theme = theme
        self._is_answering = False
        self._blocked_because = ""
        self._pastes: list[str] = []
        self._picture_count = 0
        self._is_preparing = False
        self.attachments = AttachmentBar(theme=theme)
        self._sight = SightNote(theme=theme)
        self._sight.models_requested.connect(self.models_requested)
        self._attach = IconButton(IconName.PAPERCLIP, "Attach pictures", theme=theme)
        self._attach.clicked.connect(self._on_attach)
        self._field = MessageField()
        self._field.files_given.connect(self.files_given)
        self._field.picture_pasted.connect(self.picture_pasted)
        self._field.send_requested.connect(self.send)
        self._field.stop_requested.connect(self._on_stop)
        self._field.paste_too_long.connect(self._on_long_paste)
        self._field.textChanged.connect(self._show_send)
        self._field.focus_changed.connect(self._show_focus)
        self._chips = QVBoxLayout()
        self._chips.setSpacing(GAP_TINY)
        self._note = Label(role=TextRole.WARN, wraps=True)
        self._note.hide()
        self._system_prompt = Button(
            "System prompt", theme=theme, kind=ButtonKind.QUIET, icon=IconName.FILE_TEXT
        )
        self._system_prompt.setToolTip("Instructions that the model reads before the chat")
        self._sampling = Button("", theme=theme, kind=ButtonKind.QUIET, icon=IconName.SLIDERS)
        self._sampling.setToolTip("How the next word is chosen")
        self._send = IconButton(
            IconName.ARROW_UP, "Send", theme=theme, role=ColourRole.ACCENT_TEXT
        )
        self._send.setProperty("kind", "round")
        self._send.clicked.connect(self._on_send_clicked)
        self._system_popover = SystemPromptPopover(theme=theme, parent=self)
        self._system_popover.changed.connect(self.system_prompt_changed)
        self._sampling_popover = SamplingPopover(theme=theme, parent=self)
        self._sampling_popover.changed.connect(self.sampling_changed)
        self._system_prompt.clicked.connect(
            lambda: self._system_popover.open_above(self._system_prompt)
        )
        self._sampling.clicked.connect(lambda: self._sampling_popover.open_above(self._sampling))
        self._lay_out()
        self._show_send()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(GAP_TINY)
        line.addWidget(self._attach)
        line.addWidget(self._system_prompt)
        line.addWidget(self._sampling)
        line.addStretch()
        line.addWidget(self._send)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(GAP_SMALL, GAP_SMALL, GAP_SMALL, GAP_SMALL)
        rows.setSpacing(GAP_TINY)
        rows.addWidget(self.attachments)
        rows.addWidget(self._sight)
        rows.addLayout(self._chips)
        rows.addWidget(self._field)
        rows.addWidget(self._note)
        rows.addLayout(line)

    @property
    def text(self) -> str:
        """Everything that would be sent."""
        return "\n\n".join(part for part in (self._field.toPlainText(), *self._pastes) if part)

    def send(self) -> None:
        """Ask to send what is written, unless there is nothing or an answer is on its way."""
        if self._is_answering or self._why_not():
            return
        text = self.text
        if text.strip() or self._picture_count:
            self.send_requested.emit(text)

    def clear(self) -> None:
        """The message was taken."""
        self._field.clear()
        self._pastes.clear()
        self._show_chips()
        self._show_note("")

    def restore(self, text: str) -> None:
        """Give a message back that was refused, unless something new was begun."""
        if not self.text.strip():
            self.clear()
            if len(text) > MAX_FIELD_CHARACTERS:
                self._on_long_paste(text)
            else:
                self._field.setPlainText(text)

    def focus_field(self) -> None:
        """Put the cursor into the field."""
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_answering(self, is_answering: bool) -> None:
        """Stop stands in the place of Send while an answer is on its way."""
        self._is_answering = is_answering
        self._field.is_answering = is_answering
        self._show_send()

    def show_blocked(self, because: str) -> None:
        """Nothing can be sent now, and why; "" when it can."""
        self._blocked_because = because
        self._show_send()

    def show_pictures(self, count: int, *, is_preparing: bool) -> None:
        """How many pictures are attached, which go with the message."""
        self._picture_count = count
        self._is_preparing = is_preparing
        self._sight.show_pictures(count)
        self._show_send()

    def show_sight(self, model_title: str, *, sees_pictures: bool) -> None:
        """Whether the model sees pictures; "" while there is none."""
        self._sight.show_model(model_title, sees_pictures=sees_pictures)
        self._show_send()

    def show_system_prompt(self, text: str) -> None:
        """The instructions of this chat."""
        self._system_popover.show_text(text)
        self._system_prompt.setText("System prompt · on" if text.strip() else "System prompt")

    def show_sampling(self, params: SamplingParams, draft: DraftUse, *, can_think: bool) -> None:
        """How words are chosen, and what that means for the draft."""
        self._sampling.setText(sampling_words(params, draft))
        self._sampling_popover.show_params(params, draft, can_think=can_think)

    def _show_send(self) -> None:
        if self._is_answering:
            self._send.show_icon(IconName.STOP)
            self._send.show_label("Stop (Esc)")
            self._send.setEnabled(True)
            return
        self._send.show_icon(IconName.ARROW_UP)
        why_not = self._why_not()
        self._send.setEnabled(not why_not)
        self._send.show_label(why_not or "Send (Enter)")

    def _why_not(self) -> str:
        """Why nothing can be sent now; "" when it can."""
        if self._blocked_because:
            return self._blocked_because
        if self._is_preparing:
            return "The pictures are still being prepared"
        if self._sight.is_needed:
            return "The model sees no pictures"
        has_text = bool(self._pastes) or not self._field.document().isEmpty()
        return "" if has_text or self._picture_count else "Write something to send"

    def _on_attach(self) -> None:
        self.picking_began.emit()
        paths, _ = QFileDialog.getOpenFileNames(self, "Attach pictures", "", PICTURE_FILTER)
        if paths:
            self.files_given.emit(tuple(paths))
        self.focus_field()

    def _on_send_clicked(self) -> None:
        if self._is_answering:
            self._on_stop()
        else:
            self.send()

    def _on_stop(self) -> None:
        if self._is_answering:
            self.stop_requested.emit()

    def _on_long_paste(self, text: str) -> None:
        if len(text) + sum(map(len, self._pastes)) > MAX_MESSAGE_CHARACTERS:
            self._show_note(
                f"This text has {len(text):,} characters, too many for any model. "
                f"Paste a shorter part of it."
            )
            return
        self._show_note("")
        self._pastes.append(text)
        self._show_chips()

    def _show_note(self, words: str) -> None:
        self._note.show_text(words)
        self._note.setVisible(bool(words))

    def _show_chips(self) -> None:
        empty_layout(self._chips)
        for index, text in enumerate(self._pastes):
            chip = _PasteChip(text, theme=self._theme)
            chip.remove_requested.connect(lambda i=index: self._remove_paste(i))
            self._chips.addWidget(chip)
        self._show_send()

    def _remove_paste(self, index: int) -> None:
        del self._pastes[index]
        self._show_chips()
        self.focus_field()

    def _show_focus(self, has_focus: bool) -> None:
        self.setProperty("focused", has_focus)
        self.style().unpolish(self)
        self.style().polish(self)


class _PasteChip(SurfaceFrame):
    """A long pasted text, kept beside the field. Signals: `remove_requested`."""

    remove_requested = Signal()

    def __init__(self, text: str, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        remove = IconButton(IconName.CLOSE, "Remove pasted text", theme=theme)
        remove.clicked.connect(self.remove_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_MEDIUM, 0, 0, 0)
        row.setSpacing(GAP_SMALL)
        row.addWidget(Label(f"Pasted text, {len(text):,} characters", role=TextRole.STRONG))
        row.addWidget(ElidedLabel(text[:200], role=TextRole.MUTED), 1)
        row.addWidget(remove)
