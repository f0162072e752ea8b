"""What a person is told for each code of a worker: what happened, why, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import Remedy

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a person is told; `{name}` stands for one of the failure's facts."""

    headline: str
    advice: str
    remedies: tuple[Remedy, ...] = ()
    without_facts: str = ""  # the headline when the worker sent no numbers


SENTENCES: Final[Mapping[str, Sentence]] = {
    "model_missing": Sentence(
        "The model's files are not where they were.",
        "They were moved or deleted, or the disk is not connected. Bring them back and try again, "
        "or choose another model.",
        (Remedy.RETRY, Remedy.CHOOSE_MODEL),
    ),
    "image_kind_unknown": Sentence(
        "The installed runtime does not make pictures with this kind of model.",
        "It runs Stable Diffusion, Stable Diffusion XL and 3, Latent Consistency, Flux, Z-Image "
        "and Qwen-Image. Choose one of those.",
        (Remedy.CHOOSE_MODEL,),
    ),
    "model_broken": Sentence(
        "This model cannot be read: a file is damaged or incomplete.",
        "Download or export the model again, or choose another one.",
        (Remedy.CHOOSE_MODEL, Remedy.RETRY),
    ),
    "draft_missing": Sentence(
        "The draft's files are not where they were.",
        "They were moved or deleted, or the disk is not connected. Bring them back and try again, "
        "or load the model without a draft.",
        (Remedy.RETRY, Remedy.LOAD_WITHOUT_DRAFT),
    ),
    "draft_broken": Sentence(
        "This draft cannot be used.",
        "A file of it is damaged, or it is of a kind that the installed runtime does not run. "
        "Load the model without it, or get the draft again.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
    ),
    "draft_not_dflash": Sentence(
        "This draft carries no DFlash marker.",
        "It is an ordinary model, or it was exported by a tool that does not know DFlash. Export "
        "it again, or load the model without a draft.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
    ),
    "pair_mismatch": Sentence(
        "This draft was made for another model.",
        "It expects other layers or sizes than this model has. Choose the draft that belongs to "
        "it, or load the model without a draft.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
    ),
    "draft_needs_greedy": Sentence(
        "The draft works only at temperature 0.",
        "Set the temperature to 0 to use the draft, or switch the draft off.",
        (Remedy.LOAD_WITHOUT_DRAFT,),
    ),
    "draft_needs_no_prefix_cache": Sentence(
        "The runtime does not run a draft with the settings that it was given.",
        "This is a fault of the program: please report it. Load the model without the draft to "
        "go on.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.OPEN_LOG),
    ),
    "locators_missing": Sentence(
        "The draft cannot find this model's layers.",
        "The model was exported without the marks that a draft needs, they are damaged, or the "
        "draft was made for a model with more layers. Load it without the draft, or get the "
        "model again.",
        (Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
    ),
    "template_refused": Sentence(
        "This model's chat template does not accept this conversation.",
        "Some models take no system prompt, or want question and answer by turns. Empty the "
        "system prompt or start a new chat.",
        (Remedy.NEW_CHAT, Remedy.CHOOSE_MODEL),
    ),
    "nothing_loaded": Sentence(
        "No model is loaded.",
        "Choose a model first.",
        (Remedy.CHOOSE_MODEL, Remedy.INSTALL_STARTER),
    ),
    "tokenizer_missing": Sentence(
        "This model's folder has no tokenizer.",
        "The export or download is incomplete. Get the model again, or choose another one.",
        (Remedy.CHOOSE_MODEL,),
    ),
    "context_full": Sentence(
        "The conversation has {prompt_tokens:,} tokens, and this model holds {context_tokens:,}.",
        "Leave out the oldest messages, start a new chat, or send a shorter message.",
        (Remedy.LEAVE_OUT_OLDEST, Remedy.NEW_CHAT),
        without_facts="The conversation no longer fits into this model's context.",
    ),
    "message_too_long": Sentence(
        "This message alone has {prompt_tokens:,} tokens, and this model holds "
        "{context_tokens:,}.",
        "Send a shorter part of it, or choose a model with a longer context.",
        (Remedy.CHOOSE_MODEL,),
        without_facts="This message alone is longer than this model's context.",
    ),
    "model_sees_no_pictures": Sentence(
        "This model reads text only: it cannot see pictures.",
        "Choose a model that sees pictures, or send the message without them.",
        (Remedy.CHOOSE_MODEL,),
    ),
    "picture_refused": Sentence(
        "This picture cannot be given to the model.",
        "It is no longer there, damaged, or of a shape that models do not take: very small, or a "
        "long strip. Attach it again, or another one.",
    ),
    "source_picture_gone": Sentence(
        "The picture to begin with cannot be read any more.",
        "It, or its mask, was removed or damaged while this waited. Choose it again, or begin "
        "without a picture.",
    ),
    "cannot_score": Sentence(
        "The runtime cannot say how likely words are for a model that sees pictures.",
        "The measurement goes on without it.",
    ),
    "cache_full": Sentence(
        "The answer was cut: the engine's working memory for this chat is full.",
        "Start a new chat or leave out the oldest messages, then try again.",
        (Remedy.LEAVE_OUT_OLDEST, Remedy.NEW_CHAT),
    ),
    "no_text": Sentence(
        "The model ended without saying anything.",
        "Try again or put the question differently. If it stays silent, the conversation may be "
        "too long for this model: start a new chat.",
        (Remedy.RETRY, Remedy.NEW_CHAT),
    ),
    "gpu_fault": Sentence(
        "The graphics driver reported a fault, so the engine was restarted.",
        "This can come from too little graphics memory or from the driver itself. Try again; if "
        "it comes back, use a shorter chat, load the model without the draft, or use the CPU.",
        (Remedy.RETRY, Remedy.NEW_CHAT, Remedy.LOAD_WITHOUT_DRAFT, Remedy.USE_CPU),
    ),
    "gpu_allocation_limit": Sentence(
        "The model needs a larger piece of graphics memory than this driver gives out at once.",
        "Use a smaller or more strongly compressed model, a shorter chat, or the CPU.",
        (Remedy.CHOOSE_MODEL, Remedy.NEW_CHAT, Remedy.USE_CPU),
    ),
    "out_of_memory": Sentence(
        "There was not enough memory, so the engine was restarted.",
        "Close other programs, start a new chat, or choose a smaller model.",
        (Remedy.RETRY, Remedy.NEW_CHAT, Remedy.CHOOSE_MODEL),
    ),
    "paging_file_small": Sentence(
        "Windows ran out of memory: its paging file is too small.",
        "Let Windows manage the size of the paging file (System, Advanced system settings, "
        "Performance), close other programs, or choose a smaller model.",
        (Remedy.RETRY, Remedy.CHOOSE_MODEL),
    ),
    "device_missing": Sentence(
        "The chosen device is not available on this machine.",
        "Check that the graphics card is connected and its driver installed, or use the CPU.",
        (Remedy.CHOOSE_DEVICE, Remedy.USE_CPU, Remedy.RETRY),
    ),
    "device_changed": Sentence(
        "The graphics cards of this machine have changed.",
        "Another card is where the chosen one was. Load the model again to look for it, or choose "
        "another device.",
        (Remedy.RETRY, Remedy.CHOOSE_DEVICE),
    ),
    "devices_silent": Sentence(
        "The graphics drivers do not answer.",
        "A driver that hangs stays so until the machine is restarted. The processor works "
        "without it.",
        (Remedy.USE_CPU, Remedy.RETRY),
    ),
    "gpu_driver_missing": Sentence(
        "The graphics driver's compute part is not installed.",
        "Install the OpenCL loader and Intel's compute runtime (Debian and Ubuntu: ocl-icd-"
        "libopencl1 and intel-opencl-icd), or use the CPU.",
        (Remedy.USE_CPU, Remedy.RETRY),
    ),
    "disk_full": Sentence(
        "The disk is full.",
        "Free some space on the disk of the program's data and of the temporary files, then try "
        "again.",
        (Remedy.RETRY,),
    ),
    "engine_busy": Sentence(
        "The engine is still busy with the last question.",
        "Wait for its answer or stop it, then try again.",
    ),
    "gguf_unsupported": Sentence(
        "This GGUF file holds a kind of model that the runtime cannot convert.",
        "It knows Llama, Qwen2 and Qwen3 models. Choose another file, or an OpenVINO model.",
        (Remedy.CHOOSE_FILE, Remedy.CHOOSE_MODEL),
    ),
    "installation_broken": Sentence(
        "A part of the program is missing or does not fit the others.",
        "Install the program again. On Windows, also install the current Microsoft Visual C++ "
        "runtime.",
        (Remedy.OPEN_LOG,),
    ),
    "worker_error": Sentence(
        "Something unexpected went wrong in the engine.",
        "Try again. If it happens again, copy the details and report it.",
        (Remedy.RETRY, Remedy.RESTART_ENGINE, Remedy.OPEN_LOG),
    ),
}
