# SPDX-License-Identifier: GPL-2.0
"""The kernel's unit tests, which run when it boots.

Those of relocatable slabs have negative controls: a move that leaves out the second copy, or the
flush of TLBs, has to be seen.
"""

from __future__ import annotations

import dataclasses
import re

import pytest

from kloc.build import kernel
from kloc.machine import guest_console, launcher, profile
from kloc.machine.job import Job
from kloc.machine.parts import prepare_parts
from support import kunit, selftests

pytestmark = pytest.mark.machine

RESULTS = "cat /sys/kernel/debug/kunit/*/results"


@pytest.mark.parametrize("parameters", [(), (*selftests.PARAMETERS["reloc"], "slab_debug=FZPU")])
def test_unit_tests_of_the_kernel_pass(parameters: tuple[str, ...]) -> None:
    host = profile.load(profile.DEFAULT)
    job = Job("kunit", host, {"measured": RESULTS}, {}, modelled=False, parameters=parameters)
    raw = launcher.run(job, dataclasses.replace(prepare_parts(()), kernel=kernel.build("kunit")))
    printed = raw.frames["measured"]
    failed = re.findall(r"^ *not ok .*", printed, re.MULTILINE)
    assert failed == [], raw.console[-8000:]
    assert set(re.findall(r"^ok \d+ (\S+)", printed, re.MULTILINE)) == kunit.SUITES
    assert not guest_console.WARNING.search(raw.console)
