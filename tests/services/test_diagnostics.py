"""What a person copies out carries the facts and nothing private."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop import __version__
from dflash_desktop.domain.problems import Problem
from dflash_desktop.services.diagnostics import PrivateFacts, private_facts, problem_report

LINUX = PrivateFacts(home_dir=Path("/home/marta"), user="marta", host="martas-laptop")
WINDOWS = PrivateFacts(
    home_dir=cast("Path", PureWindowsPath(r"C:\Users\Marta Muster")),
    user="Marta Muster",
    host="LAPTOP-7Q2",
)
AT_WORK = PrivateFacts(home_dir=Path("/home/marta"), user="marta", host="box7.werk.example")


@pytest.mark.parametrize(
    ("private", "text", "masked"),
    [
        (LINUX, "open /home/marta/models/a.xml", "open ~/models/a.xml"),
        (LINUX, "other person /home/jo/x", "other person ~/x"),
        (LINUX, "/home/martas-files/x", "~/x"),
        (LINUX, "user marta on martas-laptop.", "user <user> on <host>."),
        (LINUX, "martarium stays", "martarium stays"),
        (WINDOWS, r"C:\Users\Marta Muster\AppData\x.log", r"~\AppData\x.log"),
        (WINDOWS, r"c:\\users\\marta muster\\x in JSON", r"~\\x in JSON"),
        (WINDOWS, "C:/Users/Marta Muster/x", "~/x"),
        (LINUX, r"C:\Users\Anna Müller\x", r"~\x"),
        (LINUX, r"'C:\\Users\\anna von müller\\x' in repr", r"'~\\x' in repr"),
        (LINUX, r"C:\\Users\\Anna M\u00fcller\\x in JSON", r"~\\x in JSON"),
        (LINUX, r"C:\Users\Seán O'Neil\x", r"~\x"),
        (LINUX, "/home/anna müller/x", "~/x"),
        (LINUX, "/Users/Anna Maria Müller/x", "~/x"),
        (LINUX, r"D:\Documents and Settings\Anna Müller\x", r"~\x"),
        (LINUX, '"/home/anna müller" is full', '"~" is full'),
        (LINUX, r"“C:\Users\anna müller” is full", "“~” is full"),
        (LINUX, r"cannot open C:\Users\Anna Müller", "cannot open ~"),
        (LINUX, r"C:\Users\Anna Øster is full", "~ is full"),
        (LINUX, "/home/jo is full, and /etc/x is not", "~ is full, and /etc/x is not"),
        (LINUX, "Folder /home/jo Size: 5", "Folder ~ Size: 5"),
        (LINUX, "/home/jo and /home/anna müller/x", "~ and ~/x"),
        (WINDOWS, "host laptop-7q2", "host <host>"),
        (AT_WORK, "box7.werk.example calls itself box7", "<host> calls itself <host>"),
        (LINUX, "token hf_abcdefghijklmnopqrstuvwxyz0123456789", "token <secret>"),
        (LINUX, "Authorization: Bearer abc.def-123", "Authorization: <secret>"),
        (LINUX, "https://me:geheim@proxy.example/x", "https://<secret>@proxy.example/x"),
        (LINUX, "GET /x?token=abc123&y=1", "GET /x?token=<secret>&y=1"),
        (LINUX, "password: geheim", "password:<secret>"),
        (LINUX, "api_key=geheim", "api_key=<secret>"),
        (LINUX, "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "<secret>"),
        (LINUX, "write to marta.muster@mail.example", "write to <mail>"),
        (LINUX, "44 tokens: 3 steps", "44 tokens: 3 steps"),
        (LINUX, "mask token: 16", "mask token: 16"),
        (LINUX, "/usr/lib/libOpenCL.so.1 stays", "/usr/lib/libOpenCL.so.1 stays"),
    ],
)
def test_private_things_are_masked_and_others_stay(
    private: PrivateFacts, text: str, masked: str
) -> None:
    assert private.mask(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (r"open D:\Anna Müller\my models\a.xml", "open a.xml"),
        (r"open \\\\nas\\Anna Müller\\a.xml", "open a.xml"),
        (r"open \\nas\Anna Müller\a.xml", "open a.xml"),
        (r"open C:\Users\Anna Müller\models\a.xml", r"open ~\models\a.xml"),
        ("open /mnt/Anna's disk (old)/a.xml", "open a.xml"),
        ("expected 1/2, found and/or", "expected 1/2, found and/or"),
        ("https://hub.example/a/b", "https://hub.example/a/b"),
    ],
)
def test_of_other_folders_only_the_last_name_stays(text: str, masked: str) -> None:
    assert LINUX.mask_folders(text) == masked


@given(st.text(), st.text())
def test_the_home_folder_never_gets_through(before: str, after: str) -> None:
    home = "/data/people/marta"
    private = PrivateFacts(home_dir=Path(home), user="marta", host="box7")
    assert f"{home}/" not in private.mask(f"{before} {home}/{after}")


def test_a_nameless_container_masks_nothing_by_accident() -> None:
    private = PrivateFacts(
        home_dir=cast("Path", PurePosixPath("/")), user="root", host="localhost"
    )
    text = "root of the tree at /opt on localhost"
    assert private.mask(text) == text


def test_the_report_has_versions_facts_and_the_masked_problem() -> None:
    problem = Problem("gpu_fault", "It broke.", "Try again.", detail="at /home/marta/x.bin")
    facts = (("Device", "Intel Arc"), ("Driver", ""))
    report = problem_report(problem, private=LINUX, facts=facts)
    assert f"DFlash Desktop {__version__}" in report
    assert "Device: Intel Arc" in report
    assert "Driver" not in report
    assert "gpu_fault: It broke." in report
    assert "at ~/x.bin" in report
    assert "marta" not in report


def test_the_facts_of_this_machine_are_found() -> None:
    facts = private_facts()
    assert facts.home_dir == Path.home()
    assert "." not in facts.host
