"""Makes OpenVINO's tokenizer models of a folder's tokenizer.json, in the export environment."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.workers.export_report import StepFailedError, say

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from pathlib import Path

_FOR_MODELS: Final = frozenset({"torch", "scipy", "sklearn", "accelerate"})
SAMPLES: Final = (
    "Hello, world! How are you today?",
    "def f(x):\n    return x * 2  # twice\n",
    "Größe, naïve, 東京, Привет, 🙂",
    "<|im_start|>user\n1 + 1 = 2\n",
)
"""Plain text, code, other scripts, and what may be special tokens.

No run of blanks before a digit: OpenVINO cuts that otherwise than some tokenizers do, in every
export.
"""


def convert_tokenizer(source: Path, output: Path) -> None:
    """Write the four files into `output`, and compare them with the tokenizer they are made of.

    Code that lies in `source` is never run. Raises `StepFailedError`.
    """
    import openvino
    import openvino_tokenizers

    say(0.1, "Reading the tokenizer")
    _hide_what_models_need()
    tokenizer = _read(source)
    # As an export for generating text sets it: a batch is filled up, and cut, on the left.
    tokenizer.padding_side = tokenizer.truncation_side = "left"
    say(0.4, "Converting the tokenizer")
    try:
        models = openvino_tokenizers.convert_tokenizer(tokenizer, with_detokenizer=True)
    except Exception as error:
        raise StepFailedError("tokenizer_not_convertible", f"{error!r}") from error
    output.mkdir(parents=True, exist_ok=True)
    for model, name in zip(models, ("openvino_tokenizer", "openvino_detokenizer"), strict=True):
        openvino.save_model(model, str(output / f"{name}.xml"))
    say(0.8, "Comparing it with the original")
    _compare(tokenizer, *(openvino.compile_model(model, "CPU") for model in models))


def _hide_what_models_need() -> None:
    """Let transformers not find what no tokenizer uses, and what takes it ten seconds to load."""
    find_spec = importlib.util.find_spec

    def find_fewer(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name.partition(".")[0] in _FOR_MODELS else find_spec(name, package)

    importlib.util.find_spec = find_fewer


def _read(source: Path) -> Any:  # noqa: ANN401 - a class of transformers
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    try:
        return AutoTokenizer.from_pretrained(
            str(source), trust_remote_code=False, local_files_only=True
        )
    except Exception as error:  # noqa: BLE001 - a class that this release does not know, for one
        first_error = error
    # What tokenizer.json says is all that there is to a fast tokenizer, whatever its class.
    try:
        return PreTrainedTokenizerFast(
            tokenizer_file=str(source / "tokenizer.json"), **_special_tokens(source)
        )
    except Exception as error:
        raise StepFailedError(
            "tokenizer_not_convertible", f"{first_error!r}; {error!r}"
        ) from error


def _special_tokens(source: Path) -> dict[str, str]:
    """The named tokens and the template of tokenizer_config.json, as plain text."""
    try:
        config = json.loads((source / "tokenizer_config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(config, dict):
        return {}
    found: dict[str, str] = {}
    for name in ("bos_token", "eos_token", "pad_token", "unk_token", "chat_template"):
        value = config.get(name)
        value = value.get("content") if isinstance(value, dict) else value
        if isinstance(value, str):
            found[name] = value
    return found


def _compare(tokenizer: Any, encoder: Any, decoder: Any) -> None:  # noqa: ANN401 - native objects
    for text in SAMPLES:
        expected = tokenizer(text)["input_ids"]
        ids = encoder([text])["input_ids"]
        if ids[0].tolist() != expected:
            raise StepFailedError(
                "tokenizer_differs", f"{text!r}: {ids[0].tolist()[:40]}, not {expected[:40]}"
            )
        said = str(decoder(ids)["string_output"][0])
        wanted = tokenizer.decode(expected, skip_special_tokens=True)
        if said != wanted:
            raise StepFailedError("tokenizer_differs", f"{said!r}, not {wanted!r}")
