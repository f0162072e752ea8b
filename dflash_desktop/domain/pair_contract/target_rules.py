"""Rules for a target alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.model_facts import VISION_GRAPH
from dflash_desktop.domain.pair_contract.finding import Finding, Subject, Weight
from dflash_desktop.domain.pair_contract.model_rules import GET_AGAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.domain.model_facts import ModelFacts

_TOKENIZER_FILES: Final = tuple(
    f"openvino_{model}.{kind}" for model in ("tokenizer", "detokenizer") for kind in ("xml", "bin")
)
_VISION_FILES: Final = tuple(
    f"openvino_{model}.{kind}"
    for model in ("text_embeddings_model", "vision_embeddings_model")
    for kind in ("xml", "bin")
)


def is_target(target: ModelFacts) -> Iterator[Finding]:
    """A draft answers nothing by itself."""
    if target.kind().is_dflash_family or target.is_built_like_dflash():
        yield Finding(
            "draft_as_target",
            Weight.BLOCK,
            Subject.TARGET,
            expected="a model that answers by itself",
            found=f"{target.kind().label}, which needs a target"
            if target.kind().is_dflash_family
            else "a graph with a draft's inputs",
            where=target.graph_file,
            remedy="Choose the large model's folder as the target, and this one as its draft.",
        )


def tokenizer_present(target: ModelFacts) -> Iterator[Finding]:
    """Text goes in and out through two small models beside the target."""
    missing = [name for name in _TOKENIZER_FILES if name not in target.file_sizes]
    if missing:
        yield Finding(
            "tokenizer_missing",
            Weight.BLOCK,
            Subject.TARGET,
            expected="openvino_tokenizer and openvino_detokenizer, .xml and .bin",
            found=f"no {', no '.join(missing)}",
            where=target.name,
            remedy="Export the target again together with its tokenizer.",
        )


def vision_files_present(target: ModelFacts) -> Iterator[Finding]:
    """A vision export that was refused half-way leaves only its language model behind."""
    if target.graph_file != VISION_GRAPH:
        return
    missing = [name for name in _VISION_FILES if name not in target.file_sizes]
    if missing:
        yield Finding(
            "vision_files_missing",
            Weight.BLOCK,
            Subject.TARGET,
            expected="the embedding models of text and images",
            found=f"no {', no '.join(missing)}",
            where=target.name,
            remedy="The export stopped half-way. Export the target again.",
        )


def interface_complete(target: ModelFacts) -> Iterator[Finding]:
    """Tokens in, logits out."""
    if target.graph is None or any(is_target(target)):
        return
    inputs, outputs = target.graph.inputs(), target.graph.outputs()
    missing: list[str] = []
    if not {"input_ids", "inputs_embeds"} & inputs.keys():
        missing.append("an input input_ids or inputs_embeds")
    if "logits" not in outputs:
        missing.append("the output logits")
    if missing:
        yield Finding(
            "target_interface_incomplete",
            Weight.BLOCK,
            Subject.TARGET,
            expected=", ".join(missing),
            found=f"inputs {_listed(inputs)}; outputs {_listed(outputs)}",
            where=target.graph_file,
            remedy=f"This is not a language model that can run. {GET_AGAIN}",
        )


def keeps_state(target: ModelFacts) -> Iterator[Finding]:
    """Exports for text generation hold the KV cache in the graph and reorder it by beam_idx."""
    if target.graph is None or any(is_target(target)):
        return
    if target.graph.is_stateful() and "beam_idx" in target.graph.inputs():
        return
    yield Finding(
        "target_stateless",
        Weight.WARN,
        Subject.TARGET,
        expected="a graph that keeps its KV cache, with an input beam_idx",
        found="none of that" if not target.graph.is_stateful() else "no beam_idx",
        where=target.graph_file,
        remedy="Export the target with the task text-generation-with-past.",
    )


def vocabulary_agrees(target: ModelFacts) -> Iterator[Finding]:
    """A tokenizer may know fewer tokens than the logits have room for, but never more."""
    room = target.vocabulary()
    known = None if target.tokenizer is None else target.tokenizer.vocabulary
    if room is not None and known is not None and known > room:
        yield Finding(
            "tokenizer_vocabulary",
            Weight.WARN,
            Subject.TARGET,
            expected=f"at most {room} tokens, as the logits have",
            found=f"{known} tokens",
            where="openvino_detokenizer.xml",
            remedy="The tokenizer is another model's. Export the target with its own.",
        )
    if room is not None and target.config.vocabulary not in {None, room}:
        yield Finding(
            "target_vocabulary",
            Weight.WARN,
            Subject.TARGET,
            expected=f"{room} tokens, as the logits have",
            found=f"vocab_size {target.config.vocabulary}",
            where="config.json",
            remedy="config.json is another model's. Copy the right one.",
        )


def template_in_use(target: ModelFacts) -> Iterator[Finding]:
    """Whoever edits chat_template.jinja wonders why nothing changes."""
    if target.has_other_template:
        yield Finding(
            "chat_template_unused",
            Weight.INFO,
            Subject.TARGET,
            expected="",
            found="another template than the one in openvino_tokenizer.xml, which is used",
            where="chat_template.jinja",
            remedy="Edit the entry chat_template of openvino_tokenizer.xml instead.",
        )


def _listed(names: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(list(names)[:8]) or "none"
