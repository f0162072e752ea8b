"""An answer while it grows: text and thinking apart, counts up to date, ready to be kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from dflash_desktop.domain.conversation import Message
from dflash_desktop.domain.generation import (
    NO_STATS,
    DraftUse,
    FinishReason,
    GenerationStats,
    Role,
    TextOrigin,
    TextRun,
)
from dflash_desktop.domain.thinking import ThinkingSplitter
from dflash_desktop.services.chat_events import AnswerText


@dataclass(slots=True)
class GrowingAnswer:
    """Collects what arrives; the service that streams it decides when it is kept."""

    draft: DraftUse
    splitter: ThinkingSplitter = field(default_factory=lambda: ThinkingSplitter(is_open=False))
    runs: list[TextRun] = field(default_factory=list)
    thinking: str = ""
    stats: GenerationStats = NO_STATS
    notice: str = ""

    @property
    def is_empty(self) -> bool:
        """True while neither text nor thinking is visible."""
        return not self.thinking.strip() and not any(run.text.strip() for run in self.runs)

    def take(self, runs: tuple[TextRun, ...], stats: GenerationStats) -> AnswerText:
        """Sort new text into thinking and answer."""
        self.stats = stats
        visible: list[TextRun] = []
        thinking = ""
        for run in runs:
            for part in self.splitter.push(run.text):
                if part.is_thinking:
                    thinking += part.text
                else:
                    visible.append(TextRun(part.text, run.origin, run.step))
        return self._add(visible, thinking)

    def rest(self) -> AnswerText:
        """What the splitter held back until the end."""
        visible: list[TextRun] = []
        thinking = ""
        for part in self.splitter.finish():
            if part.is_thinking:
                thinking += part.text
            else:
                step = self.runs[-1].step if self.runs else 0
                visible.append(TextRun(part.text, TextOrigin.TARGET, step))
        return self._add(visible, thinking)

    def _add(self, visible: list[TextRun], thinking: str) -> AnswerText:
        self.runs += visible
        self.thinking += thinking
        return AnswerText(tuple(visible), thinking, self.stats)

    def message(
        self, finish: FinishReason, *, model_title: str, problem_headline: str = ""
    ) -> Message:
        """The answer as a message, marked with how it ended."""
        return Message(
            role=Role.ASSISTANT,
            text="".join(run.text for run in self.runs),
            thinking=self.thinking,
            runs=tuple(self.runs),
            stats=self.stats,
            draft=self.draft,
            finish=finish,
            problem_headline=problem_headline,
            notice=self.notice,
            model_title=model_title,
        )
