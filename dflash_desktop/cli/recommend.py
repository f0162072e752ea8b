"""`dflash-desktop recommend`: which pairs fit this machine, the best first, and why."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.cli.hardware_option import add_hardware_option
from dflash_desktop.domain.memory_pool import MemoryPool, memory_pool
from dflash_desktop.domain.recommend import (
    DEFAULT_CONTEXT_TOKENS,
    PROGRAM_DRAFT_KINDS,
    PROGRAM_MODEL_KINDS,
    Abilities,
    Recommendation,
    Tier,
    Verdict,
    recommend,
    tier_of,
)
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.hardware import HardwareReport

HELP = """Say which models fit this machine, the best first, and why.

Sizes are estimates. Speeds are other people's, on the hardware that is named: measure yours with
dflash-desktop bench. Nothing is downloaded and nothing is sent anywhere. Pairs of your own are
read from pairs.json in your settings folder, which has the form of resources/catalogue.json.

examples:
  dflash-desktop recommend
  dflash-desktop recommend --context 32768
  dflash-desktop recommend --hardware report.json --json
"""

_SHOWN: Final = 5
_MAX_CONTEXT_TOKENS: Final = 1_048_576
_PARTS: Final = (
    "target_bytes",
    "draft_bytes",
    "kv_cache_bytes",
    "vision_bytes",
    "overhead_bytes",
    "is_estimated",
)


def add_arguments(parser: ArgumentParser) -> None:
    """The machine, the context, and the reserve."""
    add_hardware_option(parser)
    parser.add_argument(
        "--context",
        type=_context_tokens,
        default=DEFAULT_CONTEXT_TOKENS,
        metavar="TOKENS",
        help="how long conversations may get (default: %(default)s)",
    )
    parser.add_argument(
        "--reserve-gb",
        type=_gigabytes,
        metavar="GB",
        help="memory to leave to everything else (default: what you have set, or what is usual)",
    )


async def run(args: Namespace, context: CommandContext) -> RecommendResult:
    """Judge every pair for the recorded machine, or for this one."""
    from dflash_desktop.services.catalogue_store import load_catalogue
    from dflash_desktop.services.hardware_report import read_report

    catalogue = load_catalogue(own_file=context.paths.own_pairs_file)
    if args.hardware is None:
        report, _ = await context.hardware_probe.look()
        usual_reserve = context.settings.value.memory_reserve_bytes
        device = context.settings.value.device
    else:
        report = read_report(args.hardware)
        usual_reserve, device = None, ""  # the person's own are about this machine
    reserve = usual_reserve if args.reserve_gb is None else args.reserve_gb
    pool = memory_pool(report, reserve_bytes=reserve, device=device)
    return RecommendResult(
        tier=tier_of(pool),
        pool=pool,
        context_tokens=args.context,
        recommendations=recommend(
            catalogue, pool, abilities=_abilities(report), context_tokens=args.context
        ),
    )


def _abilities(report: HardwareReport) -> Abilities:
    from dflash_desktop.services.model_inspection import installed_runtime

    runtime = report.genai or installed_runtime() or ""
    return Abilities(runtime, PROGRAM_DRAFT_KINDS, PROGRAM_MODEL_KINDS)


def _context_tokens(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_CONTEXT_TOKENS:
        raise ArgumentTypeError(f"{text} is not a number of tokens up to {_MAX_CONTEXT_TOKENS}")
    return int(text)


def _gigabytes(text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1_000_000:  # NaN is refused, too
        raise ArgumentTypeError(f"{text} is not an amount in GB")
    return round(value * 1_000_000_000)


@dataclass(frozen=True, slots=True)
class RecommendResult:
    """All pairs in rank order, and the memory that they were judged by."""

    tier: Tier
    pool: MemoryPool
    context_tokens: int
    recommendations: tuple[Recommendation, ...]

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        pool = self.pool
        return {
            "tier": self.tier.value,
            "budget": {
                "pool": pool.kind.value,
                "device_name": None if pool.gpu is None else pool.gpu.name,
                "usable_bytes": pool.usable_bytes,
                "reserve_bytes": pool.reserve_bytes,
                "explanation": pool.explanation,
            },
            "recommendations": [self._fields(one) for one in self.recommendations],
        }

    def _fields(self, one: Recommendation) -> dict[str, object]:
        target = one.pair.target
        return {
            "pair": one.pair.id,
            "title": one.pair.title,
            "verdict": one.verdict.value,
            "runnable": one.runnable,
            "missing": list(one.missing),
            "needed_bytes": one.needed_bytes,
            "spare_bytes": one.spare_bytes,
            "mapped_bytes": getattr(one.budget, "mapped_bytes", None),
            "largest_tensor_bytes": getattr(one.budget, "largest_tensor_bytes", None),
            "context_tokens": self.context_tokens,
            "reasons": list(one.reasons),
            "content_label": target.content_label,
            "licence": target.licence,
            "parts": {name: getattr(one.budget, name, None) for name in _PARTS},
        }

    def as_text(self) -> str:
        """The memory, the best pairs with their reasons, and what else there is."""
        lines = [
            self.pool.explanation,
            f"{format_bytes(self.pool.usable_bytes)} are left for a model.",
        ]
        fitting = [one for one in self.recommendations if one.verdict is not Verdict.TOO_BIG]
        if not fitting:
            lines += [
                "",
                "No pair fits. Close programs, or ask for a shorter context.",
            ]
        for number, one in enumerate(fitting[:_SHOWN], start=1):
            lines += ["", f"{number}. {one.pair.title}"]
            lines += [f"   {reason}" for reason in one.reasons]
            if one.missing:
                lines.append(f"   missing: {'; '.join(one.missing)}")
        more = len(fitting) - _SHOWN
        too_big = len(self.recommendations) - len(fitting)
        if more > 0 or too_big:
            lines += ["", f"{max(0, more)} more fit, {too_big} are too big. All of them: --json"]
        return "\n".join(lines)
