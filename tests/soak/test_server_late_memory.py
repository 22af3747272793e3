# SPDX-License-Identifier: GPL-2.0
"""The service on a server whose slow memory comes online after boot, as that of CXL devices may.

udev then starts kloc.service, if it is enabled and has failed for lack of a second tier. The policy
is tpp, which needs no kernel of kloc's.
"""

from __future__ import annotations

import pytest

from kloc.build import deb
from support import late_server
from support.in_machine import split_parts
from support.server_scripts import ACTIVE, FUNCTIONS, STOPPED, findings

pytestmark = pytest.mark.soak

MEMORY = r"""
tiers() { sort -n /sys/devices/virtual/memory_tiering/*/nodelist | xargs; }
slow() { # STATE: change the state of the memory that is not there at boot
    for block in /sys/devices/system/node/node1/memory* /sys/devices/system/memory/memory*; do
        case $(cat "$block/state" 2>/dev/null):$1 in
            offline:online_movable) echo online_movable >"$block/state";;
            online:offline) [ ! -e "$block/node1" ] || echo offline >"$block/state";;
        esac
    done
}
wait_for() { # STATE: of kloc.service
    for i in $(seq 100); do
        [ "$(systemctl is-active kloc)" != "$1" ] || break
        sleep 0.1
    done
    udevadm settle
}
"""
"""Functions: the nodes of each tier, and the state of memory and service."""

BOOT = r"""
part install; apt-get install --yes ./*.deb
echo 'policy = "tpp"' >/etc/kloc/kloc.toml
part early; tiers; systemctl enable --now kloc 2>/dev/null || echo refused; state kloc
part doctor; kloc doctor --server --json || echo 'status 1'
part late; slow online_movable; tiers; wait_for active; state kloc
cat /proc/sys/kernel/numa_balancing /sys/kernel/mm/numa/demotion_enabled
part unit; systemctl show --property=Result --value kloc-tiers

part gone; systemctl stop kloc; slow offline; tiers
part stopped; slow online_movable; tiers; sleep 2; udevadm settle; state kloc
part failed_again; slow offline; systemctl start kloc 2>/dev/null || echo refused; state kloc
part disabled; systemctl disable --now kloc 2>/dev/null; slow online_movable; tiers
sleep 2; udevadm settle; systemctl is-active kloc || true
systemctl reset-failed kloc
part purge; apt-get purge --yes kloc
part purged; systemctl list-units --all --plain --no-legend 'kloc*'
"""
"""Brings the memory online when the service has failed, is stopped, and is disabled."""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The parts that the boot printed."""
    package = deb.build(tmp_path_factory.mktemp("package"))
    server = late_server.make(tmp_path_factory.mktemp("server"))
    return split_parts(server.boot(FUNCTIONS + MEMORY + BOOT, [package]))


def test_service_is_refused_while_there_is_one_tier(printed: dict[str, str]) -> None:
    assert printed["early"].splitlines() == ["0", "refused", "exit-code failed failed"]
    assert not findings(printed["doctor"])["tiers"]["well"]


def test_service_starts_when_the_second_tier_comes(printed: dict[str, str]) -> None:
    assert printed["late"].splitlines() == ["0 1", ACTIVE, "2", "true"]
    assert printed["unit"] == "success\n"


def test_service_that_was_stopped_stays_off(printed: dict[str, str]) -> None:
    assert printed["gone"] == "0\n"
    assert printed["stopped"].splitlines() == ["0 1", STOPPED]


def test_service_that_was_disabled_stays_off(printed: dict[str, str]) -> None:
    assert printed["failed_again"].splitlines() == ["refused", "exit-code failed failed"]
    assert printed["disabled"].splitlines() == ["0 1", "failed"]


def test_purge_leaves_no_unit_of_the_tiers(printed: dict[str, str]) -> None:
    assert printed["purged"] == ""
