"""The pages of the window."""

from __future__ import annotations

from enum import StrEnum


class Page(StrEnum):
    """What the middle of the window shows; the value is the word in the navigation."""

    CHAT = "Chat"
    IMAGES = "Images"
    MODELS = "Models"
    TRANSFERS = "Transfers"
    EXPORT = "Export"
    MEASURE = "Measure"
    SETUP = "Setup"  # stands in for the chat until there is a model
    MORE_MODELS = "More models"  # a part of the models page
    PAIR = "Pair"  # a part of the models page, too


PARTS_OF_MODELS = (Page.MORE_MODELS, Page.PAIR)
NAVIGATION = (
    Page.CHAT,
    Page.IMAGES,
    Page.MODELS,
    Page.TRANSFERS,
    Page.EXPORT,
    Page.MEASURE,
)
