# SPDX-License-Identifier: GPL-2.0
"""The tables [scheme] and [swap] of policies: what the machine does with them, and their errors."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.machine.job import Swap
from kloc.measure import policy, task, workload
from kloc.measure.scheme_use import SchemeUse
from kloc.schemes import sysfs, text
from kloc.schemes.sysfs import Attributes

HOST = profile.load("tiered")
CONTEXT = f"{sysfs.KDAMONDS}/0/contexts/0"

DAOS = ("baseline", "rec", "prec", "thp", "ethp", "prcl", "idle-zram")


def mine(monkeypatch: pytest.MonkeyPatch, directory: Path, tables: str) -> policy.Policy:
    """Return the policy "mine" with these tables, in a directory of its own."""
    monkeypatch.setattr(policy, "POLICIES", directory)
    (directory / "mine.toml").write_text(f'summary = "s"\n{tables}')
    return policy.load("mine")


def use(name: str) -> SchemeUse:
    """Return what the policy `name` lets DAMON do."""
    found = policy.load(name).scheme
    assert found is not None
    return found


@pytest.mark.parametrize("name", DAOS)
def test_configurations_of_the_paper_differ_from_baseline_in_what_they_add_only(name: str) -> None:
    settings = policy.load(name).settings("redis", HOST)
    baseline = policy.load("baseline").settings("redis", HOST)
    changed = {path for path in settings if settings[path] != baseline[path]}
    huge = {"/sys/kernel/mm/transparent_hugepage/enabled"}
    assert settings.keys() == baseline.keys()
    assert changed == (huge if name in ("thp", "ethp") else set())
    assert policy.load(name).swap == policy.load("baseline").swap is not None


@pytest.mark.parametrize("name", [*DAOS, "rec-undivided", "prec-undivided"])
def test_configurations_of_the_paper_have_one_tier_as_its_machine(name: str) -> None:
    assert policy.load(name).timing == "fast"


def test_times_and_regions_are_divided_and_ages_are_as_many_intervals() -> None:
    written = dict(use("prcl").damon("redis", HOST).writes)
    attributes = f"{CONTEXT}/monitoring_attrs"
    sample = int(written[f"{attributes}/intervals/sample_us"])
    assert sample == round(5000 / HOST.scale)
    assert int(written[f"{attributes}/intervals/aggr_us"]) == 20 * sample
    assert int(written[f"{attributes}/nr_regions/max"]) == round(1000 / HOST.scale)
    # 5 s are 50 intervals of 100 ms.
    assert written[f"{CONTEXT}/schemes/0/access_pattern/age/min"] == "50"
    assert written[f"{CONTEXT}/schemes/0/action"] == "pageout"


def test_periods_of_the_authors_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = (
        '[scheme]\ntarget = "physical"\nsampling = "1ms"\nregions = [20, 200]\ndivided = false\n'
    )
    one = mine(monkeypatch, tmp_path, tables).scheme
    assert one is not None
    damon = one.damon("redis", HOST)
    written = dict(damon.writes)
    assert written[f"{CONTEXT}/operations"] == "paddr"
    assert written[f"{CONTEXT}/monitoring_attrs/intervals/sample_us"] == "1000"
    assert written[f"{CONTEXT}/monitoring_attrs/intervals/aggr_us"] == "100000"
    assert written[f"{CONTEXT}/monitoring_attrs/nr_regions/max"] == "200"
    assert written[f"{CONTEXT}/schemes/nr_schemes"] == "0"
    assert (damon.target, damon.update_us) == ("physical", 1_000_000)


@pytest.mark.parametrize("name", ["rec", "prec"])
def test_monitoring_of_the_authors_is_divided_by_nothing(name: str) -> None:
    one, own = policy.load(f"{name}-undivided"), use(f"{name}-undivided")
    assert own.target == use(name).target and own.attributes == Attributes()
    damon = own.damon("redis", HOST)
    assert dict(damon.writes)[f"{CONTEXT}/monitoring_attrs/intervals/sample_us"] == "5000"
    assert dict(damon.writes)[f"{CONTEXT}/monitoring_attrs/nr_regions/max"] == "1000"
    assert one.swap == policy.load("baseline").swap


def test_the_agent_starts_damon_after_it_has_set_the_target() -> None:
    for name in ("rec", "prec", "prcl"):
        paths = [path for path, _ in use(name).damon("redis", HOST).writes]
        assert f"{sysfs.KDAMONDS}/0/state" not in paths


def test_each_tier_has_a_kdamond_of_its_own() -> None:
    one = use("damon-tier")
    damon = one.damon("redis", HOST)
    written = dict(damon.writes)
    assert damon.nodes == (0, 1)
    assert written[f"{sysfs.KDAMONDS}/nr_kdamonds"] == "2"
    for number, (action, node) in enumerate((("migrate_cold", "1"), ("migrate_hot", "0"))):
        schemes = f"{sysfs.KDAMONDS}/{number}/contexts/0/schemes"
        assert written[f"{schemes}/nr_schemes"] == "1"
        assert written[f"{schemes}/0/action"] == action
        assert written[f"{schemes}/0/target_nid"] == node
        # A budget of bytes per second is not divided.
        reset = int(written[f"{schemes}/0/quotas/reset_interval_ms"])
        size = int(written[f"{schemes}/0/quotas/bytes"])
        assert size / reset == pytest.approx((200 << 20) / 1000, rel=0.05)
    assert [line.split()[6] for line in one.as_dict("redis", HOST)["schemes"]] == [
        "migrate_cold",
        "migrate_hot",
    ]


def test_on_two_sockets_memory_stays_on_its_socket() -> None:
    damon = use("damon-tier").damon("redis", msgspec.structs.replace(HOST, sockets=2))
    assert damon.nodes == (0, 1, 2, 3)
    targets = [value for path, value in damon.writes if path.endswith("/target_nid")]
    assert targets == ["2", "3", "0", "1"]


def test_a_tuned_threshold_is_for_its_workload_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = (
        '[scheme]\nname = "prcl"\ntarget = "processes"\n'
        '[scheme.for.redis]\nvalue = "20s"\nseed = 101\n'
    )
    one = mine(monkeypatch, tmp_path, tables).scheme
    assert one is not None
    age = f"{CONTEXT}/schemes/0/access_pattern/age/min"
    assert dict(one.damon("redis", HOST).writes)[age] == "200"
    assert dict(one.damon("rocksdb", HOST).writes)[age] == "50"
    assert one.tuned["redis"].seed == 101
    assert "20s{1s..1m}" in one.as_dict("redis", HOST)["schemes"][0]


def test_damon_is_off_for_a_workload_without_a_good_threshold(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = (
        '[scheme]\nname = "prcl"\ntarget = "processes"\n[swap]\nkind = "zram"\n'
        '[scheme.for.redis]\nvalue = "none"\nseed = 101\n'
    )
    one = mine(monkeypatch, tmp_path, tables)
    assert one.watching("redis", HOST)["damon"] is None
    assert one.watching("redis", HOST)["swap"] is not None
    assert one.watching("rocksdb", HOST)["damon"] is not None


def test_a_tuned_threshold_for_no_workload_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = (
        '[scheme]\nname = "prcl"\ntarget = "processes"\n'
        '[scheme.for.reddis]\nvalue = "20s"\nseed = 101\n'
    )
    one = mine(monkeypatch, tmp_path, tables)
    with pytest.raises(KlocError, match=r"\[scheme.for.reddis\].*did you mean 'redis'"):
        task.check_workload_names(one)


def test_swap_has_the_size_of_all_memory_unless_the_policy_says_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    redis = workload.load("redis")
    (one,) = task.tasks([redis], [policy.load("prcl")], HOST, [1], workload.FULL)
    job = one.job()
    assert job.swap == Swap("zram", HOST.fast.capacity + HOST.slow.capacity)
    assert job.damon == use("prcl").damon("redis", HOST)
    assert job.samples_memory
    own = mine(monkeypatch, tmp_path, '[swap]\nkind = "file"\nsize = "64 MiB"\n').swap
    assert own is not None and own.swap(HOST) == Swap("file", 64 << 20)


def test_a_policy_without_the_tables_samples_nothing() -> None:
    (one,) = task.tasks([workload.load("redis")], [policy.load("tpp")], HOST, [1], workload.FULL)
    assert not one.job().samples_memory


@pytest.mark.parametrize(
    ("tables", "message", "hint"),
    [
        ('[scheme]\nname = "prcl"\n', "scheme.target is missing", None),
        ('[scheme]\ntarget = "virtual"\n', "unknown target in .scheme. 'virtual'", "processes"),
        (
            '[scheme]\nname = "prlc"\ntarget = "processes"\n',
            "unknown name in .scheme.: scheme 'prlc', did you mean 'prcl'",
            "ethp",
        ),
        (
            '[scheme]\nname = "ethp"\ntarget = "physical"\n',
            "hugepage has no effect on physical memory",
            'target = "processes"',
        ),
        ('[scheme]\ntarget = "physical"\nsampling = "5"\n', "scheme.sampling is '5'", None),
        ('[scheme]\ntarget = "physical"\nsampling = "1s"\n', "above scheme.aggregation", "20"),
        ('[scheme]\ntarget = "physical"\nregions = [2, 9]\n', "regions is .2, 9", "10, 1000"),
        ('[scheme]\ntarget = "physical"\nregion = [3, 9]\n', "unknown key 'scheme.region'", None),
        (
            '[scheme]\ntarget = "physical"\n[scheme.for.redis]\nvalue = "1s"\nseed = 1\n',
            "marks no threshold",
            "add a range",
        ),
        (
            '[scheme]\nname = "prcl"\ntarget = "processes"\n'
            '[scheme.for.redis]\nvalue = "fast"\nseed = 1\n',
            "scheme.for.redis.value is 'fast'",
            None,
        ),
        (
            '[scheme]\nname = "prcl"\ntarget = "processes"\n[scheme.for.redis]\nvalue = "2s"\n',
            "scheme.for.redis.seed is missing",
            None,
        ),
        ('[swap]\nkind = "disk"\n', "unknown kind in .swap. 'disk'", "zram"),
        ('[swap]\nkind = "zram"\nsize = "big"\n', "swap.size: 'big' is not a size", "MiB"),
    ],
)
def test_wrong_tables_are_errors_that_name_the_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tables: str, message: str, hint: str | None
) -> None:
    with pytest.raises(KlocError, match=message) as caught:
        mine(monkeypatch, tmp_path, tables)
    assert "mine.toml" in caught.value.message
    assert hint is None or hint in (caught.value.hint or "")


def test_a_policy_that_is_like_another_has_its_scheme(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = '[scheme]\nname = "prcl"\ntarget = "processes"\n[swap]\nkind = "zram"\n'
    mine(monkeypatch, tmp_path, tables)
    (tmp_path / "other.toml").write_text('like = "mine"\n[swap]\nkind = "file"\n')
    other = policy.load("other")
    assert other.scheme is not None and other.scheme.schemes == tuple(text.load("prcl"))
    assert other.swap is not None and other.swap.kind == "file"


def test_prcl_auto_is_prcl_with_other_ages_only() -> None:
    auto, prcl = policy.load("prcl-auto"), policy.load("prcl")
    assert auto.settings("redis", HOST) == prcl.settings("redis", HOST)
    assert (auto.swap, auto.timing) == (prcl.swap, prcl.timing)
    task.check_workload_names(auto)
    before, after = use("prcl"), use("prcl-auto")
    assert after.damon("redis", HOST) != before.damon("redis", HOST)
    # A workload that nobody has tuned for has the age of prcl.
    assert after.damon("serverless", HOST) == before.damon("serverless", HOST)
    # Tables show the seeds from 1 up.
    assert all(one.seed > 100 for one in after.tuned.values())
