"""What an exported model needs before others may have it: no private paths, and its story."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop import __version__
from dflash_desktop.domain.export_names import item_name, source_name
from dflash_desktop.domain.export_request import ExportRole, WeightFormat
from dflash_desktop.domain.model_card import CardFacts, model_card
from dflash_desktop.domain.model_facts import ModelKind
from dflash_desktop.domain.shell_words import Shell, command_line
from dflash_desktop.services.atomic_file import write_atomically, write_json
from dflash_desktop.services.export_steps import item_of
from dflash_desktop.services.model_inspection import inspect_model
from dflash_desktop.services.record_maker import EXPORT_SOURCE_NAME, exported_with
from dflash_desktop.workers.checkpoint_code import without_code

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dflash_desktop.domain.export_plan import ExportFetch, ExportPlan
    from dflash_desktop.domain.export_request import ExportItem, ExportSource
    from dflash_desktop.domain.model_facts import ModelFacts

_CARD: Final = "README.md"
_ABSOLUTE: Final = re.compile(r"/[^/]*/|[A-Za-z]:[/\\]|\\\\")
_OF_A_TOKENIZER: Final = ("tokenizer", "special_tokens_map", "added_tokens", "chat_template")


def complete_exported(
    folder: Path, plan: ExportPlan, item: ExportItem, *, notes: Sequence[str] = ()
) -> None:
    """Write the record and the card, and take out what belongs to this machine.

    - config.json: `auto_map`, in which the exporter left the path of its own code here, and every
      other path.
    - openvino_config.json: the path of the tokenizer.
    - Of a draft: the tokenizer that the exporter made of nothing.

    Blocking. Raises `AppError` when the folder cannot be read, and `OSError`.
    """
    for name in ("config.json", "openvino_config.json", "generation_config.json"):
        if (folder / name).is_file():
            write_json(folder / name, _without_paths(without_code(folder / name)))
    if item.role is ExportRole.DRAFT:
        for path in folder.iterdir():
            if path.name.startswith(_OF_A_TOKENIZER):
                path.unlink()
    facts = inspect_model(folder)
    name = item_name(item)
    versions = _versions(facts)
    commands = [
        step.command
        for step in plan.steps
        if step.command and item_of(plan, step).role is item.role
    ]
    fetch = _fetch_of(plan, item.source)
    write_json(
        folder / EXPORT_SOURCE_NAME,
        {
            "version": 1,
            "made_from": item.source.repo_id or source_name(item.source),
            "commit": "" if fetch is None else fetch.commit,
            "weights": weights_words(item, plan),
            "commands": " && ".join(command_line(words, Shell.SH) for words in commands),
            **versions,
        },
    )
    card = CardFacts(
        name=name,
        is_draft=item.role is ExportRole.DRAFT,
        is_vision=facts.kind() is ModelKind.VISION,
        repo_id=item.source.repo_id,
        commit="" if fetch is None else fetch.commit,
        licence="" if fetch is None else fetch.licence,
        weights=weights_words(item, plan),
        commands=commands,
        versions=versions,
        target_repo_id=_target_of(plan),
        target_layers=facts.config.target_layer_ids,
        notes=notes,
    )
    write_atomically(folder / _CARD, model_card(card).encode())


def weights_words(item: ExportItem, plan: ExportPlan) -> str:
    """ "int4, groups of 64, all layers"."""
    if item.weight_format is not WeightFormat.INT4:
        return str(item.weight_format)
    command = next((s.command for s in plan.steps if s.name == f"convert-{item.role}"), ())
    size = command[command.index("--group-size") + 1] if "--group-size" in command else ""
    words = [str(item.weight_format), *([f"groups of {size}"] if size else [])]
    return ", ".join([*words, *(["all layers"] if item.all_layers else [])])


def _without_paths(fields: dict[str, Any]) -> dict[str, Any]:
    """Without texts that say where something lay here, at any depth."""
    return {
        key: _without_paths(value) if isinstance(value, dict) else value
        for key, value in fields.items()
        if not (isinstance(value, str) and _ABSOLUTE.match(value))
    }


def _versions(facts: ModelFacts) -> dict[str, str]:
    found = exported_with(facts)
    kept = {
        name.rpartition("/")[2].removesuffix("_version"): value
        for name, value in found.items()
        if name.startswith("optimum/") or name == "Runtime_version"
    }
    return {"dflash-desktop": __version__, **kept}


def _fetch_of(plan: ExportPlan, source: ExportSource) -> ExportFetch | None:
    return next((f for f in plan.fetches if source.repo_id and f.repo_id == source.repo_id), None)


def _target_of(plan: ExportPlan) -> str:
    targets = [i for i in plan.request.items if i.role is ExportRole.TARGET]
    return targets[0].source.repo_id if targets else ""
