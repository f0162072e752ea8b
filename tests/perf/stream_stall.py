"""Worst stall of the window's event loop while an answer streams in, and its memory after that.

Run: python -m tests.perf.stream_stall [KIND …]
"""

from __future__ import annotations

import gc
import os
import sys
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from dflash_desktop.ui.chat.drawing import Drawing
from dflash_desktop.ui.chat.markdown_stream import MarkdownView
from dflash_desktop.ui.chat.warm_up import warm_up
from dflash_desktop.ui.theme import Theme

MIXED = '''## Speculative decoding

A **small draft model** proposes several tokens, and the *target* checks them in one pass. Words
such as `KV cache` and [links](https://example.org/a) appear in the middle of the text.

1. The draft proposes three tokens.
2. The target verifies them.

   ```python
   def accept(draft: list[int], target: list[int]) -> int:
       """How many of the draft's tokens the target accepts."""
       for index, (a, b) in enumerate(zip(draft, target)):
           if a != b:
               return index  # the first difference
       return len(draft)
   ```
3. Accepted tokens are kept.

- Greedy decoding gives the same text
  - nested items too
- Sampling does not use the draft

| setting | tok/s | speed-up |
|:--------|------:|:--------:|
| off     |  20.1 |    –     |
| 3       |  48.0 |   2.4x   |
| 5       |  44.2 |   2.2x   |

> A quotation with some *emphasis* in it.

'''
KINDS = {
    "mixed": (MIXED * 20)[:16000],
    "paragraph": ("word **bold** and more text, then a sentence. " * 400)[:16000],
    "list": "".join(f"- item {i} with *some* text in it\n" for i in range(500))[:16000],
    "ordered": "".join(f"{i}. item with `code` in it\n" for i in range(1, 600))[:16000],
    "table": "| a | b | c |\n|---|---|---|\n"
    + "".join(f"| cell {i} | **x** | text of a cell |\n" for i in range(400)),
    "code": "```python\n" + "def f(x: int) -> str:\n    return f'{x}'  # comment\n\n" * 300,
    "backslashes": "\\" * 200_000,
    "brackets": "[" * 16000,
    "stars": "*a _b " * 2700,
    "quotes": "> quoted line of text\n" * 800,
    "one_line_code": "```\n" + "x" * 4000 + "\n```",
    "short_lines": "a short line\n" * 10_000,
    "code_one_line_200k": "```\n" + "x" * 200_000 + "\n```",
}
CHUNKS_PER_SECOND = 200


def measure(app: QApplication, theme: Theme, kind: str, text: str, chunk: int) -> None:
    drawing = Drawing(theme)
    area = QScrollArea()
    area.setWidgetResizable(True)
    inner = QWidget()
    rows = QVBoxLayout(inner)
    view = MarkdownView(drawing=drawing)
    rows.addWidget(view)
    rows.addStretch()
    area.setWidget(inner)
    area.resize(760, 800)
    area.show()
    area.verticalScrollBar().rangeChanged.connect(
        lambda _low, high: area.verticalScrollBar().setValue(high)
    )
    for _ in range(10):  # showing the window is not streaming
        app.processEvents()
    position = 0
    started = time.perf_counter()
    last = started
    worst = worst_work = 0.0
    last_work = time.thread_time()
    deadline = started + 60

    def feed() -> None:
        nonlocal position
        due = int((time.perf_counter() - started) * CHUNKS_PER_SECOND) * chunk
        while position < min(due, len(text)):
            view.append(text[position : position + chunk])
            position += chunk
        if position >= len(text) and feeder.isActive():
            feeder.stop()
            view.finish()

    def beat() -> None:
        nonlocal last, worst, last_work, worst_work
        now = time.perf_counter()
        worst = max(worst, now - last)
        last = now
        work = time.thread_time()
        worst_work = max(worst_work, work - last_work)
        last_work = work

    feeder = QTimer(interval=5)
    feeder.timeout.connect(feed)
    heart = QTimer(interval=0)
    heart.timeout.connect(beat)
    cpu = time.process_time()
    feeder.start()
    heart.start()
    while (feeder.isActive() or not drawing.clock.is_idle) and time.perf_counter() < deadline:
        app.processEvents()
        time.sleep(0.0005)
    wall = time.perf_counter() - started
    rss = psutil.Process().memory_info().rss / 1e6
    print(
        f"{kind:20} {len(text):7} chars  worst {worst * 1000:6.1f} ms  "
        f"(own work {worst_work * 1000:5.1f} ms)  {wall:5.1f} s  "
        f"cpu {time.process_time() - cpu:5.1f} s  RSS {rss:.0f} MB"
        f"{'' if drawing.clock.is_idle else '  NOT DONE'}"
    )
    area.deleteLater()
    app.processEvents()


def main() -> None:
    app = QApplication(sys.argv[:1])
    theme = Theme(app)
    # As the program does when its window is ready.
    warm_up(Drawing(theme))
    gc.freeze()
    sys.setswitchinterval(0.001)
    wanted = sys.argv[1:] or list(KINDS)
    print(f"RSS before {psutil.Process().memory_info().rss / 1e6:.0f} MB")
    for kind in wanted:
        text = KINDS[kind]
        # 16,000 characters take 4 s at 200 chunks/s, longer inputs at most 10 s.
        chunk = max(20, len(text) // (CHUNKS_PER_SECOND * 10))
        measure(app, theme, kind, text, chunk)


if __name__ == "__main__":
    main()
