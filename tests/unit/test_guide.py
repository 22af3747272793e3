# SPDX-License-Identifier: GPL-2.0
"""The examples of docs/guide.md are what they say."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kloc import cli
from kloc.base.paths import PROJECT
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.measure.workload import FULL, QUICK, WorkloadFailed

GUIDE = (PROJECT / "docs" / "guide.md").read_text()


def example(language: str, number: int = 0) -> str:
    """Return the text of a block of code."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.M | re.S)
    assert isinstance(blocks[number], str)
    return blocks[number]


@pytest.fixture
def readfiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[workload.Workload]:
    (tmp_path / "readfiles.py").write_text(example("python"))
    monkeypatch.setattr(workload, "WORKLOADS", tmp_path)
    workload._registry.cache_clear()
    yield workload.load("readfiles")
    workload._registry.cache_clear()


@pytest.mark.parametrize("size", [FULL, QUICK])
def test_the_workload_does_what_it_says(
    size: workload.Size, readfiles: workload.Workload, tmp_path: Path
) -> None:
    few = workload.Size(load=size.load / 100, measured=size.measured / 100)
    data = tmp_path / "data"
    data.mkdir()

    def script(text: str) -> str:
        run = ["sh", "-e", "-c", text.replace("/data", str(data))]
        return subprocess.run(run, check=True, capture_output=True, text=True).stdout

    script(readfiles.setup(few, 1))
    printed = {"measured": script(readfiles.measured(few, 1))}
    assert readfiles.outcome(printed, few).operations == few.operations(20_000)
    assert readfiles.measured(few, 1) != readfiles.measured(few, 2)
    with pytest.raises(WorkloadFailed, match="0 bytes were read"):
        readfiles.outcome({"measured": "0\n"}, few)


def test_the_machine_has_every_key(tmp_path: Path) -> None:
    path = tmp_path / "half.toml"
    path.write_text(example("toml", 0))
    half = profile.load(str(path))
    assert half.name == "half"
    assert half.slow.read_bandwidth * 2 == half.fast.read_bandwidth


def test_the_policy_sets_what_it_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "eager.toml").write_text(example("toml", 1))
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    eager = policy.load("eager")
    settings = eager.settings("redis", profile.load("tiered"))
    assert settings["/sys/kernel/mm/numa/demotion_enabled"] == "1"
    assert settings["/sys/kernel/debug/sched/numa_balancing/hot_threshold_ms"] == "234"
    assert settings["/proc/sys/vm/watermark_scale_factor"] == "400"
    assert eager.expect == ("promoted", "demoted")


def commands() -> list[str]:
    """Return the command lines of README and docs, up to a program of one's own.

    They stand in lines of their own, or in backquotes.
    """
    files = [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]
    text = "\n".join(path.read_text() for path in files)
    lines = re.findall(r"^ {4,}\./kloc (.*)$|`\./kloc ([^`\n]*)`", text, re.M)
    return sorted({re.split(r" -- |\s+#", alone or within)[0] for alone, within in lines})


@pytest.mark.parametrize("line", commands())
def test_every_command_line_is_understood(line: str) -> None:
    parser = cli._parser(cli._commands())
    assert parser.parse_args(line.replace("$PWD", "/here").split()).command
