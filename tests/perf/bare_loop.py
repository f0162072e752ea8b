"""The shortest loop that openvino-genai allows, in a process of its own.

A child of throughput_vs_bare, with the same settings as the program and nothing of its code
between the runtime and the clock.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import msgspec

from dflash_desktop.workers.text_pipeline import CPU_EXACTNESS
from tests.perf.json_child import Question, Timed

PREFILL_CHUNK_TOKENS = 256  # the program takes 64 on a CPU; the prompts here fit into either


def build(args: argparse.Namespace, *, with_draft: bool) -> Any:  # noqa: ANN401 - no stubs
    import openvino_genai as genai

    scheduler = genai.SchedulerConfig()
    scheduler.enable_prefix_caching = False
    scheduler.max_num_batched_tokens = PREFILL_CHUNK_TOKENS
    exactness = CPU_EXACTNESS if args.device == "CPU" else {}
    properties: dict[str, object] = {"KV_CACHE_PRECISION": args.kv_cache_precision, **exactness}
    if with_draft:
        properties["draft_model"] = genai.draft_model(args.draft, args.device, **exactness)
    return genai.ContinuousBatchingPipeline(args.target, scheduler, args.device, properties)


def answer(pipeline: Any, question: Question, request: int) -> Timed:  # noqa: ANN401 - no stubs
    import numpy as np
    import openvino as ov
    import openvino_genai as genai

    started = time.perf_counter()
    tokenizer = pipeline.get_tokenizer()
    history = genai.ChatHistory([{"role": "user", "content": question.prompt}])
    text = tokenizer.apply_chat_template(history, add_generation_prompt=True)
    encoded = tokenizer.encode(text, add_special_tokens=False).input_ids
    config = pipeline.get_config()
    config.max_new_tokens = question.max_new_tokens
    config.do_sample = False
    if question.assistant_tokens:
        config.num_assistant_tokens = question.assistant_tokens
    handle = pipeline.add_request(request, ov.Tensor(np.array(encoded.data)), config)
    ids: list[int] = []
    first_at = last_at = started
    first_tokens = 0
    while pipeline.has_non_finished_requests():
        pipeline.step()
        if handle.can_read():
            for output in handle.read().values():
                ids += output.generated_ids
            last_at = time.perf_counter()
            if not first_tokens:
                first_at, first_tokens = last_at, len(ids)
    tokenizer.decode(ids)
    return Timed(
        tokens=len(ids),
        later_tokens=len(ids) - first_tokens,
        seconds=time.perf_counter() - started,
        decode_seconds=last_at - first_at,
        token_ids=tuple(ids),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", default="")
    parser.add_argument("--device", required=True)
    parser.add_argument("--kv-cache-precision", required=True)
    args = parser.parse_args()
    # The runtime would report its use; a failing import is its off switch.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # Python's own way
    pipelines = {False: build(args, with_draft=False)}
    if args.draft:
        pipelines[True] = build(args, with_draft=True)
    out = sys.stdout
    out.write("\n")
    out.flush()
    for request, line in enumerate(sys.stdin):
        question = msgspec.json.decode(line, type=Question)
        timed = answer(pipelines[bool(question.assistant_tokens)], question, request)
        out.write(msgspec.json.encode(timed).decode() + "\n")
        out.flush()


if __name__ == "__main__":
    main()
