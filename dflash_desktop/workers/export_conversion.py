"""Runs optimum-cli within this process, to see what its exit code does not tell."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from dflash_desktop.domain.export_tensors import harmful_tensors
from dflash_desktop.workers.checkpoint_code import own_code, without_code
from dflash_desktop.workers.export_report import StepFailedError, say, say_fact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_NAMES_SHOWN: Final = 40
_AGREES_TO_CODE: Final = "--trust-remote-code"


def run_exporter(command: Sequence[str]) -> None:
    """Run "optimum-cli export openvino …" as its own program would.

    Raises whatever the exporter raises, and `StepFailedError` ("tensors_wrong") when the
    checkpoint did not give every tensor that the model has: the exporter would go on with random
    numbers and end with 0.
    """
    say(0.0, "Starting the exporter")
    if _AGREES_TO_CODE in command:
        _check_draft(Path(command[command.index("--model") + 1]))
    _watch_loading()
    _watch_stages()
    from optimum.commands.optimum_cli import main

    sys.argv = list(command)
    main()
    say(1.0, "Exported")


def _check_draft(folder: Path) -> None:
    """Only the exporter's own class may be what the option lets run.

    An architecture that the exporter does not know, DFlash 2 with some, would be exported as an
    ordinary model with random embeddings (case 8).
    """
    if code := own_code(folder):
        raise StepFailedError("code_left", f"{folder.name} holds {', '.join(code)}")
    from optimum.exporters.openvino import __main__ as exporter

    known = sorted(getattr(exporter, "_CUSTOM_DRAFT_MODEL_MAP", ()))
    found = without_code(folder / "config.json").get("architectures") or [""]
    if found[0] not in known:
        raise StepFailedError("draft_not_supported", f"{found[0]!r} is none of {', '.join(known)}")


def _watch_loading() -> None:
    """Take the loading's own account of the tensors; its words in the log change with releases."""
    from transformers.modeling_utils import PreTrainedModel

    load = PreTrainedModel.from_pretrained.__func__

    def from_pretrained(cls: type, /, *args: object, **options: object) -> object:
        if options.pop("output_loading_info", False):
            return load(cls, *args, output_loading_info=True, **options)
        model, info = load(cls, *args, output_loading_info=True, **options)
        _check_tensors(info)
        return model

    PreTrainedModel.from_pretrained = classmethod(from_pretrained)


def _check_tensors(info: dict[str, Any]) -> None:
    names = {
        kind: sorted(str(name) for name in info.get(f"{kind}_keys") or ())
        for kind in ("missing", "unexpected", "mismatched")
    }
    say_fact("tensors", {kind: found[:_NAMES_SHOWN] for kind, found in names.items()})
    harmful = harmful_tensors(**names)
    if harmful:
        raise StepFailedError("tensors_wrong", harmful)


def _watch_stages() -> None:
    """Say where it is: the exporter calls these one after the other."""
    from optimum.exporters.openvino import __main__ as exporter
    from optimum.exporters.openvino import convert

    _announce(exporter.TasksManager, "get_model_from_task", 0.1, "Reading the checkpoint")
    _announce(convert, "export_from_model", 0.25, "Tracing the model and writing the graph")
    _announce(exporter, "maybe_convert_tokenizers", 0.6, "Converting the tokenizer")
    _announce(exporter, "_main_quantize", 0.65, "Packing the weights")
    _announce(exporter, "_merge_move", 0.95, "Moving the files into place")


def _announce(owner: ModuleType | type, name: str, share: float, detail: str) -> None:
    work = getattr(owner, name, None)
    if work is None:  # of another release: the bar then stays where it is for longer
        return
    announced = _announced(work, share, detail)
    setattr(owner, name, staticmethod(announced) if isinstance(owner, type) else announced)


def _announced(
    work: Callable[_Arguments, _Result], share: float, detail: str
) -> Callable[_Arguments, _Result]:
    is_said = False  # moving calls itself for every folder

    @functools.wraps(work)
    def announced(*args: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        nonlocal is_said
        if not is_said:
            is_said = True
            say(share, detail)
        return work(*args, **options)

    return announced
