# SPDX-License-Identifier: GPL-2.0
"""The examples and command lines in README.md and docs work as the text says."""

import re
import subprocess
import sys
from dataclasses import fields
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from kloc import cli
from kloc.base.paths import PROJECT
from kloc.machine import profile
from kloc.machine.job import Swap
from kloc.measure import policy, workload
from kloc.measure.workload import FULL, QUICK, WorkloadFailed
from kloc.results import wanted

GUIDE = (PROJECT / "docs" / "guide.md").read_text()


def example(language: str, number: int = 0) -> str:
    """Return the text of the guide's block of code with this number, in this language."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.M | re.S)
    assert isinstance(blocks[number], str)
    return blocks[number]


@pytest.fixture
def readfiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> workload.Workload:
    """The workload of the guide."""
    path = tmp_path / "readfiles.py"
    path.write_text(example("python"))
    spec = spec_from_file_location("readfiles", path)
    assert spec and spec.loader
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "readfiles", module)
    spec.loader.exec_module(module)
    (readfiles,) = module.workloads()
    assert isinstance(readfiles, workload.Workload)
    return readfiles


@pytest.mark.parametrize("size", [FULL, QUICK])
def test_workload_of_the_guide_works(
    size: workload.Size, readfiles: workload.Workload, tmp_path: Path
) -> None:
    few = workload.Size(load=size.load / 100, seconds=size.seconds / 100)
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


def test_warm_up_of_the_docs_reads_other_files_in_each_slice(
    readfiles: workload.Workload, tmp_path: Path
) -> None:
    text = (PROJECT / "docs" / "workloads.md").read_text()
    (code,) = re.findall(r"^```python\n(def _warm_up.*?)^```$", text, re.M | re.S)
    names = dict(vars(sys.modules["readfiles"]))
    exec(code, names)
    few, data = workload.Size(load=0.01, seconds=0.005), tmp_path / "data"
    data.mkdir()

    def done(text: str, *arguments: str) -> str:
        run = ["sh", "-e", "-c", text.replace("/data", str(data)), "-", *arguments]
        return subprocess.run(run, check=True, capture_output=True, text=True).stdout

    done(readfiles.setup(few, 1))
    script = names["_warm_up"](few, 1)
    assert int(done(script, "1")) == few.operations(20_000) // 8 * 16_384
    drawn = script.replace("| wc -c", "").replace("xargs cat", "cat")
    assert done(drawn, "1") != done(drawn, "2")


def test_machine_of_the_guide_has_every_key(tmp_path: Path) -> None:
    path = tmp_path / "half.toml"
    path.write_text(example("toml", 0))
    half = profile.load(str(path))
    assert half.name == "half"
    assert half.slow.read_bandwidth * 2 == half.fast.read_bandwidth


def test_machine_of_the_guide_takes_a_second_socket(tmp_path: Path) -> None:
    text = example("toml", 0).replace("sockets = 1", "sockets = 2")
    text = text.replace("spare_cores = 1", "spare_cores = 2")
    path = tmp_path / "two.toml"
    path.write_text(text + example("toml", 1))
    remote = profile.read(str(path)).remote
    assert remote is not None and remote.latency_ns == 68


def test_policy_of_the_guide_sets_what_it_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "eager.toml").write_text(example("toml", 2))
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    eager = policy.load("eager")
    settings = eager.settings("redis", profile.load("tiered"))
    assert settings["/sys/kernel/mm/numa/demotion_enabled"] == "1"
    assert settings["/sys/kernel/debug/sched/numa_balancing/hot_threshold_ms"] == "234"
    assert settings["/proc/sys/vm/watermark_scale_factor"] == "400"
    assert eager.expect == ("promoted", "demoted")


def test_policy_with_a_scheme_in_the_guide_swaps_to_the_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "disk.toml").write_text(example("toml", 4))
    (tmp_path / "baseline.toml").write_text(policy.path("baseline").read_text())
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    disk = policy.load("disk")
    assert disk.scheme is not None and disk.scheme.name == "prcl"
    assert disk.swap is not None
    assert disk.swap.swap(profile.load("tiered")) == Swap("file", 256 << 20)


def test_policy_in_the_guide_that_is_a_daemon_has_every_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mover.toml").write_text(example("toml", 5))
    (tmp_path / "mover.sh").write_text("#!/bin/sh\n")
    (tmp_path / "mover.sh").chmod(0o755)
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    used = policy.load("mover").daemon
    assert used is not None
    assert all(getattr(used, one.name) for one in fields(used))
    assert used.files == (tmp_path / "mover.sh",)


def test_policy_of_the_kernel_in_the_guide_is_selected_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(example("toml", 6))
    monkeypatch.setattr(policy, "POLICIES", tmp_path)
    settings = policy.load("mine").settings("", profile.load("tiered"))
    assert list(settings.items())[-1] == (policy.SELECTED, "mine")


def test_table_of_the_guide_is_as_the_list_of_tables_has_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / wanted.LIST).write_text(example("toml", 7))
    (table,) = wanted.load(tmp_path).values()
    assert table.seed_numbers == (1, 2, 3)
    assert table.policies == ("tpp", "kloc", "kloc-cap")


def command_lines() -> list[str]:
    """Return kloc's command lines in README.md and docs, without programs after `--`.

    They are indented blocks or in backquotes. In a comment after `#`, `kloc` is not a command.
    """
    files = [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]
    text = "\n".join(path.read_text() for path in files)
    lines = re.findall(r"^ {4,}\./kloc (.*)$|`\./kloc ([^`\n]*)`", text, re.M)
    return sorted({re.split(r" -- |\s+#", alone or within)[0] for alone, within in lines})


@pytest.mark.parametrize("line", command_lines())
def test_command_line_in_the_docs_is_understood(line: str) -> None:
    words = line.replace("$PWD", "/here").replace("COMMAND", "compare").split()
    assert cli.parse(words).command


REFERENCE = re.compile(r"`?(docs/[\w-]+\.md|README\.md)`?(?:,? \(?\"([^\"\n]+)\"\)?)?")
"""A document, and the section that is named after it in quotes, if any."""


def references() -> list[tuple[str, str, str]]:
    """Return where documents of this project are named, the document and the section or ""."""
    places = ("docs", "src", "policies", "workloads", "schemes", "machine", "tools", "kernel/files")
    files = [PROJECT / "README.md"]
    for place in places:
        files += [
            path
            for path in (PROJECT / place).rglob("*")
            if path.suffix in (".md", ".py", ".toml", ".c", ".h", ".rst", ".html")
        ]
    return [
        (str(path.relative_to(PROJECT)), name, section)
        for path in sorted(files)
        for name, section in REFERENCE.findall(path.read_text())
    ]


def test_documents_and_sections_that_are_named_exist() -> None:
    found = references()
    assert len(found) > 100
    wrong = []
    for where, name, section in found:
        path = PROJECT / name
        titles = re.findall(r"^#+ (.*)$", path.read_text(), re.M) if path.exists() else []
        if not path.exists() or (section and section not in titles):
            wrong.append(f"{where}: {name} {section}")
    assert not wrong
