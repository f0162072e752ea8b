"""What went wrong, said to a person: what happened, why if known, what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a problem stands in the way."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Remedy(StrEnum):
    """A way out that the window can offer as a button; the value is stable, the label is below."""

    RETRY = "retry"
    RESTART_ENGINE = "restart_engine"
    LOAD_WITHOUT_DRAFT = "load_without_draft"
    USE_CPU = "use_cpu"
    NEW_CHAT = "new_chat"
    LEAVE_OUT_OLDEST = "leave_out_oldest"
    CHOOSE_FILE = "choose_file"
    CHOOSE_MODEL = "choose_model"
    CHOOSE_DEVICE = "choose_device"
    INSTALL_STARTER = "install_starter"
    MEASURE = "measure"
    OPEN_LOG = "open_log"
    REPORT = "report"
    ENTER_TOKEN = "enter_token"  # noqa: S105 - no secret
    OPEN_MODEL_PAGE = "open_model_page"
    NETWORK_SETTINGS = "network_settings"
    MODEL_FOLDER = "model_folder"
    ADD_MODEL = "add_model"
    ATTACH_PICTURE = "attach_picture"
    EXPORT = "export"
    REPAIR = "repair"
    SHOW_EXPORT = "show_export"
    CLOSE_PROGRAM = "close_program"

    @property
    def label(self) -> str:
        """The words on the button."""
        return _REMEDY_LABELS[self]


_REMEDY_LABELS = {
    Remedy.RETRY: "Try again",
    Remedy.RESTART_ENGINE: "Restart engine",
    Remedy.LOAD_WITHOUT_DRAFT: "Load without draft",
    Remedy.USE_CPU: "Use the CPU",
    Remedy.NEW_CHAT: "New chat",
    Remedy.LEAVE_OUT_OLDEST: "Leave out the oldest messages",
    Remedy.CHOOSE_FILE: "Choose file…",
    Remedy.CHOOSE_MODEL: "Choose model",
    Remedy.CHOOSE_DEVICE: "Choose device",
    Remedy.INSTALL_STARTER: "Get the starter model",
    Remedy.MEASURE: "Measure now",
    Remedy.OPEN_LOG: "Open log folder",
    Remedy.REPORT: "Report a problem…",
    Remedy.ENTER_TOKEN: "Enter access token…",
    Remedy.OPEN_MODEL_PAGE: "Open the model's page",
    Remedy.NETWORK_SETTINGS: "Network settings",
    Remedy.MODEL_FOLDER: "Choose model folder…",
    Remedy.ADD_MODEL: "Add to the models",
    Remedy.ATTACH_PICTURE: "Ask about it",
    Remedy.EXPORT: "Export…",
    Remedy.REPAIR: "Repair…",
    Remedy.SHOW_EXPORT: "Show the export",
    Remedy.CLOSE_PROGRAM: "Stop it and close",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault as a person meets it; `code` is stable and for programs, `detail` is raw text."""

    code: str
    headline: str
    advice: str
    severity: Severity = Severity.ERROR
    detail: str = ""
    remedies: tuple[Remedy, ...] = ()


class AppError(Exception):
    """The one exception that services raise on purpose; everything else is a bug."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.code}: {problem.headline}")
        self.problem = problem


class CancelledByPersonError(Exception):
    """The person stopped it: silent, never shown as an error."""
