from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from dflash_desktop.domain.pair_request import OPENVINO_FILES, request_for_pair
from dflash_desktop.services.catalogue_store import load_catalogue


def test_target_and_draft_are_one_transfer_under_the_pairs_id() -> None:
    pair = next(p for p in load_catalogue().pairs if p.draft and request_for_pair(p))
    request = request_for_pair(pair)
    assert request is not None
    assert pair.draft is not None
    assert [repo.repo_id for repo in request.repos] == [
        pair.target.repository,
        pair.draft.repository,
    ]
    assert (request.id, request.title) == (pair.id, pair.title)


def test_what_no_hub_has_ready_is_no_request() -> None:
    pair = next(p for p in load_catalogue().pairs if request_for_pair(p))
    assert request_for_pair(replace(pair, target=replace(pair.target, repository=None))) is None
    assert request_for_pair(replace(pair, target=replace(pair.target, is_prebuilt=False))) is None


def test_the_original_weights_stay_on_the_hub() -> None:
    def is_wanted(path: str) -> bool:
        return any(fnmatchcase(path, pattern) for pattern in OPENVINO_FILES)

    wanted = [
        "openvino_model.xml",
        "openvino_language_model.bin",
        "unet/openvino_model.bin",
        "tokenizer.json",
        "chat_template.jinja",
        "merges.txt",
        "LICENSE",
    ]
    unwanted = ["model.safetensors", "pytorch_model.bin", "model-Q4_K_M.gguf", "onnx/model.onnx"]
    assert all(map(is_wanted, wanted))
    assert not any(map(is_wanted, unwanted))
