# SPDX-License-Identifier: GPL-2.0
"""Policies that a kernel does not support are found by trying their settings."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kloc.base.daemon import Daemon
from kloc.base.errors import KlocError
from kloc.build.foreign_kernel import ForeignKernel
from kloc.machine import profile
from kloc.machine.job import Job, Raw
from kloc.machine.parts import Parts
from kloc.measure import kernel_support
from kloc.measure.policy import Policy
from kloc.measure.scheme_use import SchemeUse, SwapUse

HOST = profile.load("tiered")
FOREIGN = ForeignKernel(Path("/bzImage"), Path("/initramfs"), "6.12", {})
WANTS_A = Policy("wants-a", "", set={"/sys/a": "1"})
WANTS_B = Policy("wants-b", "", set={"/sys/a": "1", "/sys/b": "2"}, frames_from="wants-a")


def parts(kernel: object = FOREIGN) -> Parts:
    return cast(Parts, SimpleNamespace(kernel=kernel))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that would have asked a kernel which has no /proc/kpageflags."""
    jobs: list[Job] = []

    def launch(job: Job, _: Parts) -> Raw:
        jobs.append(job)
        numbers = {
            line.split("[ ! -e ")[1].split()[0]: line.split("absent ")[1].split(";")[0]
            for line in job.scripts["measured"].splitlines()
        }
        printed = f"absent {numbers['/proc/kpageflags']}\n"
        return Raw({"measured": printed}, {}, None, "")

    monkeypatch.setattr(kernel_support.launcher, "run", launch)
    return jobs


def test_a_policy_is_unsupported_if_the_kernel_lacks_one_of_its_files(asked: list[Job]) -> None:
    missing = kernel_support.unsupported([WANTS_A, WANTS_B], ["redis"], HOST, parts())
    assert missing == {"wants-b": "the kernel has no /proc/kpageflags"}
    (job,) = asked
    assert not job.modelled


def test_a_daemon_needs_the_files_that_its_policy_names(asked: list[Job]) -> None:
    one = Policy("one", "", daemon=Daemon("x\n", needs=("/proc/kpageflags",)))
    missing = kernel_support.unsupported([one, WANTS_A], ["redis"], HOST, parts())
    assert missing == {"one": "the kernel has no /proc/kpageflags"}


def test_schemes_and_swap_need_files_of_the_kernel(asked: list[Job]) -> None:
    one = Policy("one", "", swap=SwapUse("zram"), scheme=SchemeUse("physical"))
    kernel_support.unsupported([one, WANTS_B], ["redis"], HOST, parts())
    assert "/sys/block/zram0/disksize" in asked[0].scripts["measured"]
    assert "/kdamonds/nr_kdamonds" in asked[0].scripts["measured"]


def test_our_own_kernel_and_policies_without_settings_are_not_asked(asked: list[Job]) -> None:
    own = parts(SimpleNamespace(initramfs=None))
    assert kernel_support.unsupported([WANTS_A], ["redis"], HOST, own) == {}
    assert kernel_support.unsupported([Policy("plain", "")], ["redis"], HOST, parts()) == {}
    assert not asked


def test_settings_are_tried_and_those_that_fail_have_a_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "directory").mkdir()
    settings = [
        (f"{tmp_path}/file", "1"),
        (f"{tmp_path}/directory", "2"),
        (f"{tmp_path}/no such", "3"),
        (f"{tmp_path}/off", "0"),
        (f"{tmp_path}/file", ""),
        (f"{tmp_path}/unread", ""),
        (f"{tmp_path}/policy", "naive"),
        (f"{tmp_path}/policy", "kloc"),
    ]
    script = kernel_support.script(settings)
    done = subprocess.run(["sh", "-e", "-c", script], capture_output=True, text=True, check=True)
    assert kernel_support.answers(settings, done.stdout) == {
        settings[1]: f"the kernel's {tmp_path}/directory does not take 2",
        settings[2]: f"the kernel has no {tmp_path}/no such",
        settings[5]: f"the kernel has no {tmp_path}/unread",
        settings[7]: f"the kernel has no {tmp_path}/policy",
    }
    assert (tmp_path / "file").read_text() == "1\n"


def test_an_unsupported_policy_is_an_error_that_says_what_to_do() -> None:
    kernel_support.require({}, "6.12")
    with pytest.raises(KlocError) as error:
        kernel_support.require({"kloc": "the kernel has no /sys/a"}, "6.12-cloud")
    assert error.value.message.startswith("policy kloc cannot run on kernel 6.12-cloud: ")
    assert "--kernel" in (error.value.hint or "")


def test_the_note_names_policies_by_their_reason() -> None:
    reasons = {
        "kloc": "the kernel has no a",
        "tpp": "the kernel has no b",
        "x": "the kernel has no a",
    }
    assert kernel_support.note(reasons) == (
        "policies left out: kloc, x (the kernel has no a); tpp (the kernel has no b)"
    )
