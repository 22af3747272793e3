# SPDX-License-Identifier: GPL-2.0
"""Reads the settings of the running kernel that the policy kloc depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kloc.server.system import read


@dataclass(frozen=True)
class Setting:
    """A file of the kernel, the value that the policy kloc needs, and what happens without it."""

    path: str
    wanted: int
    otherwise: str

    def suffices(self, value: int) -> bool:
        """Return whether a value does what the wanted one does; those above 1 are flags."""
        return value == self.wanted or (self.wanted > 1 and value & self.wanted == self.wanted)


SETTINGS = {
    "demotion_enabled": Setting(
        "sys/kernel/mm/numa/demotion_enabled",
        1,
        "kswapd evicts pages of applications from fast memory instead of demoting them",
    ),
    "numa_balancing": Setting(
        "proc/sys/kernel/numa_balancing",
        2,
        "pages of applications in slow memory are not promoted",
    ),
    "watermark_boost_factor": Setting(
        "proc/sys/vm/watermark_boost_factor",
        0,
        "boosted watermarks keep several percent of fast memory free",
    ),
}
"""The settings that policies/kloc.toml and admin-guide/mm/kloc.rst ask for on a server."""


def read_all() -> dict[str, int | None]:
    """Return the values of SETTINGS, None for those that this kernel does not have."""
    return {name: _value(read(setting.path)) for name, setting in SETTINGS.items()}


def remarks(values: Mapping[str, int | None]) -> Iterator[str]:
    """Yield which settings are not as the policy kloc needs them, and what to do."""
    for name, setting in SETTINGS.items():
        value = values.get(name)
        if value is None:
            yield f"/{setting.path} does not exist: {setting.otherwise}"
        elif not setting.suffices(value):
            yield (
                f"{name} is {value}: {setting.otherwise}; "
                f"as root: echo {setting.wanted} > /{setting.path}"
            )


def _value(text: str | None) -> int | None:
    """Return a setting as a number; the kernel prints some as true or false."""
    if text in ("true", "false"):
        return int(text == "true")
    return int(text) if text is not None and text.isdecimal() else None
