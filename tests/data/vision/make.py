"""Makes the models of this folder.

`make.py {qwen3_5,gemma4,qwen2_5_vl} DIR` writes DIR/target, `make.py draft DIR` its draft beside
it, and `make.py pack DIR FILE` packs an export. README.md says in which environments.

Nothing is trained: the target is made to answer with a few tokens in an order that depends on what
it read, and the draft to propose one of them, so that some proposals are accepted and others are
not. Weights have three values only, which packs them to a tenth.
"""

import io
import json
import lzma
import sys
import tarfile
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

HIDDEN, VOCABULARY, LAYERS = 64, 512, 4
ANSWERS = range(300, 304)  # the tokens that the target answers with
REPULSION = {"qwen3_5": 0.02, "gemma4": 0.02, "qwen2_5_vl": 0.02}
PROPOSED = {"qwen3_5": 1, "gemma4": 0, "qwen2_5_vl": 2}  # which of them the draft proposes
QWEN = "endoftext im_start im_end mask vision_start vision_end vision_pad image_pad video_pad"
QWEN_TOKENS = [f"<|{name}|>" for name in QWEN.split()]
QWEN_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for c in m.content %}{% if c.type == 'image' %}<|vision_start|><|image_pad|>"
    "<|vision_end|>{% elif c.type == 'text' %}{{ c.text }}{% endif %}{% endfor %}{% endif %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
GEMMA = "<pad> <eos> <bos> <unk> <mask> <|turn> <turn|> <|image> <image|> <|image|> <|video|>"
GEMMA_TOKENS = [*GEMMA.split(), "<|audio>", "<audio|>", "<|audio|>"]
GEMMA_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|turn>{{ 'model' if m.role == 'assistant' else "
    "m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{% if c.type == 'image' %}<|image|>{% elif c.type == 'text' %}{{ c.text }}{% endif %}"
    "{% endfor %}{% endif %}<turn|>\n{% endfor %}{% if add_generation_prompt %}<|turn>model\n"
    "{% endif %}"
)
PIXELS = {"do_convert_rgb": True, "do_normalize": True, "do_rescale": True, "do_resize": True}
RESCALE = {"rescale_factor": 1 / 255, "resample": 3}
QWEN_PIXELS = PIXELS | RESCALE | {"image_mean": [0.5] * 3, "image_std": [0.5] * 3, "merge_size": 2}


def tokenizer(special, template, **names):
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=alphabet
    )
    words.train_from_iterator(Path(transformers.__file__).read_text().splitlines(), trainer)
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=words, **names)
    made.chat_template = template
    return made


def qwen_tokens():
    names = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "bos_token": None}
    made = tokenizer(QWEN_TOKENS, QWEN_TEMPLATE, **names)
    ids = {
        f"{name}_token_id": made.convert_tokens_to_ids(f"<|{token}|>")
        for name, token in (
            ("image", "image_pad"),
            ("video", "video_pad"),
            ("vision_start", "vision_start"),
            ("vision_end", "vision_end"),
        )
    }
    return made, ids


TEXT = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": 2 * HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 2048,
    "pad_token_id": 0,
}
SEES = {
    "depth": 1,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_heads": 2,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": HIDDEN,
}


def qwen3_5():
    made, ids = qwen_tokens()
    rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
    rope |= {"mrope_section": [6, 5, 5], "mrope_interleaved": True}
    linear = {"linear_key_head_dim": 32, "linear_value_head_dim": 32, "linear_conv_kernel_dim": 4}
    linear |= {"linear_num_key_heads": 2, "linear_num_value_heads": 2}
    text = TEXT | linear | {"head_dim": 64, "eos_token_id": 2, "rope_parameters": rope}
    config = transformers.Qwen3_5Config(
        text_config=text | {"mtp_num_hidden_layers": 1},
        vision_config=SEES | {"patch_size": 16, "num_position_embeddings": 256},
        **ids,
    )
    sizes = {"shortest_edge": 4096, "longest_edge": 65536}
    pixels = {"image_processor_type": "Qwen2VLImageProcessorFast", "patch_size": 16, "size": sizes}
    model = transformers.Qwen3_5ForConditionalGeneration(config)
    return model, made, QWEN_PIXELS | pixels | {"temporal_patch_size": 2}, 3


def qwen2_5_vl():
    made, ids = qwen_tokens()
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [6, 5, 5]}
    text = TEXT | {"eos_token_id": 2, "bos_token_id": None, "rope_scaling": rope}
    sees = SEES | {"patch_size": 14, "window_size": 56, "fullatt_block_indexes": [0]}
    sees |= {"in_channels": 3, "in_chans": 3, "tokens_per_second": 2}
    config = transformers.Qwen2_5_VLConfig(text_config=text, vision_config=sees, **ids)
    pixels = {"image_processor_type": "Qwen2VLImageProcessor", "patch_size": 14}
    pixels |= {"min_pixels": 3136, "max_pixels": 65536, "temporal_patch_size": 2}
    model = transformers.Qwen2_5_VLForConditionalGeneration(config)
    model.generation_config.bos_token_id = None
    return model, made, QWEN_PIXELS | pixels, 3


def gemma4():
    names = {"eos_token": "<turn|>", "pad_token": "<pad>", "bos_token": "<bos>"}
    extra = {"image_token": "<|image|>", "boi_token": "<|image>", "eoi_token": "<image|>"}
    made = tokenizer(
        GEMMA_TOKENS, GEMMA_TEMPLATE, unk_token="<unk>", extra_special_tokens=extra, **names
    )
    number = made.convert_tokens_to_ids
    text = TEXT | {"vocab_size_per_layer_input": VOCABULARY, "head_dim": 32, "global_head_dim": 64}
    text |= {"hidden_size_per_layer_input": 8, "num_kv_shared_layers": 1, "sliding_window": 64}
    text |= {"layer_types": ["sliding_attention", "full_attention"] * 2, "bos_token_id": 2}
    text |= {"eos_token_id": number("<turn|>"), "tie_word_embeddings": False}
    sees = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "head_dim": 16}
    sees |= {"num_attention_heads": 2, "num_key_value_heads": 2, "patch_size": 16}
    sees |= {"pooling_kernel_size": 3, "position_embedding_size": 256}
    config = transformers.Gemma4Config(
        text_config=text,
        vision_config=sees,
        audio_config=None,
        tie_word_embeddings=False,
        boi_token_id=number("<|image>"),
        eoi_token_id=number("<image|>"),
        image_token_id=number("<|image|>"),
        video_token_id=number("<|video|>"),
        boa_token_id=number("<|audio>"),
        eoa_token_index=number("<audio|>"),
        audio_token_id=number("<|audio|>"),
    )
    pixels = {"image_processor_type": "Gemma4ImageProcessor", "do_normalize": False}
    pixels |= {"image_mean": [0.0] * 3, "image_std": [1.0] * 3, "patch_size": 16}
    pixels |= {"pooling_kernel_size": 3, "max_soft_tokens": 70}
    model = transformers.Gemma4ForConditionalGeneration(config)
    return model, made, PIXELS | RESCALE | pixels, number("<mask>")


def three_valued(weights):
    for name, value in weights.items():
        if value.dim() > 1 and value.is_floating_point():
            step = 1.2 * value.float().std()
            weights[name] = (value.float() / step).round().clamp(-1, 1) * step


def answering(weights, *, layer_scale, repulsion):
    """Every token leads to one of a few, rather not to itself: which one is up to the context."""
    embedding = next(k for k in weights if k.endswith("embed_tokens.weight"))
    head = next(k for k in weights if k.endswith("lm_head.weight"))
    generator = torch.Generator().manual_seed(7)
    way = torch.sign(torch.randn(HIDDEN, generator=generator))
    weights[embedding] = weights[embedding].float() * 2 + way
    weights[head] = weights[head].float() * 0.05
    for token in ANSWERS:
        across = torch.randn(HIDDEN, generator=generator)
        across -= (across @ way) / (way @ way) * way
        weights[head][token] = 0.5 * way + across
        weights[embedding][token] -= repulsion * across
    for name in weights:
        layers = name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight"))
        if layers and not any(part in name for part in ("visual", "vision", "mtp")):
            weights[name] = weights[name].float() * layer_scale
    return weights[embedding], weights[head]


def draft(folder, mask, embedding, proposed):
    """A draft that always proposes one token; `proposed` is its row of the target's head."""
    from optimum.exporters.openvino.model_patcher import Qwen3DFlashForCausalLM

    sizes = {"num_hidden_layers": 1, "head_dim": 32, "num_attention_heads": 2}
    config = transformers.Qwen3Config(**TEXT | sizes, tie_word_embeddings=False)
    config.architectures, config.block_size = ["DFlashDraftModel"], 8
    config.num_target_layers = LAYERS
    config.dflash_config = {"mask_token_id": mask, "target_layer_ids": [0, 2]}
    Qwen3DFlashForCausalLM(config).save_pretrained(folder)
    file = folder / "model.safetensors"
    weights = load_file(file)
    three_valued(weights)
    for name in weights:
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            weights[name] = torch.zeros_like(weights[name])
    (last,) = (k for k in weights if k in ("norm.weight", "model.norm.weight"))
    seen = embedding[mask] / embedding[mask].pow(2).mean().sqrt()
    weights[last] = (proposed / seen).clamp(-50, 50)
    save_file(weights, file, metadata={"format": "pt"})
    described = json.loads((folder / "config.json").read_text())
    described["architectures"] = ["DFlashDraftModel"]
    (folder / "config.json").write_text(json.dumps(described, indent=1))


def pack(folder, file):
    """What the runtime reads of an export, without anything of the machine that made it."""
    with tarfile.open(file, "w:xz", preset=9 | lzma.PRESET_EXTREME) as archive:
        for part in sorted(folder.iterdir()):
            if part.suffix == ".original" or part.name in ("tokenizer.json", "dflash-repair.json"):
                continue
            content = part.read_bytes()
            if part.name == "config.json":
                described = json.loads(content)
                described.pop("auto_map", None)
                content = json.dumps(described, indent=1).encode()
            entry = tarfile.TarInfo(part.name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def main():
    kind, folder = sys.argv[1], Path(sys.argv[2])
    if kind == "pack":
        pack(folder, Path(sys.argv[3]))
        return
    torch.manual_seed(0)
    if kind == "draft":
        draft(folder / "draft", **torch.load(folder / "answers.pt"))
        return
    model, words, pixels, mask = {"qwen3_5": qwen3_5, "gemma4": gemma4, "qwen2_5_vl": qwen2_5_vl}[
        kind
    ]()
    model.generation_config.eos_token_id = words.eos_token_id
    model.generation_config.pad_token_id = 0
    model.save_pretrained(folder / "target")
    words.save_pretrained(folder / "target")
    (folder / "target" / "preprocessor_config.json").write_text(json.dumps(pixels, indent=1))
    file = folder / "target" / "model.safetensors"
    weights = load_file(file)
    three_valued(weights)
    embedding, head = answering(weights, layer_scale=4.0, repulsion=REPULSION[kind])
    if kind == "qwen3_5":
        from optimum.exporters.openvino.model_patcher import Qwen3_5MTPModule

        own_head = dict(Qwen3_5MTPModule(model.config.text_config).state_dict())
        three_valued(own_head)
        weights |= {f"mtp.{name}": value for name, value in own_head.items()}
    save_file({k: v.contiguous() for k, v in weights.items()}, file, metadata={"format": "pt"})
    proposed = head[ANSWERS[PROPOSED[kind]]]
    known = {"mask": mask, "embedding": embedding, "proposed": proposed}
    torch.save(known, folder / "answers.pt")


if __name__ == "__main__":
    main()
