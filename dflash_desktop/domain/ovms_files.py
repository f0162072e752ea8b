"""What OpenVINO Model Server needs to serve a pair: its graph, configuration and commands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

GRAPH_FILE: Final = "graph.pbtxt"
CONFIG_FILE: Final = "ovms_config.json"
MARK: Final = "# Written by DFlash Desktop."

_EXACT_ON_CPU: Final[Mapping[str, str]] = {
    "KV_CACHE_PRECISION": "f32",
    "INFERENCE_PRECISION_HINT": "f32",
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
}
"""What keeps the text with a draft the target's own there, as in this program's own engine."""


@dataclass(frozen=True, slots=True)
class ServedPair:
    """A pair as the server will offer it; paths are absolute, with "/"."""

    name: str
    target_path: str
    draft_path: str
    device: str
    is_vision: bool

    @property
    def pipeline_type(self) -> str:
        """Drafts run with continuous batching only."""
        return "VLM_CB" if self.is_vision else "LM_CB"


def graph_text(pair: ServedPair) -> str:
    """The graph: prefix caching is off, since no draft runs with it."""
    plugin = _EXACT_ON_CPU if pair.device == "CPU" else {}
    return f"""\
{MARK}
input_stream: "HTTP_REQUEST_PAYLOAD:input"
output_stream: "HTTP_RESPONSE_PAYLOAD:output"
node: {{
  name: "LLMExecutor"
  calculator: "HttpLLMCalculator"
  input_stream: "LOOPBACK:loopback"
  input_stream: "HTTP_REQUEST_PAYLOAD:input"
  input_side_packet: "LLM_NODE_RESOURCES:llm"
  output_stream: "LOOPBACK:loopback"
  output_stream: "HTTP_RESPONSE_PAYLOAD:output"
  input_stream_info: {{
    tag_index: "LOOPBACK:0"
    back_edge: true
  }}
  node_options: {{
    [type.googleapis.com / mediapipe.LLMCalculatorOptions]: {{
      pipeline_type: {pair.pipeline_type}
      models_path: {_quoted(pair.target_path)}
      draft_models_path: {_quoted(pair.draft_path)}
      device: {_quoted(pair.device)}
      plugin_config: {_quoted(json.dumps(plugin))}
      enable_prefix_caching: false
      cache_size: 0
    }}
  }}
  input_stream_handler {{
    input_stream_handler: "SyncSetInputStreamHandler"
    options {{
      [mediapipe.SyncSetInputStreamHandlerOptions.ext] {{
        sync_set {{
          tag_index: "LOOPBACK:0"
        }}
      }}
    }}
  }}
}}
"""


def config_text(pair: ServedPair, folder: str) -> str:
    """The server's list of what it serves: this pair, from the folder of its graph."""
    served = [{"name": pair.name, "base_path": folder}]
    config = {"model_config_list": [], "mediapipe_config_list": served}
    return f"{json.dumps(config, indent=2, ensure_ascii=False)}\n"


def serve_command(config_path: str, *, rest_port: int) -> tuple[str, ...]:
    """Starts the server with the files that were written."""
    return ("ovms", "--config_path", config_path, "--rest_port", str(rest_port))


def configure_command(pair: ServedPair) -> tuple[str, ...]:
    """Lets a newer server write such files itself, into the target's folder."""
    return (
        "ovms",
        "--configure",
        "--model_path",
        pair.target_path,
        "--task",
        "text_generation",
        "--draft_model_path",
        pair.draft_path,
        "--enable_prefix_caching",
        "false",
    )


def _quoted(text: str) -> str:
    """A string of protobuf's text form."""
    pieces = []
    for letter in text:
        if letter in '\\"':
            pieces.append(f"\\{letter}")
        elif letter < " " or letter == "\x7f":
            pieces.append(f"\\{ord(letter):03o}")
        else:
            pieces.append(letter)
    return '"' + "".join(pieces) + '"'
