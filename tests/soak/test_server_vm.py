# SPDX-License-Identifier: GPL-2.0
"""The package kloc on a Debian server with systemd and two tiers of memory, a virtual machine.

As docs/server.md says, it is installed, turned on as a service, used, killed, upgraded and removed.
The server is booted three times; each boot prints parts: the line "== NAME" comes before each.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kloc.build import deb
from kloc.server import policy_files
from support import server_vm
from support.in_machine import split_parts
from support.server_vm import Server

pytestmark = pytest.mark.soak

NEWER = "0.1+newer"
"""The version of the package that is upgraded to."""

CONFIG = """\
policy = "kloc"
[settings]
rate_mbps = 64
[limits.nodes]
node0 = "96M"
"""
"""What the operator writes to kloc.toml."""

FUNCTIONS = r"""
part() { echo "== $1"; }
settings() {
    grep -rs . /sys/kernel/mm/tiering /sys/kernel/mm/kloc /sys/kernel/mm/numa \
        /sys/kernel/mm/lru_gen /sys/kernel/debug/sched/numa_balancing /proc/sys/vm \
        /proc/sys/kernel/numa_balancing* |
        grep -vE '/(stats/|knodes:|knode_bytes:|page_bytes:|[a-z]*_reserve_kbytes:)' | sort
}
changed() { settings | diff /root/settings - && echo same || true; }
state() { systemctl show --property=ActiveState,SubState,Result --value "$1" | xargs; }
started() { systemctl show --property=ActiveEnterTimestampMonotonic --value kloc; }
failed() { systemctl --failed --plain --no-legend --no-pager; }
export DEBIAN_FRONTEND=noninteractive
# On a server that is still starting, settings and files change.
part running; systemctl is-system-running --wait || true
part failed; failed
"""
"""Functions of all scripts, and the end of the system's start.

`settings` prints all settings that may matter, with their values, and `changed` those that are not
as they were before the package was installed.
"""

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
systemctl reset-failed kloc || true

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
rm -r /srv/files /srv/large /srv/more*
find / /run -xdev | sort | diff /root/files - | grep '^[<>]' || true

part by_hand; apt-get install --yes ./newer.deb >/dev/null; kloc on
part by_hand_removed; apt-get remove --yes kloc >/dev/null; changed
part by_hand_purged; apt-get purge --yes kloc >/dev/null
find / /run -xdev -name '*kloc*'
"""
"""The third boot: upgrades the package, and removes it."""

PASSING = (
    "/run/(agetty.reload|job|log|systemd|udev|lock|credentials)(/|$)",
    "/tmp(/|$)",
    "/var/tmp(/|$)",
    "/var/log/",
    "/var/cache/(apt|debconf|ldconfig|man)(/|$)",
    "/var/lib/apt/",
    "/var/lib/systemd/",
    "/root/(settings|files)$",
)
"""What the system and apt write that has nothing to do with the package: regular expressions."""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package kloc."""
    return deb.build(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def newer(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with another version, another kloc.toml, and another unit."""
    directory = tmp_path_factory.mktemp("newer")
    tree, built = directory / "tree", directory / "newer.deb"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    for name, pattern, text in (
        ("DEBIAN/control", r"(?<=^Version: ).*$", NEWER),
        ("etc/kloc/kloc.toml", r"\Z", "# Newer.\n"),
        ("usr/lib/systemd/system/kloc.service", r"(?<=^Description=).*$", "Newer"),
    ):
        file = tree / name
        file.write_text(re.sub(pattern, text, file.read_text(), count=1, flags=re.M))
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, built], check=True)
    return built


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
def removed(server: Server, killed: dict[str, str], newer: Path) -> dict[str, str]:
    """The parts that the third boot printed."""
    return split_parts(server.boot(FUNCTIONS + REMOVE, [newer]))


def changes(part: str) -> dict[str, str]:
    """Return the settings that are not as before the package, by path, of what `changed` prints."""
    lines = (line[2:].partition(":") for line in part.splitlines() if line.startswith("> "))
    return {path: text for path, _, text in lines}


def findings(part: str) -> dict[str, dict[str, Any]]:
    """Return what `kloc doctor --server --json` found, by name."""
    document = json.loads(part[: part.rindex("}") + 1])
    return {finding["what"]: finding for finding in document["findings"]}


KLOC = {
    "/proc/sys/kernel/numa_balancing": "2",
    "/proc/sys/vm/watermark_boost_factor": "0",
    "/sys/kernel/mm/numa/demotion_enabled": "true",
    "/sys/kernel/mm/tiering/has_contexts": "1",
    "/sys/kernel/mm/tiering/node0/max_kb": "max",
    "/sys/kernel/mm/tiering/policy": "kloc",
}
"""What differs under policy kloc from before; the server has the other settings anyway."""

CONFIGURED = {
    **KLOC,
    "/sys/kernel/mm/tiering/node0/max_kb": str(96 << 10),
    "/sys/kernel/mm/tiering/rate_mbps": "64",
}
"""The same with the operator's kloc.toml."""

RESTORED = "same\n"
ACTIVE, STOPPED = "success active exited", "success inactive dead"


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
    assert "Setting up kloc (0.1)" in installed["install"]
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


def test_service_that_is_stopped_while_it_starts_restores_settings(killed: dict[str, str]) -> None:
    waited, _, same = killed["stopped_service"].splitlines()
    assert (waited, same) == ("true", "same")


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
    passing = [line for line in lines if re.match(f"[<>] ({'|'.join(PASSING)})", line)]
    assert [line for line in lines if line not in passing] == []
    assert [line for line in lines if line.startswith("> ") and "kloc" in line] == []


def test_removal_restores_what_was_set_by_hand(removed: dict[str, str]) -> None:
    assert removed["by_hand"].endswith("kloc is on: policy kloc, /etc/kloc/kloc.toml\n")
    assert removed["by_hand_removed"] == RESTORED
    assert removed["by_hand_purged"] == ""
