"""Draws the setup's pages for recorded machines to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_wizard [--scale 1.5] [FOLDER] [WORD …]

Only the shots whose names contain one of the words are drawn.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from dflash_desktop.cli.doctor import devices_of_report
from dflash_desktop.domain.devices import choose_device, offered_devices
from dflash_desktop.domain.gpu_findings import findings
from dflash_desktop.domain.hardware import (
    Adapter,
    HardwareReport,
    LinuxGraphics,
    Probe,
    ProbeOutcome,
    RenderNode,
    SystemMemory,
)
from dflash_desktop.domain.memory_parts import parts_of_pool
from dflash_desktop.domain.memory_pool import memory_pool
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.setup import SetupStep
from dflash_desktop.domain.transfer import PlannedFile, RepoPlan, TransferPlan
from dflash_desktop.services.catalogue_store import load_catalogue, load_known_drivers
from dflash_desktop.services.hardware_report import report_fields
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.widgets.surfaces import SurfaceFrame
from dflash_desktop.ui.wizard.choice_card import ChoiceCard
from dflash_desktop.ui.wizard.choices import choices_for
from dflash_desktop.ui.wizard.getting import with_retry
from dflash_desktop.ui.wizard.pane import WizardPane
from dflash_desktop.ui.wizard.words import machine_sentence, people_name, sum_words
from tests.machines import machine

# First: it chooses the platform and the scale before Qt is imported.
from tests.ui.shots_shell import OFFLINE, PIN, PROGRESS, Shots, _report, first_start
from tests.ui.transfers.transfer_values import EVERY_STATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.catalogue import Catalogue
    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.ui.theme import Theme

CATALOGUE: Catalogue = load_catalogue()
RUNTIME = "2026.4.1"
TITLE = "Qwen3.5 9B abliterated, int4 with its DFlash draft, int4"
PLAN = TransferPlan(
    repos=(
        RepoPlan(
            "blaj/Qwen3.5-9B-abliterated-int4-ov",
            "0" * 40,
            (PlannedFile("openvino_model.bin", 5_700_000_000),),
        ),
        RepoPlan(
            "blaj/Qwen3.5-9B-abliterated-DFlash-int4-ov",
            "0" * 40,
            (PlannedFile("openvino_model.bin", 866_000_000),),
            licence="apache-2.0",
        ),
    ),
    needed_disk_bytes=6_600_000_000,
    free_disk_bytes=212_000_000_000,
)
NO_HUB = Problem(
    "hub_unreachable",
    "The hub huggingface.co cannot be reached.",
    "Check the network, or the proxy in the settings. Nothing was downloaded.",
    detail="getaddrinfo failed",
    remedies=(Remedy.RETRY,),
)
NO_PROBE = Problem(
    "engine_silent",
    "The machine could not be looked at: the engine did not answer within 10 s.",
    "Try again. If that does not help, the graphics driver may hang: restart the machine.",
    remedies=(Remedy.RETRY, Remedy.OPEN_LOG),
)


def pane(theme: Theme, step: SetupStep, *, is_starter: bool = False) -> WizardPane:
    """The setup at one page."""
    made = WizardPane(theme=theme, pin=PIN, report=_report)
    made.show_step(step, is_starter=is_starter)
    return made


def on_machine(theme: Theme, name: str) -> QWidget:
    """The first page on a recorded machine."""
    made = pane(theme, SetupStep.MACHINE)
    report = MADE_UP.get(name) or machine(name)
    pool = memory_pool(report)
    raw = msgspec.json.format(msgspec.json.encode(report_fields(report)), indent=2).decode()
    found = findings(report, load_known_drivers())
    made.machine.show_machine(found, raw)
    made.machine.show_sentence(machine_sentence(report, pool))
    made.machine.show_memory(parts_of_pool(pool), pool.reserve_bytes, sum_words(pool))
    devices = devices_of_report(report)
    try:
        automatic = people_name(choose_device(devices).full_name)
    except AppError:
        automatic = ""
    made.machine.show_devices(offered_devices(devices), "", automatic)
    return made


def choosing(
    theme: Theme,
    name: str,
    *,
    context: int = 8192,
    is_all: bool = False,
    is_why: bool = False,
    is_here: bool = False,
    is_export: bool = False,
) -> QWidget:
    """The second page on a recorded machine."""
    made = pane(theme, SetupStep.CHOOSE)
    choices = choices_for(
        CATALOGUE,
        memory_pool(machine(name)),
        runtime=RUNTIME,
        context_tokens=context,
        pin=PIN,
        is_starter_installed=is_here,
        is_installed=lambda _: is_here,
        wanted_id="",
    )
    if is_export:
        wanted = next(p for p in range(len(choices.others)) if choices.row(p).can_be_exported)
        choices = replace(choices, chosen_id=choices.row(wanted).pair_id)
    made.choose.show_context(context)
    made.choose.show_choices(choices)
    chosen = choices.find(choices.chosen_id)
    why_not = "" if chosen is None or is_export else chosen.why_not
    made.show_next("Export…" if is_export else "Use it" if is_here else "Get it", why_not=why_not)
    if is_export:
        made.choose.focus_first()
    for card in made.choose.findChildren(ChoiceCard)[: 1 if is_why else 0]:
        card.fold_button.click()
    if is_all:
        made.choose.show_more()
    return made


def getting(theme: Theme, show: Callable[[WizardPane], None]) -> QWidget:
    """The third page for a pair from a hub."""
    made = pane(theme, SetupStep.GET)
    show(made)
    made.show_next(is_shown=False)
    return made


def starter(theme: Theme, show: Callable[[WizardPane], None]) -> QWidget:
    """The third page for the starter pair."""
    made = pane(theme, SetupStep.GET, is_starter=True)
    show(made)
    made.show_next(is_shown=False)
    return made


def ready(theme: Theme, show: Callable[[WizardPane], None]) -> QWidget:
    """The last page."""
    made = pane(theme, SetupStep.READY)
    show(made)
    return made


def asking(theme: Theme) -> QWidget:
    """Esc asks before the setup is left."""
    made = on_machine(theme, "cpu_only")
    QTest.keyClick(made, Qt.Key.Key_Escape)
    for card in made.findChildren(SurfaceFrame):
        if card.accessibleName() == "Leave the setup?":
            card.show()
    return made


def failed_look(theme: Theme) -> QWidget:
    """The probe gave up."""
    made = pane(theme, SetupStep.MACHINE)
    made.machine.show_problem(NO_PROBE)
    made.show_next(why_not="The machine is still being looked at.")
    return made


def moving_on(one: Transfer, pane: WizardPane) -> None:
    """How far the download is."""
    pane.transfer.show_transfer(TITLE, one)


GETS: dict[str, Callable[[WizardPane], None]] = {
    "get-planning": lambda p: p.transfer.show_planning(TITLE),
    "get-plan": lambda p: p.transfer.show_plan(TITLE, PLAN),
    "get-offline": lambda p: p.transfer.show_problem(TITLE, with_retry(NO_HUB)),
}
STARTERS: dict[str, Callable[[WizardPane], None]] = {
    "starter-offer": lambda p: p.starter.show_offer(is_repair=False),
    "starter-moving": lambda p: p.starter.show_progress(PROGRESS),
    "starter-offline": lambda p: p.starter.show_offline(OFFLINE),
}
READIES: dict[str, Callable[[WizardPane], None]] = {
    "ready": lambda p: p.ready.show_loaded(
        PIN.title,
        "It runs on the processor, AMD EPYC. Nothing you write leaves this machine.",
        has_draft=True,
    ),
    "ready-loading": lambda p: p.ready.show_loading("Compiling the target for GPU.0. 40 %", ""),
}
NO_DRIVER = HardwareReport(
    os="Linux-6.8.0-45-generic-x86_64-with-glibc2.39",
    cpu="Intel(R) Core(TM) Ultra 7 155H",
    memory=SystemMemory(16_600_000_000, 11_000_000_000),
    linux=LinuxGraphics(
        "ubuntu",
        has_opencl_loader=True,
        has_opencl_driver=False,
        pci_gpus=("8086:7d55",),
        render_nodes=(RenderNode("/dev/dri/renderD128", is_accessible=False),),
    ),
)
CRASHING_DRIVER = HardwareReport(
    os="Windows-11-10.0.26100-SP0",
    cpu="Intel(R) Core(TM) Ultra 7 258V",
    memory=SystemMemory(33_800_000_000, 24_000_000_000),
    adapters=(Adapter("Intel(R) Arc(TM) 140V GPU (16GB)", "8086:64a0", "32.0.101.6737"),),
    probe=Probe(ProbeOutcome.CRASHED, "The process crashed inside the runtime or the driver."),
)
MADE_UP = {"no-driver": NO_DRIVER, "crashing-driver": CRASHING_DRIVER}
MACHINES = (
    "cpu_only",
    "arc_140v_32gb",
    "resizable_bar_off",
    "meteor_lake_16gb",
    "wsl_a750",
    "nvidia_beside_intel",
)


def main() -> None:
    """Take all shots, or those that were asked for."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "shots")
    shots = Shots(folder, sys.argv[2:])
    theme = shots.theme
    size = (1180, 760)
    take = partial(shots.take, page=Page.SETUP)
    for name in MACHINES:
        take(f"wizard-machine-{name}", first_start, partial(on_machine, theme, name), size=size)
        take(
            f"wizard-choose-{name}",
            first_start,
            partial(choosing, theme, name),
            size=(1180, 1300),
        )
    for name in MADE_UP:
        take(f"wizard-machine-{name}", first_start, partial(on_machine, theme, name), size=size)
    take("wizard-asking", first_start, partial(asking, theme), size=size)
    take(
        "wizard-choose-why",
        first_start,
        partial(choosing, theme, "arc_140v_32gb", is_why=True),
        size=(1180, 1300),
    )
    take("wizard-machine-failed", first_start, partial(failed_look, theme), size=size)
    take(
        "wizard-choose-nothing-fits",
        first_start,
        partial(choosing, theme, "laptop_8gb", is_all=True),
        size=(1180, 1300),
    )
    take(
        "wizard-choose-export",
        first_start,
        partial(choosing, theme, "arc_140v_32gb", is_export=True),
        size=size,
    )
    take(
        "wizard-choose-too-big",
        first_start,
        partial(choosing, theme, "arc_a380", context=131072, is_all=True),
        size=(1180, 1900),
    )
    take(
        "wizard-narrow-choose", first_start, partial(choosing, theme, "cpu_only"), size=(720, 520)
    )
    take(
        "wizard-narrow-machine",
        first_start,
        partial(on_machine, theme, "resizable_bar_off"),
        size=(720, 520),
    )
    for one in EVERY_STATE[:-1]:  # one that is done leads to the next page
        moving = partial(getting, theme, partial(moving_on, one))
        take(f"wizard-get-{one.state.value}", first_start, moving, size=size)
    for name, show in GETS.items():
        take(f"wizard-{name}", first_start, partial(getting, theme, show), size=size)
    for name, show in STARTERS.items():
        take(f"wizard-{name}", first_start, partial(starter, theme, show), size=size)
    for name, show in READIES.items():
        take(f"wizard-{name}", first_start, partial(ready, theme, show), size=size)


if __name__ == "__main__":
    main()
