"""llama.cpp behind JSON lines: a child of llama_cpp in an environment that has only xllamacpp.

It imports nothing of this project.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context-tokens", type=int, required=True)
    args = parser.parse_args()
    # llama.cpp logs to both streams, so answers take a copy and standard output becomes the log.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    import xllamacpp  # type: ignore[import-not-found]  # only in its own environment

    params = xllamacpp.CommonParams()
    params.model.path = args.gguf
    params.n_ctx = args.context_tokens
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = args.threads
    server = xllamacpp.Server(params)
    out.write("\n")
    out.flush()
    for line in sys.stdin:
        question = json.loads(line)
        started = time.perf_counter()
        answer = server.handle_chat_completions(
            {
                "messages": [{"role": "user", "content": question["prompt"]}],
                "temperature": 0.0,
                "max_tokens": question["max_new_tokens"],
                "cache_prompt": False,
            }
        )
        seconds = time.perf_counter() - started
        timings = answer["timings"]
        # predicted_ms runs from the prompt's end; its first token comes from the prompt's pass.
        timed = {
            "tokens": timings["predicted_n"],
            "later_tokens": max(0, timings["predicted_n"] - 1),
            "seconds": seconds,
            "decode_seconds": timings["predicted_ms"] / 1000,
        }
        out.write(json.dumps(timed) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
