# SPDX-License-Identifier: GPL-2.0
"""The package kloc on a Debian server with systemd and two tiers of memory, a virtual machine.

As docs/server.md says, it is installed, turned on as a service, used, killed, upgraded and removed.
The server is booted four times; each boot prints parts: the line "== NAME" comes before each.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kloc.build import deb
from kloc.server import policy_files
from support import server_vm
from support.in_machine import split_parts
from support.server_packages import NEWER, newer_kloc
from support.server_scripts import (
    ACTIVE,
    FUNCTIONS,
    KLOC,
    RESTORED,
    STOPPED,
    changes,
    findings,
    left,
)
from support.server_vm import Server

pytestmark = pytest.mark.soak

CONFIG = """\
policy = "kloc"
[settings]
rate_mbps = 64
[limits.nodes]
node0 = "96M"
"""
"""What the operator writes to kloc.toml."""

INSTALL = r"""
part manager; cat /proc/1/comm
part virtual; systemd-detect-virt
part root; findmnt --noheadings --output SOURCE,FSTYPE /
part tiers; sort -n /sys/devices/virtual/memory_tiering/*/nodelist
part memory; cat /sys/devices/system/node/has_memory
part cpus; cat /sys/devices/system/node/has_cpu

part before; settings | tee /root/settings
find / /run -xdev | sort >/root/files
part install; apt-get install --yes ./*.deb
part inactive; systemctl is-enabled kloc || true; systemctl is-active kloc || true; changed
part doctor_off; kloc doctor --server --json || echo 'status 1'
part enable; systemctl enable --now kloc
part on; state kloc; changed
part doctor_on; kloc doctor --server --json
part metrics; systemctl is-enabled kloc-metrics || true; systemctl is-active kloc-metrics || true

part first; kloc status --json
mkdir /srv/files
head -c 60000000 /dev/zero >/srv/large
for i in $(seq 300); do echo $i >/srv/files/$i; done
part read; cat /srv/large /srv/files/* | wc -c
part second; kloc status --json
part top; kloc top --once --lines 1 --sort size
part exec; kloc exec -- cat /srv/files/300

part policy; kloc policy tpp; cat /sys/kernel/mm/tiering/policy
part policy_back; kloc policy kloc; cat /sys/kernel/mm/tiering/policy
part off; kloc off; changed
part on_again; kloc on; cat /sys/kernel/mm/tiering/policy

cat >/etc/kloc/kloc.toml <<'END'
CONFIG
END
part check; kloc config check
part reload; systemctl reload kloc; state kloc; changed
cat /srv/large >/dev/null
for i in $(seq 30); do
    [ "$(cat /sys/kernel/mm/tiering/stats/file/demoted_limit)" = 0 ] || break
    head -c 8000000 /dev/zero >/srv/more$i
    sleep 1
done
part limited; kloc status --json
part policy_without_limit; kloc policy tpp 2>&1; kloc policy kloc
""".replace("CONFIG\n", CONFIG)
"""The first boot: installs the package and enables the service."""

KILL = r"""
part booted; state kloc; changed
part exporter; systemctl start kloc-metrics
for i in $(seq 100); do
    python3 -c 'import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:9753/metrics").read().decode())' 2>/dev/null &&
        break || sleep 0.5
done
part exporter_stopped; systemctl stop kloc-metrics; state kloc-metrics
part stop; systemctl stop kloc; state kloc; changed

# kloc on waits in the middle of its settings, for somebody who writes to this file.
WAITS=/proc/sys/vm/watermark_boost_factor
block() { mkfifo /run/waits; mount --bind /run/waits $WAITS; }
unblock() { umount $WAITS; rm /run/waits; }
# By then it has set demotion, and that is not undone yet.
meet() {
    for i in $(seq 300); do
        [ "$(cat /sys/kernel/mm/numa/demotion_enabled)" = false ] || break
        sleep 0.1
    done
    cat /sys/kernel/mm/numa/demotion_enabled
}
ended() {
    for i in $(seq 300); do
        case $(systemctl show --property=ActiveState --value kloc) in
            active|failed|inactive) break;;
        esac
        sleep 0.1
    done
}

part killed_service
block
systemctl start --no-block kloc; meet
systemctl kill --kill-whom=main --signal=KILL kloc; ended
unblock
state kloc; changed
part killed_record; ls /run/kloc
part started_again; systemctl start kloc; state kloc; cat /sys/kernel/mm/tiering/policy
systemctl stop kloc

part stopped_service
block
systemctl start --no-block kloc; meet
systemctl stop kloc
unblock
state kloc; changed

part terminated_service
block
systemctl start --no-block kloc; meet
systemctl kill --kill-whom=main kloc; ended
unblock
state kloc; changed
systemctl reset-failed kloc

part killed_by_hand
block
kloc on >/dev/null 2>&1 & pid=$!
meet
kill -9 $pid; wait $pid || echo "ended with $?"
unblock
part killed_doctor; kloc doctor --server --json || true
part killed_off; kloc off; changed

mkdir /etc/kloc/policies
cat >/etc/kloc/policies/waiting.toml <<'END'
summary = "a daemon of a test"
like = "tpp"
[daemon]
start = "touch /run/kloc-waits; exec sleep infinity"
ready = "test -e /run/kloc-waits"
stop = "rm /run/kloc-waits"
END
part daemon; kloc on; kloc policy waiting; state kloc-policy-waiting
part daemon_killed
systemctl kill --kill-whom=main --signal=KILL kloc-policy-waiting; sleep 2
kloc doctor --server --json || true
part daemon_cleaned; [ -e /run/kloc-waits ] || echo stopped
part daemon_off; kloc off; state kloc-policy-waiting; changed
# The service has fewer rights, and starts the daemon all the same.
cp /etc/kloc/kloc.toml toml
echo 'policy = "waiting"' >/etc/kloc/kloc.toml
part daemon_of_service; systemctl start kloc; state kloc; state kloc-policy-waiting
part daemon_stopped; systemctl stop kloc; state kloc-policy-waiting; changed
rm -r /etc/kloc/policies
cp toml /etc/kloc/kloc.toml

part journal; journalctl --unit=kloc --boot --output=cat --no-pager
part failed_later; failed
"""
"""The second boot, with the service enabled: kills what it can."""

MEASURE = r"""
part booted; state kloc; changed >set; cat set
part compare
kloc compare --native redis --policies tpp,kloc --rounds 1 --load 0.1 --seconds 0.1 --settle 10 \
    --json result.json 2>&1
part result; cat result.json
part compared; state kloc; changed | cmp - set && echo "settings kept"
ls -d /var/tmp/kloc-native /sys/fs/cgroup/kloc-native 2>/dev/null || true

kdamonds=/sys/kernel/mm/damon/admin/kdamonds
damon() { grep -rs . $kdamonds | sort; }
states() { cat $kdamonds/*/state 2>/dev/null || true; }
part damo; kloc policy damo-tier; state kloc-policy-damo-tier
cat /proc/sys/kernel/numa_balancing
for number in 0 1; do
    cat $kdamonds/$number/state $kdamonds/$number/contexts/0/schemes/0/action \
        $kdamonds/$number/contexts/0/schemes/0/quotas/goals/0/current_value
done | xargs
part damo_doctor; kloc doctor --server --json || true
part damo_off; kloc off; state kloc-policy-damo-tier; states; changed
cp /etc/kloc/kloc.toml toml
echo 'policy = "damo-tier"' >/etc/kloc/kloc.toml
part damo_of_service; systemctl restart kloc; state kloc; state kloc-policy-damo-tier; states
part damo_stopped; systemctl stop kloc; state kloc-policy-damo-tier; states; changed
cp toml /etc/kloc/kloc.toml

echo 0 >$kdamonds/nr_kdamonds
damon >damon
part scheme; kloc scheme apply damon-tier --physical 2>&1; states
part scheme_doctor; kloc doctor --server --json || true
sleep 3
part scheme_shown; kloc scheme show --json
part scheme_stopped; kloc scheme stop 2>&1; damon | diff damon - && echo same
part failed_later; failed
"""
"""The third boot: measures redis, and lets DAMON move memory."""

REMOVE = r"""
part booted; state kloc; changed >set; cat set
cp /etc/kloc/kloc.toml toml
started >started
part upgrade
apt-get install --yes --option=Dpkg::Options::=--force-confold ./newer.deb
part upgraded; dpkg-query --show --showformat='${Version}\n' kloc; state kloc
part untouched
[ "$(started)" = "$(cat started)" ] && echo "not restarted"
changed | cmp - set && echo "settings kept"
cmp /etc/kloc/kloc.toml toml && echo "file kept"
part files; ls /etc/kloc
part units; systemctl show --property=Description,NeedDaemonReload --value kloc
part restart; systemctl restart kloc; state kloc
changed | cmp - set && echo "settings kept"

part purge; apt-get purge --yes kloc
part purged; changed
part units_left; systemctl list-units --all --plain --no-legend 'kloc*'
systemctl list-unit-files --no-legend 'kloc*' || true
part failed_later; failed
part left
rm -rf /srv/files /srv/large /srv/more*
find / /run -xdev | sort | diff /root/files - | grep '^[<>]' || true

part by_hand; apt-get install --yes ./newer.deb >/dev/null; kloc on
part by_hand_removed; apt-get remove --yes kloc >/dev/null; changed
part by_hand_purged; apt-get purge --yes kloc >/dev/null
find / /run -xdev -name '*kloc*'

kdamonds=/sys/kernel/mm/damon/admin/kdamonds
part scheme; apt-get install --yes ./newer.deb >/dev/null
kloc scheme apply damon-tier --physical 2>&1; cat $kdamonds/*/state
part scheme_removed; apt-get remove --yes kloc >/dev/null; cat $kdamonds/nr_kdamonds; changed
part scheme_purged; apt-get purge --yes kloc >/dev/null; find / /run -xdev -name '*kloc*'
"""
"""The fourth boot: upgrades the package, and removes it."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package kloc."""
    return deb.build(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def newer(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package that is upgraded to."""
    return newer_kloc(package, tmp_path_factory.mktemp("newer") / "newer.deb")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """The server, before anything is installed."""
    return server_vm.make(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def installed(server: Server, package: Path) -> dict[str, str]:
    """The parts that the first boot printed."""
    return split_parts(server.boot(FUNCTIONS + INSTALL, [package]))


@pytest.fixture(scope="module")
def killed(server: Server, installed: dict[str, str]) -> dict[str, str]:
    """The parts that the second boot printed."""
    return split_parts(server.boot(FUNCTIONS + KILL))


@pytest.fixture(scope="module")
def measured(server: Server, killed: dict[str, str]) -> dict[str, str]:
    """The parts that the third boot printed."""
    return split_parts(server.boot(FUNCTIONS + MEASURE))


@pytest.fixture(scope="module")
def removed(server: Server, measured: dict[str, str], newer: Path) -> dict[str, str]:
    """The parts that the fourth boot printed."""
    return split_parts(server.boot(FUNCTIONS + REMOVE, [newer]))


CONFIGURED = {
    **KLOC,
    "/sys/kernel/mm/tiering/node0/max_kb": str(96 << 10),
    "/sys/kernel/mm/tiering/rate_mbps": "64",
}
"""The same with the operator's kloc.toml."""


def test_server_boots_with_systemd_and_two_tiers(installed: dict[str, str]) -> None:
    names = ("running", "failed", "manager", "virtual", "root", "tiers", "memory", "cpus")
    assert {name: installed[name].split() for name in names} == {
        "running": ["running"],
        "failed": [],
        "manager": ["systemd"],
        "virtual": ["qemu"],
        "root": ["/dev/vda", "ext4"],
        "tiers": ["0", "1"],
        "memory": ["0-1"],
        "cpus": ["0"],
    }


def test_all_settings_of_policies_are_compared(installed: dict[str, str]) -> None:
    compared = {line.partition(":")[0] for line in installed["before"].splitlines()}
    for name in ("kloc", "tpp"):
        assert set(policy_files.load(name).values) <= compared


def test_installation_turns_nothing_on(installed: dict[str, str]) -> None:
    assert "Setting up kloc (0.1+git" in installed["install"]
    assert installed["inactive"].split() == ["disabled", "inactive", "same"]
    found = findings(installed["doctor_off"])
    assert installed["doctor_off"].endswith("status 1\n")
    assert [name for name, one in found.items() if not one["well"]] == ["policy"]
    assert "systemctl enable --now kloc" in found["policy"]["remedy"]
    assert installed["metrics"].split() == ["disabled", "inactive"]


def test_service_selects_the_policy_with_its_settings(installed: dict[str, str]) -> None:
    state, *_ = installed["on"].splitlines()
    assert state == ACTIVE
    assert changes(installed["on"]) == KLOC
    found = findings(installed["doctor_on"])
    assert [name for name, one in found.items() if not one["well"]] == []
    assert found["policy"]["state"] == "kloc is on: kloc, /etc/kloc/kloc.toml"


def test_files_have_contexts_and_are_placed_by_them(installed: dict[str, str]) -> None:
    first, second = (json.loads(installed[name]) for name in ("first", "second"))
    assert second["policy"] == "kloc"
    assert second["on"] == {"policy": "kloc", "config": "/etc/kloc/kloc.toml"}
    written = int(installed["read"])
    placed = sum(second["placed"].values()) - sum(first["placed"].values())
    assert placed >= written // second["page_bytes"]
    assert second["contexts"]["file"]["number"] > first["contexts"]["file"]["number"] + 300
    (row,) = [line for line in installed["top"].splitlines() if "/srv/large" in line]
    assert "57.2" in row.split()
    assert installed["exec"].endswith("300\n")


def test_policy_off_and_on_by_hand(installed: dict[str, str]) -> None:
    assert installed["policy"] == "kloc is on: policy tpp\nnone\n"
    assert installed["policy_back"] == "kloc is on: policy kloc\nkloc\n"
    assert installed["off"] == "kloc is off, and what it had set is restored\nsame\n"
    assert installed["on_again"] == "kloc is on: policy kloc, /etc/kloc/kloc.toml\nkloc\n"


def test_reload_sets_what_kloc_toml_says_now(installed: dict[str, str]) -> None:
    assert installed["check"] == "/etc/kloc/kloc.toml is valid: policy kloc\n"
    assert installed["reload"].startswith(f"{ACTIVE}\n")
    assert changes(installed["reload"]) == CONFIGURED
    status = json.loads(installed["limited"])
    assert status["demoted"]["limit"] > 0
    assert status["settings"]["rate_mbps"] == "64"
    assert "max_kb does not exist under policy tpp" in " ".join(
        installed["policy_without_limit"].split()
    )


def test_service_is_on_after_a_reboot(killed: dict[str, str]) -> None:
    assert (killed["running"], killed["failed"]) == ("running\n", "")
    assert killed["booted"].startswith(f"{ACTIVE}\n")
    assert changes(killed["booted"]) == CONFIGURED
    assert killed["stop"] == f"{STOPPED}\n{RESTORED}"


def test_exporter_serves_metrics(killed: dict[str, str]) -> None:
    lines = killed["exporter"].splitlines()
    assert {"kloc_on 1.0", "kloc_contexts_readable 1.0"} <= set(lines)
    (info,) = [line for line in lines if line.startswith("kloc_info{")]
    assert 'policy="kloc"' in info
    assert killed["exporter_stopped"] == f"{STOPPED}\n"


def test_killed_service_restores_settings(killed: dict[str, str]) -> None:
    # It was killed after it had turned demotion on.
    assert killed["killed_service"] == f"true\nsignal failed failed\n{RESTORED}"
    assert "server.json" not in killed["killed_record"]
    assert killed["started_again"] == f"{ACTIVE}\nkloc\n"
    assert killed["journal"].count("kloc is off, and what it had set is restored") >= 2


def test_stop_while_the_service_starts_restores_settings(killed: dict[str, str]) -> None:
    assert killed["stopped_service"] == f"true\n{STOPPED}\n{RESTORED}"


def test_start_that_somebody_else_ends_has_failed(killed: dict[str, str]) -> None:
    assert killed["terminated_service"] == f"true\nexit-code failed failed\n{RESTORED}"


def test_off_restores_settings_after_a_kill_by_hand(killed: dict[str, str]) -> None:
    assert killed["killed_by_hand"].split()[:1] == ["true"]
    assert killed["killed_by_hand"].endswith("ended with 137\n")
    policy = findings(killed["killed_doctor"])["policy"]
    assert not policy["well"]
    assert "was killed" in policy["state"]
    assert killed["killed_off"] == f"kloc is off, and what it had set is restored\n{RESTORED}"


def test_daemon_of_a_policy_is_a_unit(killed: dict[str, str]) -> None:
    running = "success active running"
    assert killed["daemon"].endswith(f"kloc is on: policy waiting\n{running}\n")
    policy = findings(killed["daemon_killed"])["policy"]
    assert not policy["well"]
    assert "whose daemon does not run" in policy["state"]
    # Its command `stop` has run.
    assert killed["daemon_cleaned"] == "stopped\n"
    assert killed["daemon_off"].splitlines()[1:] == [STOPPED, "same"]
    assert killed["daemon_of_service"].splitlines() == [ACTIVE, running]
    assert killed["daemon_stopped"].splitlines() == [STOPPED, "same"]
    assert killed["failed_later"] == ""


def test_redis_is_compared_natively_and_settings_are_kept(measured: dict[str, str]) -> None:
    assert changes(measured["booted"]) == CONFIGURED
    document = json.loads(measured["result"])
    assert sorted(run["policy"] for run in document["runs"]) == ["kloc", "tpp"]
    assert all(run["throughput"] > 0 for run in document["runs"])
    assert document["versions"]["packages"].keys() >= {"redis-server", "gcc"}
    assert "kloc against tpp, round by round:" in measured["compare"]
    assert measured["compared"] == f"{ACTIVE}\nsettings kept\n"


def test_damo_tiers_memory_as_a_daemon(measured: dict[str, str]) -> None:
    *_, state, balancing, kdamonds = measured["damo"].splitlines()
    assert (state, balancing) == ("success active running", "0")
    words = kdamonds.split()
    assert words[:2] + words[3:5] == ["on", "migrate_cold", "on", "migrate_hot"]
    assert abs(int(words[2]) + int(words[5]) - 10_000) < 100
    found = findings(measured["damo_doctor"])
    assert found["policy"]["well"] and found["other mechanisms"]["well"]
    for part in ("damo_off", "damo_stopped"):
        lines = measured[part].splitlines()
        assert lines[-4:] == [STOPPED, "off", "off", "same"]
    assert measured["damo_of_service"].splitlines() == [
        ACTIVE,
        "success active running",
        "on",
        "on",
    ]


def test_scheme_runs_until_it_is_stopped(measured: dict[str, str]) -> None:
    assert "kloc scheme stop ends it" in " ".join(measured["scheme"].split())
    assert measured["scheme"].splitlines()[-2:] == ["on", "on"]
    assert not findings(measured["scheme_doctor"])["other mechanisms"]["well"]
    shown = json.loads(measured["scheme_shown"])
    assert [one["own"] for one in shown] == [True, True]
    assert any(stats["tried"] for one in shown for stats in one["stats"])
    assert measured["scheme_stopped"].endswith("same\n")
    assert measured["failed_later"] == ""


def test_upgrade_changes_nothing_that_runs(removed: dict[str, str]) -> None:
    assert (removed["running"], removed["failed"]) == ("running\n", "")
    assert changes(removed["booted"]) == CONFIGURED
    assert removed["upgraded"] == f"{NEWER}\n{ACTIVE}\n"
    assert removed["untouched"] == "not restarted\nsettings kept\nfile kept\n"
    assert removed["files"].split() == ["kloc.toml", "kloc.toml.dpkg-dist"]
    # systemd has read the new unit.
    assert removed["units"].split() == ["Newer", "no"]
    assert removed["restart"] == f"{ACTIVE}\nsettings kept\n"


def test_purge_restores_settings_and_leaves_no_file(removed: dict[str, str]) -> None:
    assert "Purging configuration files for kloc" in removed["purge"]
    assert removed["purged"] == RESTORED
    assert removed["units_left"] == ""
    assert removed["failed_later"] == ""
    lines = removed["left"].splitlines()
    assert left(removed["left"]) == []
    assert [line for line in lines if line.startswith("> ") and "kloc" in line] == []


def test_removal_restores_what_was_set_by_hand(removed: dict[str, str]) -> None:
    assert removed["by_hand"].endswith("kloc is on: policy kloc, /etc/kloc/kloc.toml\n")
    assert removed["by_hand_removed"] == RESTORED
    assert removed["by_hand_purged"] == ""


def test_removal_stops_a_scheme(removed: dict[str, str]) -> None:
    assert removed["scheme"].splitlines()[-2:] == ["on", "on"]
    assert removed["scheme_removed"] == f"0\n{RESTORED}"
    assert removed["scheme_purged"] == ""
