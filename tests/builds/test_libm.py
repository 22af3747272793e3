# SPDX-License-Identifier: GPL-2.0
"""libm gives QEMU the same last bit on every host's CPU."""

from __future__ import annotations

from kloc.build import root
from kloc.machine.qemu import ENVIRONMENT

OLD_CPU = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX"}
"""libm on a host whose CPU has no vector extension beyond SSE."""

PROGRAM = """
import math, random
numbers = random.Random(1)
for _ in range(20000):
    x = numbers.uniform(-100, 100)
    print(math.sin(x), math.cos(x), math.tan(x))
"""


def test_sin_cos_and_tan_do_not_depend_on_the_hosts_cpu(tools: root.Root) -> None:
    run = ["python3", "-c", PROGRAM]
    assert tools.run(run, env=ENVIRONMENT) == tools.run(run, env=OLD_CPU)
