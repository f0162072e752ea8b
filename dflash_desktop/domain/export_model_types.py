"""Which releases of transformers each kind of model is exported with.

Read out of optimum-intel 2.2.0 (MIN_ and MAX_TRANSFORMERS_VERSION in its model_configs.py), for
the tasks text-generation and image-text-to-text. What is missing here has no exporter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class TransformersRange:
    """The releases from `first` to `last`, both included; `last` None: all that follow."""

    first: tuple[int, ...]
    last: tuple[int, ...] | None

    def holds(self, release: tuple[int, ...]) -> bool:
        """Whether this release is among them."""
        return self.first <= release and (self.last is None or release <= self.last)

    @property
    def words(self) -> str:
        """For people: "transformers 5.2.0 to 5.2.99"."""
        first = ".".join(map(str, self.first))
        if self.last is None:
            return f"transformers {first} or newer"
        return f"transformers {first} to {'.'.join(map(str, self.last))}"


def transformers_range(model_type: str) -> TransformersRange | None:
    """The releases for this kind, as config.json names it; None: there is no exporter."""
    return _RANGES.get(model_type)


_NAMES: Final = (
    (
        TransformersRange((4, 50, 0), None),
        "mistral3",
    ),
    (
        TransformersRange((4, 51, 0), (4, 51, 3)),
        "minicpmo",
    ),
    (
        TransformersRange((4, 51, 0), (4, 53, 3)),
        (
            "arctic deepseek deepseek_v2 deepseek_v3 llava-qwen2 minicpm minicpm3 phi3_v "
            "phi4_multimodal phi4mm"
        ),
    ),
    (
        TransformersRange((4, 51, 0), (4, 55, 4)),
        "chatglm qwen",
    ),
    (
        TransformersRange((4, 53, 0), (4, 57, 6)),
        "ouro",
    ),
    (
        TransformersRange((4, 57), (4, 57, 6)),
        (
            "aquila baichuan bitnet dbrx deci exaone exaone4 got_ocr2 idefics3 internlm internlm2 "
            "internvl_chat jais llama4 llama4_text llava_next_video marian minicpmv orion "
            "qwen3_next smolvlm videochat_flash_qwen xverse zamba2"
        ),
    ),
    (
        TransformersRange((4, 57), (5, 0)),
        "gemma gemma2 gemma3_text glm qwen2_5_vl qwen2_vl qwen3_vl",
    ),
    (
        TransformersRange((4, 57), (5, 3, 0)),
        "falcon_mamba mamba",
    ),
    (
        TransformersRange((4, 57), (5, 4, 0)),
        "lfm2",
    ),
    (
        TransformersRange((4, 57), None),
        (
            "afmoe arcee bart bigbird_pegasus biogpt blenderbot blenderbot-small bloom codegen "
            "cohere cohere2 falcon gemma3 glm4 gpt2 gpt_bigcode gpt_neo gpt_neox "
            "gpt_neox_japanese gpt_oss gptj granite granitemoe hunyuan_v1_dense llama llava "
            "llava_next maira2 mbart mistral mixtral mpt olmo olmo2 opt pegasus persimmon phi "
            "phi3 phimoe qwen2 qwen2_moe qwen3 qwen3_moe qwen3_vl_text smollm3 stablelm "
            "starcoder2 xglm"
        ),
    ),
    (
        TransformersRange((5, 0), (5, 0)),
        "gemma3n_text",
    ),
    (
        TransformersRange((5, 0), (5, 4, 0)),
        "lfm2_moe",
    ),
    (
        TransformersRange((5, 0), None),
        "gemma3n qwen3_omni_moe qwen3_omni_moe_talker_text qwen3_omni_moe_text",
    ),
    (
        TransformersRange((5, 2, 0), (5, 2, 99)),
        "qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text",
    ),
    (
        TransformersRange((5, 5), None),
        "gemma4",
    ),
    (
        TransformersRange((5, 5, 0), None),
        "granitemoehybrid",
    ),
    (
        TransformersRange((5, 10), (5, 10, 99)),
        "gemma4_unified gemma4_unified_text",
    ),
    (
        TransformersRange((5, 11), None),
        "deepseek_ocr2",
    ),
    (
        TransformersRange((5, 15, 0), None),
        "muse_glimmer muse_glimmer_text",
    ),
)

_RANGES: Final = {name: allowed for allowed, names in _NAMES for name in names.split()}
