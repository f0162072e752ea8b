"""What a person writes as a checkpoint is understood on both systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from dflash_desktop.domain.export_request import ExportRole, SourceKind
from dflash_desktop.ui.export.source_words import read_source, short_name

TARGET, DRAFT = ExportRole.TARGET, ExportRole.DRAFT


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Qwen/Qwen3-8B", SourceKind.HUB),
        ("https://huggingface.co/Qwen/Qwen3-8B/tree/main", SourceKind.HUB),
        ("/home/ada/qwen3", SourceKind.FOLDER),
        ("~/qwen3", SourceKind.FOLDER),
        ("./qwen3", SourceKind.FOLDER),
        (r"C:\models\qwen3", SourceKind.FOLDER),
        ("D:/models/qwen3", SourceKind.FOLDER),
        (r"\\server\share\qwen3", SourceKind.FOLDER),
        (r'"C:\my models\qwen3"', SourceKind.FOLDER),
        ("/home/ada/draft.GGUF", SourceKind.GGUF),
        ("draft.gguf", SourceKind.GGUF),
    ],
)
def test_a_name_a_folder_and_a_gguf_file_are_told_apart(text: str, kind: SourceKind) -> None:
    read = read_source(text, DRAFT)
    assert read.source is not None
    assert read.source.kind is kind
    assert read.words
    assert not read.error


def test_an_address_of_a_page_is_its_repository() -> None:
    source = read_source("https://huggingface.co/Qwen/Qwen3-8B/tree/main", TARGET).source
    assert source is not None
    assert source.repo_id == "Qwen/Qwen3-8B"
    assert short_name(source) == "Qwen3-8B"


def test_a_path_between_quotes_is_the_path() -> None:
    source = read_source("'/home/ada/my draft.gguf'", DRAFT).source
    assert source is not None
    assert source.path == Path("/home/ada/my draft.gguf")
    assert short_name(source) == "my draft"


@pytest.mark.parametrize("text", ["Qwen3", "Qwen/", "a/b/c", "own er/name"])
def test_what_is_neither_is_said_to_be_wrong(text: str) -> None:
    read = read_source(text, TARGET)
    assert read.source is None
    assert "owner/name" in read.error


def test_a_model_as_gguf_is_led_to_the_import() -> None:
    read = read_source("/home/ada/model.gguf", TARGET)
    assert read.source is None
    assert "Models page" in read.error


def test_an_empty_field_is_no_mistake() -> None:
    assert read_source("  ", DRAFT).error == ""
