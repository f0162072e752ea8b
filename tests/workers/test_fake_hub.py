from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.fakes.fake_hub import FakeHub, serve, small_repo


def test_the_hubs_own_command_finds_nothing_wrong_with_the_fake_one(tmp_path: Path) -> None:
    repo = small_repo()
    program = "from huggingface_hub.cli.hf import main; main()"  # without Qt there is no script
    with serve(FakeHub([repo])) as hub:
        environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1"}
        subprocess.run(
            [
                sys.executable,
                "-c",
                program,
                "download",
                repo.repo_id,
                "--local-dir",
                tmp_path / "model",
            ],
            env=environment,
            check=True,
            capture_output=True,
            timeout=60,
        )
    for file in repo.files:
        assert (tmp_path / "model" / file.path).read_bytes() == file.content


def test_the_fake_hub_runs_as_a_program_and_tells_what_it_was_asked(tmp_path: Path) -> None:
    description = tmp_path / "hub.json"
    files = [{"path": "a.bin", "random_bytes": 1000, "seed": 1}]
    description.write_text(json.dumps({"repos": [{"repo_id": "a/b", "files": files}]}))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.fake_hub", str(description)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        with urllib.request.urlopen(f"{url}/a/b/resolve/main/a.bin") as answer:  # noqa: S310
            assert len(answer.read()) == 1000
        with urllib.request.urlopen(f"{url}/_seen") as answer:  # noqa: S310
            seen = json.loads(answer.read())
        server.stdin.close()
        assert server.wait(10) == 0
    assert [request["status"] for request in seen] == [307, 200]
