# SPDX-License-Identifier: GPL-2.0
"""kloc on and off: what is written, remembered and restored, also after errors and kills."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.server import config, control, plan, system
from kloc.server.config import Config
from support import made_up_server
from support.made_up_server import DEBUGFS

TIERING = "sys/kernel/mm/tiering"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root of a server on which kloc is off."""
    monkeypatch.setattr(system, "ROOT", made_up_server.make(tmp_path))
    return tmp_path


def changed(root: Path, before: dict[str, str]) -> dict[str, str]:
    """Return the files whose values are other ones than before, with their values."""
    now = made_up_server.values(root)
    return {path: text for path, text in now.items() if not control.same(before[path], text)}


def is_off(root: Path) -> bool:
    return not (root / "run/kloc/server.json").exists()


def test_on_writes_the_policys_settings_undivided_and_off_restores_them(server: Path) -> None:
    before = made_up_server.values(server)
    assert control.turn_on(Config()) == ()
    assert changed(server, before) == {
        "sys/kernel/mm/lru_gen/enabled": "y",
        "proc/sys/kernel/numa_balancing": "2",
        "sys/kernel/mm/numa/demotion_enabled": "1",
        "proc/sys/vm/watermark_boost_factor": "0",
        f"{DEBUGFS}/scan_period_min_ms": "1000",
        f"{TIERING}/policy": "kloc",
    }
    record = control.recorded()
    assert record is not None and record.complete and record.policy == "kloc"
    assert control.turn_off()
    assert not changed(server, before)
    assert is_off(server)
    assert not control.turn_off()


def test_on_writes_what_kloc_toml_says(server: Path) -> None:
    before = made_up_server.values(server)
    settings = Config(
        policy="tpp",
        scope="chosen",
        kinds=("file",),
        settings={"/sys/kernel/mm/tiering/rate_mbps": "64", "/proc/sys/kernel/numa_balancing": "3"},
        node_limits={0: 1 << 30},
        cgroup_limits={"/database.slice": 4 << 30, "mail.service": None},
        chosen=("/sys/fs/cgroup/system.slice/mail.service",),
    )
    control.turn_on(settings)
    written = changed(server, before)
    assert written[f"{TIERING}/rate_mbps"] == "64"
    assert written["proc/sys/kernel/numa_balancing"] == "3"
    assert written["sys/kernel/mm/kloc/scope"] == "chosen"
    assert written["sys/kernel/mm/kloc/kinds"] == "file"
    assert written[f"{TIERING}/node0/max_kb"] == str(1 << 20)
    assert written["sys/fs/cgroup/database.slice/memory.kloc.max"] == str(4 << 30)
    assert written["sys/fs/cgroup/system.slice/mail.service/memory.kloc.enabled"] == "1"
    assert f"{TIERING}/policy" not in written
    control.turn_off()
    assert not changed(server, before)


def test_the_policy_is_selected_after_its_settings_and_before_limits(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    write = system.write

    def note(path: str, text: str) -> None:
        order.append(path)
        write(path, text)

    monkeypatch.setattr(system, "write", note)
    control.turn_on(Config(node_limits={0: 0}))
    assert order[-2:] == [f"/{TIERING}/policy", f"/{TIERING}/node0/max_kb"]
    order.clear()
    control.turn_off()
    assert order[:2] == [f"/{TIERING}/node0/max_kb", f"/{TIERING}/policy"]


def test_on_twice_changes_nothing_and_keeps_what_was_there_before(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made_up_server.values(server)
    control.turn_on(Config())
    record = control.recorded()
    with monkeypatch.context() as patch:
        patch.setattr(system, "write", lambda *_: pytest.fail("nothing is to be written"))
        control.turn_on(Config())
    assert control.recorded() == record
    control.turn_off()
    assert not changed(server, before)


def test_another_kloc_toml_restores_what_it_does_not_set(server: Path) -> None:
    before = made_up_server.values(server)
    control.turn_on(Config(settings={f"/{TIERING}/pin": "4"}, node_limits={0: 1 << 20}))
    control.turn_on(Config(policy="stock"))
    assert changed(server, before) == {"proc/sys/kernel/numa_balancing": "0"}
    control.turn_off()
    assert not changed(server, before)


def test_policy_changes_at_run_time_and_keeps_the_rest(server: Path, tmp_path: Path) -> None:
    before = made_up_server.values(server)
    file = tmp_path / "kloc.toml"
    file.write_text('[settings]\npin = 4\n[limits.cgroups]\n"/database.slice" = "1G"\n')
    control.turn_on(config.read(file))
    control.set_limits([(f"/{TIERING}/node0/max_kb", "512")])
    control.change_policy("thermostat")
    now = changed(server, before)
    assert now[f"{TIERING}/policy"] == "thermostat"
    assert now[f"{TIERING}/thermostat/slowdown_bp"] == "300"
    assert now["proc/sys/kernel/numa_balancing"] == "0"
    assert now[f"{TIERING}/pin"] == "4"
    assert now[f"{TIERING}/node0/max_kb"] == "512"
    assert now["sys/fs/cgroup/database.slice/memory.kloc.max"] == str(1 << 30)
    assert "proc/sys/vm/watermark_boost_factor" not in now
    # kloc.toml has no limit of the node.
    control.turn_on(config.read(file))
    assert f"{TIERING}/node0/max_kb" not in changed(server, before)
    control.turn_off()
    assert not changed(server, before)


def test_policy_needs_kloc_to_be_on(server: Path) -> None:
    with pytest.raises(KlocError, match="kloc is off") as error:
        control.change_policy("tpp")
    assert error.value.hint == "kloc on --policy tpp turns it on"


def test_a_limit_that_the_policy_lacks_is_noted(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control.turn_on(Config())
    control.set_limits([(f"/{TIERING}/node0/max_kb", "512")])
    limit, write = server / TIERING / "node0/max_kb", system.write

    def take_folder(path: str, text: str) -> None:
        write(path, text)
        if path.endswith("/policy"):
            assert limit.read_text() == "max\n", "the limit would stay"
            limit.unlink()

    monkeypatch.setattr(system, "write", take_folder)
    (note,) = control.change_policy("stock")
    assert "node0/max_kb does not exist under policy stock" in note
    with pytest.raises(KlocError, match="does not place page cache"):
        control.turn_on(Config(policy="stock", node_limits={0: 1}))
    control.turn_off()


def test_a_limit_of_kloc_toml_is_noted_by_another_policy_and_comes_back(
    server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, write = server / TIERING / "node0/max_kb", system.write

    def take_and_give_folder(path: str, text: str) -> None:
        write(path, text)
        if path.endswith("/policy"):
            limit.unlink(missing_ok=True)
            if text == "kloc":
                limit.write_text("max\n")

    monkeypatch.setattr(system, "write", take_and_give_folder)
    file = tmp_path / "kloc.toml"
    file.write_text('[limits.nodes]\nnode0 = "1M"\n')
    control.turn_on(config.read(file))
    (note,) = control.change_policy("tpp")
    assert "node0/max_kb does not exist under policy tpp: no limit" in note
    assert control.change_policy("kloc") == ()
    assert limit.read_text() == "1024\n"


def test_limits_are_restored_by_off_if_kloc_is_on(server: Path) -> None:
    path = "sys/fs/cgroup/database.slice/memory.kloc.max"
    assert not control.set_limits([(f"/{path}", "4096")])
    assert is_off(server)
    control.turn_on(Config())
    assert control.set_limits([(f"/{path}", "8192")])
    assert control.set_limits([(f"/{path}", "max")])
    control.turn_off()
    assert (server / path).read_text() == "4096\n"


def test_a_cgroup_that_is_removed_meanwhile_needs_no_restoring(server: Path) -> None:
    control.turn_on(Config(cgroup_limits={"mail.service": 4096}))
    for path in (server / "sys/fs/cgroup/system.slice/mail.service").iterdir():
        path.unlink()
    assert control.turn_off()
    assert is_off(server)


def failing(path: str, number: int) -> Callable[[str, str], None]:
    """Return a function that writes, but fails for a file with an error number."""
    write = system.write

    def attempt(name: str, text: str) -> None:
        if name == path:
            raise OSError(number, os.strerror(number), name)
        write(name, text)

    return attempt


@pytest.mark.parametrize("on", [False, True], ids=["off before", "on before"])
def test_a_refused_write_leaves_everything_as_before(
    server: Path, monkeypatch: pytest.MonkeyPatch, on: bool
) -> None:
    before = made_up_server.values(server)
    if on:
        control.turn_on(Config(policy="stock", settings={f"/{TIERING}/pin": "4"}))
    middle, record = made_up_server.values(server), control.recorded()
    monkeypatch.setattr(system, "write", failing(f"/{TIERING}/policy", errno.ENODEV))
    with pytest.raises(KlocError, match="one tier") as error:
        control.turn_on(Config())
    assert "kloc doctor --server" in str(error.value.hint)
    assert not changed(server, middle)
    assert control.recorded() == record
    monkeypatch.undo()
    monkeypatch.setattr(system, "ROOT", server)
    control.turn_off()
    assert not changed(server, before)


def test_an_interrupt_leaves_everything_as_before(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made_up_server.values(server)
    write = system.write

    def interrupt(path: str, text: str) -> None:
        if path.endswith("/policy"):
            raise KeyboardInterrupt
        write(path, text)

    monkeypatch.setattr(system, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        control.turn_on(Config())
    assert not changed(server, before)
    assert is_off(server)


def test_debugfs_that_refuses_is_noted(server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "write", failing(f"/{DEBUGFS}/scan_period_min_ms", errno.EPERM))
    (note,) = control.turn_on(Config())
    assert "scan_period_min_ms" in note and "it stays 500" in note


def test_a_file_that_cannot_be_restored_is_named_and_tried_again(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made_up_server.values(server)
    control.turn_on(Config())
    with monkeypatch.context() as patch:
        patch.setattr(system, "write", failing("/proc/sys/kernel/numa_balancing", errno.EPERM))
        with pytest.raises(KlocError, match="not restored: /proc/sys/kernel/numa_balancing"):
            control.turn_off()
    assert changed(server, before) == {"proc/sys/kernel/numa_balancing": "2"}
    assert control.turn_off()
    assert not changed(server, before)


KILLED = """
import sys
from pathlib import Path
from kloc.server import control, system
from kloc.server.config import Config
system.ROOT = Path(sys.argv[1])
write = system.write
left = int(sys.argv[2])
def count(path, text):
    global left
    write(path, text)
    left -= 1
    if left == 0:
        print("now", flush=True)
        sys.stdin.read()
system.write = count
control.turn_on(Config(settings={"/sys/kernel/mm/tiering/pin": "4"}, node_limits={0: 1 << 20}))
"""
"""Turns kloc on, and waits for its end after a number of writes."""


@pytest.mark.parametrize("writes", range(1, 9))
def test_off_restores_everything_after_a_kill_at_any_write(server: Path, writes: int) -> None:
    before = made_up_server.values(server)
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, server, str(writes)],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stdin is not None
    assert child.stdout.readline() == "now\n"
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    child.stdin.close()
    child.stdout.close()
    assert len(changed(server, before)) == writes
    record = control.recorded()
    assert record is not None and not record.complete
    assert control.turn_off()
    assert not changed(server, before)


def test_two_kloc_wait_for_each_other(server: Path) -> None:
    with control._locked():
        code = (
            "import sys; from pathlib import Path; from kloc.server import control, system; "
            "from kloc.server.config import Config; system.ROOT = Path(sys.argv[1]); "
            "control.turn_on(Config())"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", code, server],
            env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
        )
        time.sleep(1)
        assert child.poll() is None
        assert is_off(server)
    assert child.wait() == 0
    assert not is_off(server)


def refused(settings: Config) -> list[KlocError]:
    return list(plan.refusals(settings))


def test_a_server_with_all_that_is_needed_refuses_nothing(server: Path) -> None:
    assert not refused(Config())


@pytest.mark.parametrize("tiers", [((0, 1),), ()], ids=["one tier", "no tiers"])
def test_policies_that_need_two_tiers_are_refused(
    tiers: tuple[tuple[int, ...], ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(system, "ROOT", made_up_server.make(tmp_path, tiers))
    for name in ("kloc", "tpp", "naive", "thermostat"):
        (error,) = refused(Config(policy=name))
        assert "nothing to move to" in error.message
        assert "kloc doctor" in str(error.hint)
    assert not refused(Config(policy="stock"))


def test_another_kernel_is_refused_only_what_it_lacks(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in sorted((server / "sys/kernel/mm").rglob("*"), reverse=True):
        if "tiering" in str(path) or "mm/kloc" in str(path):
            path.rmdir() if path.is_dir() else path.unlink()
    (error,) = refused(Config())
    assert error.message.startswith("policy kloc: this kernel")
    (error,) = refused(Config(policy="tpp", cgroup_limits={"/a": 1}))
    assert error.message.startswith("limits of fast memory: ")
    assert not refused(Config(policy="tpp", scope="all", kinds=("file",)))
    control.turn_on(Config(policy="tpp", scope="all", kinds=("file",)))
    assert (server / "proc/sys/kernel/numa_balancing").read_text() == "2\n"
    control.turn_off()


def test_missing_parameters_policies_nodes_and_files_are_refused(server: Path) -> None:
    (error,) = refused(Config(policy="kloc-slab"))
    assert "reloc.caches=dentry,ext4_inode_cache" in error.message
    (error,) = refused(Config(policy="remote-first"))
    assert "has no policy remote-first" in error.message
    (error,) = refused(Config(node_limits={1: 4096}))
    assert "node 1" in error.message and "0" in str(error.hint)
    (error,) = refused(Config(settings={"/proc/sys/vm/no_such": "1"}))
    assert "kloc.toml sets /proc/sys/vm/no_such" in error.message
    (error,) = refused(Config(policy="all-fast"))
    assert "timing of memory" in error.message
    (server / "sys/kernel/mm/lru_gen/enabled").unlink()
    (error,) = refused(Config())
    assert "policy kloc sets /sys/kernel/mm/lru_gen/enabled" in error.message


def test_who_may_not_write_is_told_to_be_root(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _, mode: mode == os.F_OK)
    (error,) = refused(Config())
    assert "no permission" in error.message
    assert error.hint == system.AS_ROOT


def test_what_can_be_done_without_is_noted(server: Path) -> None:
    for path in (server / DEBUGFS).iterdir():
        path.unlink()
    notes = control.turn_on(Config(cgroup_limits={"later.service": 1 << 20, "noaccounting": 4096}))
    assert len(notes) == 3
    assert "sched/numa_balancing/scan_delay_ms" in notes[0] and "debugfs" in notes[0]
    assert "no cgroup later.service" in notes[1]
    assert "MemoryAccounting=yes" in notes[2]
    assert control.turn_off()


def test_a_policy_that_is_tried_has_what_kloc_toml_says_and_is_taken_back(
    server: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = made_up_server.values(server)
    file = tmp_path / "kloc.toml"
    file.write_text("[settings]\npin = 4\n[limits.nodes]\nnode0 = 4096\n")
    monkeypatch.setattr(config, "DEFAULT", file)
    kept = control.state()
    assert control.try_policy("kloc", kept) == ()
    assert control.is_trying("kloc") and not control.is_trying("tpp")
    now = changed(server, before)
    assert (now[f"{TIERING}/pin"], now[f"{TIERING}/node0/max_kb"]) == ("4", "4")
    with pytest.raises(KlocError, match="was killed, or is running") as error:
        control.state()
    assert "kloc off" in str(error.value.hint)
    assert control.go_back("kloc", kept)
    assert not changed(server, before)
    assert is_off(server)
    assert not control.go_back("kloc", kept)


def test_limits_of_nodes_are_left_out_under_policies_without_them(
    server: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "kloc.toml"
    file.write_text("[limits.nodes]\nnode0 = 4096\n")
    control.turn_on(config.read(file))
    record, before = control.recorded(), made_up_server.values(server)
    kept = control.state()
    limit, write = server / TIERING / "node0/max_kb", system.write

    def place(path: str, text: str) -> None:
        """Write as the kernel does: the limit is there only under the policy kloc."""
        write(path, text)
        if path.endswith("/policy"):
            limit.unlink(missing_ok=True)
            if text == "kloc":
                limit.write_text("max\n")

    monkeypatch.setattr(system, "write", place)
    (note,) = control.try_policy("stock", kept)
    assert "node0/max_kb does not exist under policy stock" in note
    assert not limit.exists()
    assert control.go_back("stock", kept)
    assert limit.read_text() == "4\n"
    assert made_up_server.values(server) == before
    assert control.recorded() == record


def test_a_cgroup_that_is_removed_while_a_policy_is_tried_is_left_out(server: Path) -> None:
    control.turn_on(Config(cgroup_limits={"mail.service": 4096}))
    record, kept = control.recorded(), control.state()
    control.try_policy("tpp", kept)
    for path in (server / "sys/fs/cgroup/system.slice/mail.service").iterdir():
        path.unlink()
    assert control.go_back("tpp", kept)
    assert control.recorded() == record
    assert control.turn_off()
