"""Makes parts of random targets that need the libraries of the export environment, and runs there.

tokenizer TEXT FOLDER SIZE: a tokenizer of Qwen's kind, trained on the file TEXT.
vision TEXT FOLDER [HIDDEN LAYERS]: a Gemma 4 with a vision part; prints its numbers as JSON.
qwen3_5 TEXT FOLDER HIDDEN LAYERS WORDS: a Qwen3.5 with a vision part, likewise.
qwen3_moe TEXT FOLDER HIDDEN LAYERS WORDS: a Qwen3 of eight experts, likewise.
"""

from __future__ import annotations

import json
import struct
import sys
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transformers import PreTrainedTokenizerFast

_OF_QWEN = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|mask|>")
_OF_QWEN_PICTURES = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>")
_OF_GEMMA = (
    *("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<|turn>", "<turn|>"),
    *("<|image>", "<image|>", "<|image|>", "<|video|>", "<|audio>", "<audio|>", "<|audio|>"),
)
_QWEN_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_GEMMA_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|turn>{{ m.role }}\n{{ m.content }}<turn|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|turn>model\n{% endif %}"
)
_WORDS = 1024
_PICTURES = {
    "image_processor_type": "Gemma4ImageProcessor",
    "processor_class": "Gemma4Processor",
    "do_convert_rgb": True,
    "do_normalize": False,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.0] * 3,
    "image_std": [1.0] * 3,
    "patch_size": 16,
    "pooling_kernel_size": 3,
    "max_soft_tokens": 70,
    "rescale_factor": 1 / 255,
    "resample": 3,
}
_PICTURES_OF_QWEN = {
    "image_processor_type": "Qwen2VLImageProcessorFast",
    "processor_class": "Qwen3VLProcessor",
    "do_convert_rgb": True,
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.5] * 3,
    "image_std": [0.5] * 3,
    "patch_size": 16,
    "temporal_patch_size": 2,
    "merge_size": 2,
    "rescale_factor": 1 / 255,
    "resample": 3,
    "size": {"shortest_edge": 1024, "longest_edge": 65536},
}
_VIDEOS_OF_QWEN = {
    **{name: _PICTURES_OF_QWEN[name] for name in _PICTURES_OF_QWEN if name[:6] != "image_"},
    "video_processor_type": "Qwen3VLVideoProcessor",
}


def write_qwen_tokenizer(text: str, folder: Path, size: int) -> None:
    tokenizer = _trained(text, size, _OF_QWEN)
    tokenizer.add_special_tokens({"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"})
    tokenizer.chat_template = _QWEN_TEMPLATE
    tokenizer.save_pretrained(folder)


def write_vision_target(text: str, folder: Path, hidden: int = 64, layers: int = 3) -> None:
    import torch
    from transformers import Gemma4Config, Gemma4ForConditionalGeneration

    tokenizer = _gemma_tokenizer(text)
    ids = tokenizer.convert_tokens_to_ids
    size = max(_WORDS, len(tokenizer))
    words: dict[str, Any] = {
        "vocab_size": size,
        "vocab_size_per_layer_input": size,
        "hidden_size": hidden,
        "intermediate_size": 4 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": max(2, hidden // 64),
        "num_key_value_heads": max(1, hidden // 128),
        "head_dim": 32,
        "global_head_dim": 64,
        "hidden_size_per_layer_input": 0,
        "sliding_window": 64,
        "max_position_embeddings": 2048,
        "pad_token_id": 0,
        "eos_token_id": ids("<turn|>"),
        "bos_token_id": 2,
        "layer_types": ["sliding_attention"] * (layers - 1) + ["full_attention"],
        "num_kv_shared_layers": 0,
    }
    pictures = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "patch_size": 16,
        "pooling_kernel_size": 3,
        "position_embedding_size": 256,
    }
    config = Gemma4Config(
        text_config=words,
        vision_config=pictures,
        audio_config=None,
        boi_token_id=ids("<|image>"),
        eoi_token_id=ids("<image|>"),
        image_token_id=ids("<|image|>"),
        video_token_id=ids("<|video|>"),
        boa_token_id=ids("<|audio>"),
        eoa_token_index=ids("<audio|>"),
        audio_token_id=ids("<|audio|>"),
    )
    torch.manual_seed(0)
    model = Gemma4ForConditionalGeneration(config).to(torch.bfloat16)
    model.generation_config.eos_token_id = ids("<turn|>")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _write(folder / "preprocessor_config.json", _PICTURES)
    sound = {"feature_extractor_type": "Gemma4AudioFeatureExtractor", "feature_size": 128}
    _write(
        folder / "processor_config.json",
        {
            "processor_class": "Gemma4Processor",
            "image_processor": _PICTURES,
            "feature_extractor": sound | {"sampling_rate": 16000},
            "image_seq_length": 70,
            "audio_seq_length": 188,
        },
    )
    _tell(folder)


def write_qwen3_5_target(text: str, folder: Path, hidden: int, layers: int, words: int) -> None:
    import torch
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    tokenizer = _trained(text, _WORDS, (*_OF_QWEN, *_OF_QWEN_PICTURES))
    tokenizer.add_special_tokens({"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"})
    tokenizer.chat_template = _QWEN_TEMPLATE
    image, video, start, end = tokenizer.convert_tokens_to_ids(list(_OF_QWEN_PICTURES))
    heads = hidden // 64
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}
    text_part: dict[str, Any] = {
        "vocab_size": words,
        "hidden_size": hidden,
        "intermediate_size": 3 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads // 4,
        "head_dim": 64,
        "linear_key_head_dim": 64,
        "linear_value_head_dim": 64,
        "linear_num_key_heads": heads,
        "linear_num_value_heads": heads,
        "max_position_embeddings": 4096,
        "rope_parameters": rope | {"mrope_section": [6, 5, 5], "mrope_interleaved": True},
    }
    vision_part = {
        "depth": 4,
        "hidden_size": 256,
        "intermediate_size": 768,
        "num_heads": 4,
        "out_hidden_size": hidden,
        "num_position_embeddings": 256,
    }
    config = Qwen3_5Config(
        text_config=text_part,
        vision_config=vision_part,
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
    )
    torch.manual_seed(0)
    Qwen3_5ForConditionalGeneration(config).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _write(folder / "preprocessor_config.json", _PICTURES_OF_QWEN)
    _write(folder / "video_preprocessor_config.json", _VIDEOS_OF_QWEN)
    _write(folder / "chat_template.json", {"chat_template": _QWEN_TEMPLATE})
    _tell(folder)


def write_qwen3_moe_target(text: str, folder: Path, hidden: int, layers: int, words: int) -> None:
    import torch
    from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

    heads = hidden // 64
    config = Qwen3MoeConfig(
        vocab_size=words,
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        moe_intermediate_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads // 4,
        head_dim=64,
        num_experts=8,
        num_experts_per_tok=2,
        max_position_embeddings=4096,
        bos_token_id=None,
    )
    torch.manual_seed(0)
    Qwen3MoeForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    write_qwen_tokenizer(text, folder, _WORDS)
    _tell(folder)


def _tell(folder: Path) -> None:
    """Prints the checkpoint's numbers, as its files have them."""
    counts: list[int] = []
    size = 0
    for path in folder.glob("*.safetensors"):
        size += path.stat().st_size
        with path.open("rb") as file:
            head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        counts += [prod(one["shape"]) for name, one in head.items() if name != "__metadata__"]
    told = {"parameters": sum(counts), "bytes": size, "largest": max(counts)}
    sys.stdout.write(json.dumps(told))


def _gemma_tokenizer(text: str) -> PreTrainedTokenizerFast:
    named = {"image": "<|image|>", "boi": "<|image>", "eoi": "<image|>"}
    named |= {"audio": "<|audio|>", "boa": "<|audio>", "eoa": "<audio|>"}
    extra = {f"{name}_token": token for name, token in named.items()}
    tokenizer = _trained(text, _WORDS, _OF_GEMMA, extra_special_tokens=extra)
    usual = {"eos": "<turn|>", "pad": "<pad>", "bos": "<bos>", "unk": "<unk>"}
    tokenizer.add_special_tokens({f"{name}_token": token for name, token in usual.items()})
    tokenizer.chat_template = _GEMMA_TEMPLATE
    return tokenizer


def _trained(
    text: str, size: int, special: Sequence[str], **options: object
) -> PreTrainedTokenizerFast:
    """A byte-level BPE of so many words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train([text], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=None, **options)


def _write(path: Path, fields: dict[str, Any]) -> None:
    path.write_text(json.dumps(fields, indent=1), encoding="utf-8")


_WRITERS: dict[str, Callable[..., None]] = {
    "tokenizer": write_qwen_tokenizer,
    "vision": write_vision_target,
    "qwen3_5": write_qwen3_5_target,
    "qwen3_moe": write_qwen3_moe_target,
}

if __name__ == "__main__":
    kind, text_file, place, *numbers = sys.argv[1:]
    _WRITERS[kind](text_file, Path(place), *map(int, numbers))
