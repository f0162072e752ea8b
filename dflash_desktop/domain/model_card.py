"""The card of an exported model, for people who publish it, with the hub's front matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dflash_desktop.domain.shell_words import Shell, command_line

_REPOSITORY: Final = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)
_LICENCE: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,40}")


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What the card says; empty where it is not known."""

    name: str
    is_draft: bool
    is_vision: bool
    repo_id: str  # that it was made from
    commit: str
    licence: str
    weights: str  # "int4, groups of 128"
    commands: Sequence[Sequence[str]]  # with names in place of this machine's folders
    versions: Mapping[str, str]
    target_repo_id: str = ""  # of a draft: the target that it was exported with
    target_layers: Sequence[int] = ()
    notes: Sequence[str] = ()


def model_card(facts: CardFacts) -> str:
    """The whole text of README.md. What came from elsewhere stands in it as plain text."""
    return "\n".join([*_front_matter(facts), "", *_body(facts), ""])


def _front_matter(facts: CardFacts) -> list[str]:
    tags = ["openvino", *(["dflash", "speculative-decoding"] if facts.is_draft else [])]
    lines = ["---", "library_name: openvino"]
    if _LICENCE.fullmatch(facts.licence):
        lines.append(f"license: {facts.licence}")
    if _REPOSITORY.fullmatch(facts.repo_id):
        lines += ["base_model:", f"- {facts.repo_id}", "base_model_relation: quantized"]
    kind = "image-text-to-text" if facts.is_vision else "text-generation"
    return [*lines, f"pipeline_tag: {kind}", "tags:", *(f"- {tag}" for tag in tags), "---"]


def _body(facts: CardFacts) -> list[str]:
    what = "A DFlash draft" if facts.is_draft else "A model for OpenVINO GenAI"
    origin = f"[{facts.repo_id}](https://huggingface.co/{facts.repo_id})"
    if not _REPOSITORY.fullmatch(facts.repo_id):
        origin = "a checkpoint that is not on the hub"
    at = f" at commit `{facts.commit}`" if re.fullmatch(r"[0-9a-f]{40}", facts.commit) else ""
    lines = [f"# {_plain(facts.name)}", "", f"{what}, made from {origin}{at}."]
    lines += ["", f"Weights: {_plain(facts.weights)}.", ""]
    lines += _use_of_draft(facts) if facts.is_draft else _use_of_target()
    lines += ["", "## How it was made", "", "```sh"]
    lines += [command_line(words, Shell.SH) for words in facts.commands if words]
    lines += ["```", "", "| tool | version |", "| --- | --- |"]
    lines += [f"| {_plain(tool)} | {_plain(found)} |" for tool, found in facts.versions.items()]
    if facts.notes:
        lines += ["", "## Notes", "", *(f"- {_plain(note)}" for note in facts.notes)]
    return lines


def _use_of_draft(facts: CardFacts) -> list[str]:
    """A draft is of use with one target only, and no error tells which."""
    target = facts.target_repo_id
    named = f"`{target}`" if _REPOSITORY.fullmatch(target) else "the target it was trained for"
    layers = ", ".join(map(str, facts.target_layers))
    reads = f" It reads that target's layers {layers}." if layers else ""
    return [
        f"It proposes tokens for {named}, and for no other model.{reads} With any other target",
        "the text stays right and nothing gets faster.",
        "",
        "```python",
        "import openvino_genai as ov_genai",
        "",
        "scheduler = ov_genai.SchedulerConfig()",
        "scheduler.enable_prefix_caching = False",
        'draft = ov_genai.draft_model("DRAFT", "GPU")',
        'pipeline = ov_genai.LLMPipeline("TARGET", "GPU", scheduler_config=scheduler,',
        "                                draft_model=draft)",
        "```",
    ]


def _use_of_target() -> list[str]:
    return [
        "It says in its metadata where its layers' hidden states are, so that a DFlash draft can",
        "be attached to it.",
    ]


def _plain(text: str) -> str:
    """One line without Markdown's and HTML's characters: names come from strangers."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
