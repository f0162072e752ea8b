"""The form on the left of the image page: what is to be made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from dflash_desktop.domain.picture_request import (
    MAX_COUNT,
    MAX_GUIDANCE,
    MAX_STEPS,
    PictureRequest,
    new_seed,
)
from dflash_desktop.ui.image.seed_field import SeedField
from dflash_desktop.ui.image.size_field import SizeField
from dflash_desktop.ui.image.source_part import SourcePart
from dflash_desktop.ui.image.words import (
    NO_GUIDANCE_WITHOUT_NEGATIVE,
    NO_NEGATIVE,
    RESPONSIBILITY,
    cut_off_words,
    label_explanation,
    model_words,
)
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label, name_label
from dflash_desktop.ui.widgets.wheel_through import AmountBox, ChoiceBox

if TYPE_CHECKING:
    from dflash_desktop.domain.image_models import ImageModel
    from dflash_desktop.domain.made_picture import PictureRecipe
    from dflash_desktop.ui.theme import Theme

_PROMPT_LINES: Final = 3
_NEGATIVE_LINES: Final = 2


class RequestForm(QWidget):
    """Signals: `make_requested(PictureRequest, count)`, `model_chosen(id)`, `changed`."""

    make_requested = Signal(object, int)
    model_chosen = Signal(str)
    changed = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._model: ImageModel | None = None
        self._models = ChoiceBox()
        self._models.activated.connect(
            lambda: self.model_chosen.emit(str(self._models.currentData()))
        )
        self._kind = Label(role=TextRole.CAPTION, wraps=True)
        self._prompt = _text_field("A lighthouse in the evening, oil painting", _PROMPT_LINES)
        self._prompt.textChanged.connect(self._show_what_is_read)
        self._cut_off = Label(role=TextRole.WARN, wraps=True)
        self._cut_off.hide()
        self._negative = _text_field("What should not be in it", _NEGATIVE_LINES)
        self._negative.textChanged.connect(self._show_what_counts)
        self._negative_label = name_label("Negative prompt", self._negative)
        self.size_field = SizeField()
        self.size_field.changed.connect(self.changed)
        self._models.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._steps = _amount(1, MAX_STEPS, "How often the noise is refined: more takes longer")
        self._guidance = _amount(
            0, MAX_GUIDANCE, "How closely it follows the prompt", decimals=1, step=0.5
        )
        self._guidance_note = Label(role=TextRole.CAPTION, wraps=True)
        self.seed = SeedField(theme=theme)
        self._count = _amount(1, MAX_COUNT, "One after the other, each with the next seed")
        self.source = SourcePart(theme=theme)
        self._estimate = Label(role=TextRole.CAPTION, wraps=True)
        self._make = Button("Make picture", theme=theme, kind=ButtonKind.PRIMARY)
        self._make.setToolTip("Make it (Ctrl+Enter)")
        self._make.setShortcut("Ctrl+Return")
        self._make.clicked.connect(self._on_make)
        self._count.valueChanged.connect(self._show_button)
        self._prompt.textChanged.connect(self._show_button)
        self._lay_out()
        self._show_button()

    @property
    def model(self) -> ImageModel | None:
        """The model that is chosen."""
        return self._model

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height that are chosen, in pixels."""
        return self.size_field.size_px

    def show_models(self, models: tuple[tuple[str, str], ...], chosen: ImageModel | None) -> None:
        """Ids and titles to choose from; another model begins with its own numbers."""
        self._models.clear()
        for model_id, title in models:
            self._models.addItem(title, model_id)
        is_other = chosen is not None and (self._model is None or chosen.id != self._model.id)
        self._model = chosen
        if chosen is None:
            return
        self._models.setCurrentIndex(self._models.findData(chosen.id))
        self._kind.show_text(model_words(chosen))
        self._kind.setToolTip(label_explanation(chosen) if chosen.content_label else "")
        self.source.show_offers(takes_picture=chosen.takes_picture, takes_mask=chosen.takes_mask)
        if is_other:
            self._show_usual_numbers(chosen)
        self._show_what_counts()
        self._show_what_is_read()
        self._show_button()

    def show_recipe(self, recipe: PictureRecipe, *, keeps_seed: bool) -> None:
        """Take over the settings of a picture."""
        self._prompt.setPlainText(recipe.prompt)
        self._negative.setPlainText(recipe.negative_prompt)
        self._steps.setValue(recipe.steps)
        if recipe.guidance is not None:
            self._guidance.setValue(recipe.guidance)
        self.size_field.choose(recipe.width, recipe.height)
        self._count.setValue(1)
        if keeps_seed:
            self.seed.show_seed(recipe.seed, is_kept=True)
        else:
            self.seed.show_seed(new_seed(), is_kept=False)
        self._prompt.setFocus()

    def show_estimate(self, words: str, explanation: str, *, is_too_much: bool) -> None:
        """What it will take of the memory."""
        self._estimate.show_text(words, role=TextRole.WARN if is_too_much else TextRole.CAPTION)
        self._estimate.setToolTip(explanation)

    def _request(self) -> PictureRequest:
        width, height = self.picture_size
        source = self.source.source if self.source.isVisibleTo(self) else None
        return PictureRequest(
            prompt=self._prompt.toPlainText(),
            negative_prompt=self._negative.toPlainText() if self._negative.isEnabled() else "",
            width=width,
            height=height,
            steps=int(self._steps.value()),
            guidance=round(self._guidance.value(), 1),
            seed=self.seed.use(),
            source=None if source is None else source.path,
            mask=None if source is None else self.source.mask_file,
            strength=self.source.strength,
        )

    def _on_make(self) -> None:
        if self._model is not None:
            self.make_requested.emit(self._request(), int(self._count.value()))

    def _show_usual_numbers(self, model: ImageModel) -> None:
        self.size_field.show_model(model)
        self._steps.setValue(model.facts.steps)
        self._guidance.setValue(model.facts.guidance)

    def _show_what_counts(self) -> None:
        if self._model is None:
            return
        facts = self._model.facts
        self._negative.setEnabled(facts.takes_negative_prompt)
        self._negative.setToolTip("" if facts.takes_negative_prompt else NO_NEGATIVE)
        has_negative = bool(self._negative.toPlainText().strip())
        needs = not facts.uses_guidance(has_negative_prompt=has_negative)
        self._guidance.setEnabled(not needs)
        self._guidance_note.setVisible(needs)
        self._guidance_note.show_text(NO_GUIDANCE_WITHOUT_NEGATIVE)

    def _show_what_is_read(self) -> None:
        prompt = self._prompt.toPlainText()
        words = "" if self._model is None else cut_off_words(self._model, prompt)
        self._cut_off.show_text(words)
        self._cut_off.setVisible(bool(words))

    def _show_button(self) -> None:
        count = int(self._count.value())
        self._make.setText("Make picture" if count == 1 else f"Make {count} pictures")
        has_words = bool(self._prompt.toPlainText().strip())
        self._make.setEnabled(has_words and self._model is not None)
        self._make.setToolTip("Make it (Ctrl+Enter)" if has_words else "Write a prompt first")

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP_MEDIUM)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnStretch(1, 1)
        fields: tuple[tuple[str, QWidget, str], ...] = (
            ("Size", self.size_field.choice, "Width and height in pixels"),
            ("Steps", self._steps, self._steps.toolTip()),
            ("Guidance", self._guidance, self._guidance.toolTip()),
            ("Seed", self.seed.field, "The same seed and settings make the same picture again"),
            ("Pictures", self._count, self._count.toolTip()),
        )
        composed: dict[QWidget, QWidget] = {
            self.seed.field: self.seed,
            self.size_field.choice: self.size_field,
        }
        for number, (name, field, help_words) in enumerate(fields):
            row = 2 * number  # what is said about a field stands right below it
            label = name_label(name, field, explanation=help_words)
            label.setToolTip(help_words)
            grid.addWidget(label, row, 0)
            grid.addWidget(composed.get(field, field), row, 1)
            if field is self._guidance:
                grid.addWidget(self._guidance_note, row + 1, 1)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        for part in (
            _named(name_label("Model", self._models), self._models, self._kind),
            _named(name_label("Prompt", self._prompt), self._prompt, self._cut_off),
            _named(self._negative_label, self._negative),
        ):
            column.addWidget(part)
        column.addLayout(grid)
        column.addWidget(self.source)
        column.addStretch(1)
        column.addWidget(Label(RESPONSIBILITY, role=TextRole.CAPTION, wraps=True))
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # As wide as the page whatever stands on it: a long name is cut off itself.
        inner.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        inner.setProperty("surface", "page")
        inner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        scroll.setWidget(inner)
        bottom = QVBoxLayout()
        bottom.setContentsMargins(GAP, GAP_SMALL, GAP, GAP)
        bottom.setSpacing(GAP_SMALL)
        bottom.addWidget(self._estimate)
        bottom.addWidget(self._make)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(scroll, 1)
        whole.addLayout(bottom)


def _named(label: Label, *parts: QWidget) -> QWidget:
    block = QWidget()
    column = QVBoxLayout(block)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GAP_TINY)
    for part in (label, *parts):
        column.addWidget(part)
    return block


def _text_field(placeholder: str, lines: int) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setPlaceholderText(placeholder)
    field.setTabChangesFocus(True)
    field.setFixedHeight(field.fontMetrics().lineSpacing() * lines + 2 * GAP_MEDIUM)
    return field


def _amount(
    lowest: float, highest: float, explanation: str, *, decimals: int = 0, step: float = 1.0
) -> AmountBox:
    field = AmountBox()
    field.setRange(lowest, highest)
    field.setDecimals(decimals)
    field.setSingleStep(step)
    field.setToolTip(explanation)
    field.lineEdit().setTextMargins(GAP_SMALL, 0, 0, 0)
    return field
