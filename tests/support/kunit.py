# SPDX-License-Identifier: GPL-2.0
"""The suites of the kernel's unit tests (KUnit), in all variants of the kernel that have any."""

RELOC = frozenset({"reloc", "tiering-slab"})
"""The suites of relocatable slabs, which a kernel with KASAN does not have."""

BALANCING = frozenset({"tiering-autotiering", "tiering-thermostat", "tiering-thermostat-contexts"})
"""The suites of policies that need NUMA balancing, which PREEMPT_RT does not have."""

SUITES = (
    RELOC
    | BALANCING
    | {
        "kloc-kmap",
        "kloc-knode",
        "kloc-lists",
        "kloc_machine",
        "tiering-bounds",
        "tiering-daemon",
        "tiering-kloc-copies",
        "tiering-memcg",
        "tiering-migrate",
        "tiering-nodes",
        "tiering-page",
        "tiering-place",
        "tiering-register",
        "tiering-room",
        "tiering-sample",
        "tiering-spaces",
        "tiering-visits",
        "tiering-waits",
    }
)
