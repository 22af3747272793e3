# SPDX-License-Identifier: GPL-2.0
"""kloc on, off, policy, limit and config, and cgroups of choose, on a made-up server."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from kloc.base import terminal
from kloc.base.errors import KlocError, UsageError
from kloc.server import config, control, processes, system
from support import made_up_server
from support.command import run

TIERING = "sys/kernel/mm/tiering"
DATABASE = "sys/fs/cgroup/database.slice/memory.kloc"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root of a server on which kloc is off, without kloc.toml."""
    monkeypatch.setattr(system, "ROOT", made_up_server.make(tmp_path))
    monkeypatch.setattr(config, "DEFAULT", tmp_path / "etc/kloc.toml")
    terminal.stderr.cache_clear()
    terminal.stdout.cache_clear()
    return tmp_path


def selected(root: Path) -> str:
    return (root / TIERING / "policy").read_text().strip()


def write_config(root: Path, text: str) -> Path:
    path = root / "etc/kloc.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_on_and_off_say_what_they_did(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("on") == 0
    assert capsys.readouterr().out == "kloc is on: policy kloc, default settings\n"
    assert selected(server) == "kloc"
    path = write_config(server, 'policy = "thermostat"\n')
    run("on")
    assert capsys.readouterr().out == f"kloc is on: policy thermostat, {path}\n"
    assert selected(server) == "thermostat"
    run("off")
    run("off")
    off = "kloc is off, and what it had set is restored\nkloc is off\n"
    assert capsys.readouterr().out == off
    assert selected(server) == "none"


def test_on_takes_another_policy_and_another_file(server: Path) -> None:
    write_config(server, 'policy = "stock"\n[settings]\npin = 4\n')
    run("on", "--policy", "kloc")
    assert selected(server) == "kloc"
    assert (server / TIERING / "pin").read_text() == "4\n"
    other = server / "other.toml"
    other.write_text('policy = "thermostat"\n')
    run("on", "--config", str(other))
    assert selected(server) == "thermostat"
    assert (server / TIERING / "pin").read_text() == "8\n"
    with pytest.raises(UsageError, match="did you mean 'kloc'"):
        run("on", "--policy", "klocc")


def test_dry_run_prints_commands_for_a_shell(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_config(server, '[limits.cgroups]\n"/none.slice" = "1G"\n[settings]\npin = "a b"\n')
    before = made_up_server.values(server)
    run("on", "--dry-run")
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[-1] == f"echo kloc > /{TIERING}/policy"
    assert f"echo 'a b' > /{TIERING}/pin" in lines
    assert all(re.fullmatch(r"echo \S+( \S+)? > /(sys|proc/sys)/\S+", line) for line in lines)
    assert "no cgroup /none.slice" in printed.err
    assert made_up_server.values(server) == before
    assert control.recorded() is None


def test_policy_changes_the_policy(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KlocError, match="kloc is off"):
        run("policy", "kloc")
    run("on")
    run("policy", "thermostat")
    assert capsys.readouterr().out.endswith("kloc is on: policy thermostat\n")
    assert selected(server) == "thermostat"


def test_policy_lists_what_the_server_can_have_and_lacks(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("on", "--policy", "tpp")
    capsys.readouterr()
    run("policy")
    rows = {row.split()[0]: row.split()[1:] for row in capsys.readouterr().out.splitlines()}
    assert rows["tpp"][0] == "on"
    assert rows["kloc"][0] == "yes"
    assert rows["kloc-slab"][0] == "no"
    assert any(word.startswith("reloc.caches=dentry,") for word in rows["kloc-slab"])
    assert rows["remote-first"][0] == "no"
    assert "all-fast" not in rows and "damon-tier" not in rows


def test_limits_are_set_listed_and_removed(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("limit")
    assert capsys.readouterr().out == "no limits\n"
    run("on")
    run("limit", "database.slice", "1.5G")
    run("limit", "node0", "512 MiB")
    assert (server / f"{DATABASE}.max").read_text() == f"{3 << 29}\n"
    assert (server / TIERING / "node0/max_kb").read_text() == f"{1 << 19}\n"
    capsys.readouterr()
    run("limit")
    rows = [row.split() for row in capsys.readouterr().out.splitlines()]
    assert ["node0", "512.0"] in rows and ["/database.slice", "1,536.0", "0.0"] in rows
    run("limit", "/sys/fs/cgroup/database.slice", "max")
    assert (server / f"{DATABASE}.max").read_text() == "max\n"
    run("off")
    assert (server / TIERING / "node0/max_kb").read_text() == "max\n"


def test_a_limit_without_effect_or_end_gets_a_message(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("limit", "database.slice", "4K")
    error = capsys.readouterr().err
    assert "kloc is off: this limit stays until kloc limit database.slice max" in error
    assert "no effect: the selected policy, none, has no contexts" in error


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("node0",), "missing argument: LIMIT"),
        (("node0", "4X"), "'4X' is not a size"),
        (("node0", "16"), "'16' is only 16 bytes"),
        (("node7", "4G"), "node7/max_kb does not exist"),
        (("no.service", "4G"), "there is no cgroup no.service"),
        (("/a/../..", "4G"), "there is no cgroup"),
        (("noaccounting", "4G"), "memory.kloc.max does not exist"),
    ],
)
def test_limits_that_cannot_be_set_are_errors(
    argv: tuple[str, ...], message: str, server: Path
) -> None:
    with pytest.raises(KlocError, match=re.escape(message)):
        run("limit", *argv)


def test_several_units_of_one_name_are_listed(server: Path) -> None:
    (server / "sys/fs/cgroup/user.slice/mail.service").mkdir()
    with pytest.raises(KlocError, match=r"2 cgroups .*: /system\.slice/mail\.service, /user"):
        run("limit", "mail.service", "4G")


def test_without_cgroup_v2_the_error_says_how_to_get_it(server: Path) -> None:
    (server / "sys/fs/cgroup/cgroup.controllers").unlink()
    with pytest.raises(KlocError, match="cgroup v2"):
        run("limit", "mail.service", "4G")


def test_cgroups_are_chosen_and_released(
    server: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(processes, "choose", chosen.append)
    run("on")
    run("choose", "12", "--cgroup", "database.slice", "--cgroup", ".")
    enabled = [
        server / f"{DATABASE}.enabled",
        server / "sys/fs/cgroup/user.slice/memory.kloc.enabled",
    ]
    assert [path.read_text() for path in enabled] == ["1\n", "1\n"]
    assert chosen == [12]
    run("release", "--cgroup", "database.slice")
    assert [path.read_text() for path in enabled] == ["0\n", "1\n"]
    run("off")
    assert [path.read_text().strip() for path in enabled] == ["0", "0"]
    for command in ("choose", "release"):
        with pytest.raises(UsageError, match="PID or --cgroup"):
            run(command)


def test_config_check_names_the_file_and_the_policy(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KlocError, match=r"kloc\.toml: No such file"):
        run("config", "check")
    path = write_config(server, 'policy = "tpp"\n')
    assert run("config", "check") == 0
    assert capsys.readouterr().out == f"{path} is valid: policy tpp\n"
    path.write_text("policy = 1\n")
    with pytest.raises(KlocError, match="line 1: policy"):
        run("config", "check", str(path))


def test_config_check_refuses_settings_that_no_kernel_has(server: Path) -> None:
    path = write_config(server, '[settings]\npin = 4\n"/proc/sys/vm/watermark_scale" = 10\n')
    with pytest.raises(KlocError) as refused:
        run("config", "check")
    assert refused.value.message == (
        f"{path}, line 3: settings./proc/sys/vm/watermark_scale: this kernel has no "
        "/proc/sys/vm/watermark_scale, did you mean /proc/sys/vm/watermark_scale_factor?"
    )
    with pytest.raises(KlocError, match="watermark_scale_factor"):
        run("on", "--dry-run")


def test_config_check_says_what_it_cannot_check(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(server / "sys/kernel/debug")
    (server / "sys/kernel/debug").mkdir()
    path = write_config(server, '[settings]\n"/sys/kernel/debug/sched/verbose" = "N"\n')
    assert run("config", "check") == 0
    printed = capsys.readouterr()
    assert printed.out == f"{path} is valid: policy kloc\n"
    assert "line 2: settings./sys/kernel/debug/sched/verbose: " in printed.err
    assert "with debugfs mounted" in " ".join(printed.err.split())
