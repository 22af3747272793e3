# SPDX-License-Identifier: GPL-2.0
"""`kloc metrics`, with the files of a made-up server, as Prometheus's own parser reads them."""

from __future__ import annotations

import builtins
import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import parser

from kloc.base import terminal
from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.commands import metrics as command
from kloc.server import contexts, control, metrics, system
from kloc.server.config import Config
from support import made_up_server
from support.command import parse, run

DASHBOARD = PROJECT / "packaging" / "grafana" / "kloc.json"

PAGE = 4096

Samples = dict[tuple[str, ...], float]
"""Values by the metric's name and its labels."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The root of a server on which kloc is on, with a limit of a node and of a cgroup."""
    monkeypatch.setattr(system, "ROOT", made_up_server.make(tmp_path))
    monkeypatch.setattr(os, "sysconf", lambda _: PAGE)
    terminal.stderr.cache_clear()
    control.turn_on(Config(node_limits={0: 1 << 30}, cgroup_limits={"database.slice": 4 << 30}))
    (tmp_path / "sys/kernel/mm/tiering/has_contexts").write_text("1\n")
    (tmp_path / "sys/fs/cgroup/database.slice/memory.kloc.current").write_text("8192\n")
    return tmp_path


def samples(text: str) -> Samples:
    """Return the values in the text; fail if it is not what Prometheus reads."""
    return {
        (sample.name, *(f"{name}={value}" for name, value in sorted(sample.labels.items()))): (
            sample.value
        )
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_are_what_the_kernel_counts(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("metrics") == 0
    found = samples(capsys.readouterr().out)
    kernel = f"kernel={os.uname().release}"
    expected = {
        ("kloc_info", kernel, "policy=kloc"): 1,
        ("kloc_on",): 1,
        ("kloc_kernel_setting", "name=numa_balancing"): 2,
        ("kloc_kernel_setting_suffices", "name=watermark_boost_factor"): 1,
        ("kloc_knodes",): 8,
        ("kloc_records_bytes", "of=knodes"): 1 << 20,
        ("kloc_demoted_bytes_total", "kind=file", "reason=inactive"): 40000 * PAGE,
        ("kloc_promoted_bytes_total", "kind=file", "reason=active"): 3000 * PAGE,
        ("kloc_not_moved_bytes_total", "kind=file", "reason=busy"): 400 * PAGE,
        ("kloc_placed_bytes_total", "kind=file", "tier=slow"): 10000 * PAGE,
        (
            "kloc_freed_bytes_total",
            "direction=demoted",
            "kind=file",
            "reason=inactive",
        ): 2000 * PAGE,
        (
            "kloc_returned_bytes_total",
            "direction=promoted",
            "kind=file",
            "reason=active",
        ): 600 * PAGE,
        ("kloc_node_bytes", "node=0", "tier=fast"): 1 << 30,
        ("kloc_node_kswapd_gave_up", "node=1"): 0,
        ("kloc_node_limit_bytes", "node=0"): 1 << 30,
        ("kloc_cgroup_limit_bytes", "cgroup=/database.slice"): 4 << 30,
        ("kloc_cgroup_fast_bytes", "cgroup=/database.slice"): 8192,
        ("kloc_slab_bytes", "cache=dentry", "tier=slow"): 1024 * PAGE,
        ("kloc_slab_unused_bytes", "cache=dentry", "tier=slow"): 768 * PAGE,
        ("kloc_slab_moved_bytes_total", "cache=dentry", "direction=demoted"): 1036 * PAGE,
        ("kloc_contexts", "kind=file", "state=active"): 1,
        ("kloc_contexts", "kind=file", "state=inactive"): 6,
        ("kloc_context_bytes", "kind=file", "tier=slow"): 25856 * PAGE,
        ("kloc_contexts_readable",): 1,
    }
    assert {name: found[name] for name in expected} == expected
    # Each count of moves is in one metric.
    counted = [name for name in found if name[0] == "kloc_demoted_bytes_total"]
    assert not [name for name in counted if "freed" in str(name) or "returned" in str(name)]


def test_every_metric_has_help_and_the_type_of_its_name(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("metrics")
    families = list(parser.text_string_to_metric_families(capsys.readouterr().out))
    assert len(families) > 15
    for family in families:
        assert family.documentation and not family.documentation.endswith(".")
        assert family.name.startswith("kloc_")
        counted = all(sample.name.endswith("_total") for sample in family.samples)
        assert (family.type == "counter") == (counted and bool(family.samples))


def test_totals_of_contexts_can_be_left_out(
    server: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(contexts, "read_contexts", lambda: pytest.fail("read"))
    run("metrics", "--no-contexts")
    assert "kloc_context_bytes" not in capsys.readouterr().out


def test_unreadable_contexts_are_a_metric(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (server / contexts.CONTEXTS).unlink()
    run("metrics")
    found = samples(capsys.readouterr().out)
    assert found[("kloc_contexts_readable",)] == 0


def test_totals_of_contexts_are_read_once_a_minute(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, reads = [100.0], []
    totals = contexts.totals_by_kind

    def count() -> Any:
        reads.append(now[0])
        return totals()

    monkeypatch.setattr(contexts, "totals_by_kind", count)
    collector = metrics._Collector(True, clock=lambda: now[0])
    for now[0] in (100.0, 130.0, 159.0, 160.0, 200.0):
        assert "kloc_context_bytes" in {family.name for family in collector.collect()}
    assert reads == [100.0, 160.0]


def test_a_file_is_replaced_as_a_whole(server: Path, tmp_path: Path) -> None:
    path = tmp_path / "kloc.prom"
    path.write_text("old\n")
    assert run("metrics", "--textfile", str(path)) == 0
    assert ("kloc_on",) in samples(path.read_text())
    assert not list(tmp_path.glob(".kloc.prom*"))
    assert path.stat().st_mode & 0o044 == 0o044
    with pytest.raises(KlocError, match="--textfile"):
        run("metrics", "--textfile", f"{tmp_path}/no/kloc.prom")


@pytest.fixture
def exporter(server: Path) -> Iterator[str]:
    """The address of an exporter of the made-up server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    code = (
        "import sys; from pathlib import Path; from kloc import cli; "
        "from kloc.server import system; system.ROOT = Path(sys.argv[1]); "
        "sys.exit(cli.main(sys.argv[2:]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, server, "metrics", "--listen", address],
        env={**os.environ, "PYTHONPATH": str(PROJECT / "src")},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    assert f"http://{address}/metrics" in child.stderr.readline()
    yield address
    child.terminate()
    assert child.wait() == 0
    child.stderr.close()


def test_the_exporter_reads_the_kernel_for_each_request(exporter: str, server: Path) -> None:
    def scrape() -> Samples:
        with urllib.request.urlopen(f"http://{exporter}/metrics") as answer:
            return samples(answer.read().decode())

    name = ("kloc_placed_bytes_total", "kind=file", "tier=fast")
    page = os.sysconf("SC_PAGE_SIZE")
    assert scrape()[name] == 90000 * page
    (server / "sys/kernel/mm/tiering/stats/file/placed_fast").write_text("90001\n")
    assert scrape()[name] == 90001 * page


def test_an_address_in_use_is_an_error(server: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(KlocError, match="cannot listen at"):
            run("metrics", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")


def test_the_exporter_listens_on_this_server_only_by_default() -> None:
    assert parse("metrics", "--listen").listen == ("127.0.0.1", 9753)
    assert parse("metrics", "--listen", "[::1]:80").listen == ("::1", 80)
    assert parse("metrics", "--listen", ":80").listen == ("0.0.0.0", 80)
    for wrong in ("9753", "localhost", "a:b", "a:0", "a:65536"):
        with pytest.raises(SystemExit):
            parse("metrics", "--listen", wrong)
    assert command.LISTEN.startswith("127.0.0.1:")


def test_a_kernel_without_policies_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(system, "ROOT", tmp_path)
    with pytest.raises(KlocError, match="has no policies of memory tiers"):
        run("metrics")


def test_without_prometheus_client_the_error_names_the_package(
    server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.startswith("prometheus_client"):
            raise ImportError(name)
        return load(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(KlocError, match="prometheus_client") as error:
        run("metrics")
    assert "python3-prometheus-client" in str(error.value.hint)


def test_the_dashboard_shows_metrics_that_exist(
    server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("metrics")
    exported = {name[0] for name in samples(capsys.readouterr().out)}
    dashboard = json.loads(DASHBOARD.read_text())
    expressions = [
        target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())
    ]
    shown = {name for one in expressions for name in re.findall(r"kloc_\w+", one)}
    assert len(shown) > 10
    assert shown <= exported
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)


def test_the_docs_name_every_metric(server: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("metrics")
    exported = {name[0] for name in samples(capsys.readouterr().out)}
    text = (PROJECT / "docs" / "server.md").read_text()
    assert exported == set(re.findall(r"`(kloc_\w+)", text))
