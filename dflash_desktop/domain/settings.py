"""What a person can choose: each choice with its default and the words beside it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from dflash_desktop.domain.generation import KvCachePrecision, SamplingParams
from dflash_desktop.domain.setup import SetupPlace

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS_VERSION = 1


class Theme(StrEnum):
    """Which set of colours the window uses."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class SettingText:
    """The words beside a setting: a short title and one sentence of help."""

    title: str
    help: str


@dataclass(frozen=True, slots=True)
class AddedPair:
    """A pair of folders on this disk that the person added."""

    id: str
    title: str
    target_dir: Path
    draft_dir: Path | None = None


_TEXT = "text"


def _described(title: str, text: str) -> Mapping[str, SettingText]:
    return {_TEXT: SettingText(title, text)}


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is kept between two starts of the program."""

    version: int = SETTINGS_VERSION
    theme: Theme = field(
        default=Theme.SYSTEM,
        metadata=_described("Colours", "Light, dark, or whatever the system uses."),
    )
    device: str = field(
        default="",
        metadata=_described(
            "Run on",
            "The device that computes the answers. Automatic takes a discrete Intel graphics "
            "card first, then integrated graphics, then the CPU.",
        ),
    )
    kv_cache_precision: KvCachePrecision | None = field(
        default=None,
        metadata=_described(
            "KV cache",
            "How the model's memory of the conversation is stored. On the CPU f32 keeps answers "
            "identical with and without a draft; smaller formats save memory.",
        ),
    )
    exact_text: bool = field(
        default=False,
        metadata=_described(
            "Exact text",
            "Stores the KV cache so that texts with and without the draft were proven identical "
            "on this machine.",
        ),
    )
    sampling: SamplingParams = field(
        default_factory=SamplingParams,
        metadata=_described(
            "Sampling",
            "How the next word is chosen. At temperature 0 the most likely word is always taken, "
            "and only then can a draft help.",
        ),
    )
    system_prompt: str = field(
        default="",
        metadata=_described(
            "System prompt",
            "Instructions that the model reads before every new conversation.",
        ),
    )
    show_draft_tokens: bool = field(
        default=False,
        metadata=_described(
            "Show draft tokens",
            "Tints the words that the draft proposed and the target accepted.",
        ),
    )
    last_pair_id: str = field(
        default="",
        metadata=_described("Last model", "The model that is loaded when the program starts."),
    )
    keeps_way: bool = field(
        default=False,
        metadata=_described(
            "Keep this draft",
            "You chose the last model's draft by name: none that was faster is taken instead.",
        ),
    )
    last_graphics: str = field(
        default="",
        metadata=_described(
            "Last graphics", "The graphics device that Automatic took the last time it had one."
        ),
    )
    added_pairs: tuple[AddedPair, ...] = field(
        default=(),
        metadata=_described("Your own pairs", "Folders on this disk that you added."),
    )
    hub_endpoint: str = field(
        default="",
        metadata=_described(
            "Model hub",
            "The address that models are downloaded from, for instance a mirror in your company. "
            "Empty means the Hugging Face hub, or HF_ENDPOINT where that is set.",
        ),
    )
    hub_proxy: str = field(
        default="",
        metadata=_described(
            "Proxy",
            "The address of a proxy for downloads. Empty means what the system says. A password "
            "belongs into the system's own setting, not here.",
        ),
    )
    hub_ca_file: Path | None = field(
        default=None,
        metadata=_described(
            "Own certificates",
            "A file with certificates to trust besides the system's, as a company proxy needs.",
        ),
    )
    download_limit_bytes_per_second: int | None = field(
        default=None,
        metadata=_described(
            "Bandwidth limit", "Downloads leave the rest of the line to everything else."
        ),
    )
    use_hf_cache: bool = field(
        default=True,
        metadata=_described(
            "Use the Hugging Face cache",
            "Files that other programs have already downloaded are taken from there.",
        ),
    )
    use_hf_login: bool = field(
        default=False,
        metadata=_described(
            "Use my Hugging Face login",
            "Takes the token of “hf auth login”, or HF_TOKEN, for models that need one.",
        ),
    )
    use_xet: bool = field(
        default=False,
        metadata=_described(
            "Use Xet where the hub offers it",
            "Faster for some files, but what has arrived of a file is lost when it is "
            "interrupted.",
        ),
    )
    no_network: bool = field(
        default=False,
        metadata=_described(
            "No network",
            "Nothing is fetched and no hub is asked: no process of this program can reach a "
            "network. Chatting needs none anyway.",
        ),
    )
    memory_reserve_bytes: int | None = field(
        default=None,
        metadata=_described(
            "Keep free",
            "Memory that no model is recommended to take, so that other programs stay quick. "
            "Less makes room for larger models.",
        ),
    )
    export_memory_limit_bytes: int | None = field(
        default=None,
        metadata=_described(
            "Memory of an export",
            "An export that takes more is stopped. Unless you choose less, it may take nine "
            "tenths of this machine's memory, and it is stopped earlier when the rest gets short.",
        ),
    )
    setup: SetupPlace = field(
        default_factory=SetupPlace,
        metadata=_described("Setup", "How far you are with choosing a model for this machine."),
    )


class SettingsChange(TypedDict, total=False):
    """The fields that a change may name; each as in `Settings`."""

    theme: Theme
    device: str
    kv_cache_precision: KvCachePrecision | None
    exact_text: bool
    sampling: SamplingParams
    system_prompt: str
    show_draft_tokens: bool
    last_pair_id: str
    keeps_way: bool
    last_graphics: str
    added_pairs: tuple[AddedPair, ...]
    hub_endpoint: str
    hub_proxy: str
    hub_ca_file: Path | None
    download_limit_bytes_per_second: int | None
    use_hf_cache: bool
    use_hf_login: bool
    use_xet: bool
    no_network: bool
    memory_reserve_bytes: int | None
    export_memory_limit_bytes: int | None
    setup: SetupPlace


SETTING_TEXTS: Mapping[str, SettingText] = {
    f.name: f.metadata[_TEXT] for f in fields(Settings) if _TEXT in f.metadata
}

SAMPLING_TEXTS: Mapping[str, SettingText] = {
    "temperature": SettingText(
        "Temperature",
        "0 always takes the most likely word, and the draft can help. Higher is more varied, "
        "and the draft rests.",
    ),
    "top_p": SettingText(
        "Top p", "Only the most likely words whose chances add up to this are considered."
    ),
    "top_k": SettingText(
        "Top k", "Only this many of the most likely words are considered; 0 means all."
    ),
    "repetition_penalty": SettingText(
        "Repetition penalty", "Above 1, words that were already used become less likely."
    ),
    "seed": SettingText("Seed", "The same seed with the same question gives the same answer."),
    "max_new_tokens": SettingText("Longest answer", "The answer stops after this many tokens."),
}
