"""What is slow only the first time, done before the first answer streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.ui.chat.markdown_stream import MarkdownView

if TYPE_CHECKING:
    from dflash_desktop.ui.chat.drawing import Drawing

# No language beside the fence: a lexer is made in a thread, which a window that is closed at once
# would have to wait for.
_ONE_OF_EVERYTHING: Final = """## A heading

Words, **bold**, *slanted*, `code` and [a link](https://example.org).

1. numbered
   - nested

```
code
```

| left | right |
|:-----|------:|
| 1    | **2** |

> quoted

"""


def warm_up(drawing: Drawing) -> None:
    """Draw one of everything where nobody sees it, so that fonts and parsers are loaded.

    Otherwise the first answer pays for them in mid-stream: its worst stall was 31 to 46 ms
    instead of 17.
    """
    view = MarkdownView(drawing=drawing)
    view.append(_ONE_OF_EVERYTHING)
    view.finish()
    while view.draw_some():
        pass
    view.grab()
    view.deleteLater()
