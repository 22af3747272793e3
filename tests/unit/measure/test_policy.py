# SPDX-License-Identifier: GPL-2.0
"""Policies: the settings of each, divided periods, precedence, and files that are refused."""

from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.machine import profile
from kloc.measure import policy, workload

BALANCING = "/proc/sys/kernel/numa_balancing"
DEMOTION = "/sys/kernel/mm/numa/demotion_enabled"
SCAN_DELAY = "/sys/kernel/debug/sched/numa_balancing/scan_delay_ms"


def written_in(name: str) -> str:
    """Return the text of a policy's file."""
    return policy.path(name).read_text()


@pytest.mark.parametrize("name", policy.names())
def test_every_policy_loads(name: str) -> None:
    assert policy.load(name).summary


@pytest.mark.parametrize("name", ["cpm", "opm", "opm-bd", "opm-x"])
def test_autotiering_has_the_periods_of_its_scripts_divided(name: str) -> None:
    host = profile.load("tiered")
    settings = policy.load(f"autotiering-{name}").settings("", host)
    numa = "/sys/kernel/debug/sched/numa_balancing"
    assert settings[f"{numa}/scan_period_max_ms"] == str(host.divided(1000)) == "23"
    assert settings[f"{numa}/scan_size_mb"] == str(host.divided(2048)) == "48"


def test_thermostat_has_the_shortest_period_of_its_paper_divided() -> None:
    """32 rounds are 10 s (section 4.4)."""
    host = profile.load("tiered")
    settings = policy.load("thermostat").settings("", host)
    assert settings["/sys/kernel/mm/tiering/scan_us"] == str(host.divided(10_000_000 // 32))
    assert settings["/sys/kernel/mm/tiering/thermostat/slowdown_bp"] == "300"


@pytest.mark.parametrize(
    ("name", "bound"), [("thermostat", 3), ("thermostat-6", 6), ("thermostat-10", 10)]
)
def test_thermostat_has_the_bounds_of_its_paper_and_tells_them_the_kernel(
    name: str, bound: int
) -> None:
    """They are those of Figure 11. Nothing else differs."""
    one, first = policy.load(name), policy.load("thermostat")
    file = "/sys/kernel/mm/tiering/thermostat/slowdown_bp"
    assert one.bound == bound
    settings = one.settings("", profile.load("tiered"))
    assert settings == {**first.settings("", profile.load("tiered")), file: f"{bound}00"}
    assert one.expect == first.expect
    assert one.watching("", profile.load("tiered"))["bounded"]


def test_policies_promise_no_bound_unless_their_file_does() -> None:
    assert policy.load("tpp").bound is None
    assert not policy.load("tpp").watching("", profile.load("tiered"))["bounded"]


def test_compared_policies_are_in_order_from_bound_to_bound() -> None:
    rows = ["all-slow", "naive", "stock", "tpp", "kloc", "oracle", "all-fast"]
    assert list(policy.COMPARED) == rows
    assert policy.names()[: len(rows)] == rows


@pytest.mark.parametrize(
    ("name", "balancing", "demotion"),
    [
        ("all-slow", "0", "1"),
        ("all-fast", "0", "1"),
        ("naive", "0", "0"),
        ("dram-first", "0", "0"),
        ("remote-first", "0", "0"),
        ("migration-only", "0", "1"),
        ("stock", "0", "0"),
        ("autonuma", "1", "0"),
        ("autotiering-cpm", "1", "0"),
        ("autotiering-opm", "1", "1"),
        ("autotiering-opm-bd", "1", "1"),
        ("autotiering-opm-x", "1", "1"),
        # It moves pages by itself.
        ("thermostat", "0", "1"),
        ("thermostat-6", "0", "1"),
        ("thermostat-kloc", "0", "1"),
        ("tpp", "2", "1"),
        # Application pages are tiered as under tpp.
        ("kloc-nomigrate", "2", "1"),
        ("kloc", "2", "1"),
    ],
)
def test_policies_set_balancing_and_demotion(name: str, balancing: str, demotion: str) -> None:
    settings = policy.load(name).settings("", profile.load("tiered"))
    assert settings[BALANCING] == balancing
    assert settings[DEMOTION] == demotion


def written(monkeypatch: pytest.MonkeyPatch, directory: Path, text: str) -> policy.Policy:
    """Return the policy "mine" with this text, in a directory of its own."""
    monkeypatch.setattr(policy, "POLICIES", directory)
    (directory / "mine.toml").write_text(text)
    return policy.load("mine")


def test_periods_are_divided_and_tuned_values_win(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = written(
        monkeypatch,
        tmp_path,
        f'summary = "s"\n[set]\n"{BALANCING}" = 2\n[divided]\n"{SCAN_DELAY}" = 1000\n'
        f'[for.redis]\n"{BALANCING}" = 1\n',
    )
    host = profile.load("kloc-two-tier")
    assert host.scale == 16
    assert mine.settings("rocksdb", host) == {BALANCING: "2", SCAN_DELAY: "62"}
    assert mine.settings("redis", host)[BALANCING] == "1"


def test_like_adds_the_settings_of_another_policy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "base.toml").write_text(
        f'summary = "t"\nexpect = ["promoted"]\n[set]\n"{BALANCING}" = 2\n"{DEMOTION}" = 1\n'
        f'[divided]\n"{SCAN_DELAY}" = 1000\n[for.redis]\n"{DEMOTION}" = 0\n'
    )
    mine = written(
        monkeypatch,
        tmp_path,
        'summary = "s"\nlike = "base"\n[set]\n"/sys/more" = 3\n'
        f'"{BALANCING}" = 1\n[for.mail]\n"/sys/more" = 4\n',
    )
    host = profile.load("kloc-two-tier")
    settings = mine.settings("", host)
    # Files that a policy adds may depend on the settings of the other policy.
    assert list(settings.items()) == [
        (BALANCING, "1"),
        (DEMOTION, "1"),
        ("/sys/more", "3"),
        (SCAN_DELAY, "62"),
    ]
    assert (mine.summary, mine.expect) == ("s", ("promoted",))
    assert mine.settings("redis", host)[DEMOTION] == "0"
    assert mine.settings("mail", host)["/sys/more"] == "4"


def test_an_empty_list_replaces_that_of_the_other_policy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "base.toml").write_text('summary = "t"\nexpect = ["promoted"]\n')
    mine = written(monkeypatch, tmp_path, 'like = "base"\nexpect = []\n')
    assert (mine.summary, mine.expect, mine.like) == ("t", (), "base")


def test_parameters_of_the_kernel_are_those_of_the_other_policy_or_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "base.toml").write_text('summary = "t"\nparameters = ["quiet"]\n')
    assert written(monkeypatch, tmp_path, 'like = "base"\n').parameters == ("quiet",)
    mine = written(monkeypatch, tmp_path, 'like = "base"\nparameters = ["nosmt"]\n')
    assert mine.parameters == ("nosmt",)


def test_settings_win_over_every_table_of_the_other_policy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "base.toml").write_text(
        f'summary = "t"\n[set]\n"{BALANCING}" = 2\n[divided]\n"{SCAN_DELAY}" = 1000\n'
        f'[for.redis]\n"{DEMOTION}" = 1\n"{SCAN_DELAY}" = 9\n'
    )
    mine = written(
        monkeypatch,
        tmp_path,
        f'summary = "s"\nlike = "base"\n[set]\n"{SCAN_DELAY}" = 5\n"{DEMOTION}" = 0\n'
        f'[divided]\n"{BALANCING}" = 32\n',
    )
    host = profile.load("kloc-two-tier")
    assert mine.settings("", host) == {SCAN_DELAY: "5", DEMOTION: "0", BALANCING: "2"}
    assert mine.settings("redis", host) == mine.settings("", host)


SHARE = "/sys/kernel/mm/tiering/kloc-cap/share"
CONTROLS = [
    "kloc-nomigrate",
    "kloc-random",
    "kloc-allactive",
    "kloc-flat",
    "kloc-cap",
    "kloc-cache-only",
    "kloc-fs",
    "kloc-noprefetch",
]


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_differs_from_kloc_only_in_the_kernels_policy(name: str) -> None:
    host = profile.load("tiered")
    kloc, control = policy.load("kloc").settings("", host), policy.load(name).settings("", host)
    changed = {path for path in control if control[path] != kloc.get(path)}
    assert changed == {policy.SELECTED} | ({SHARE} if name == "kloc-cap" else set())
    assert kloc[policy.SELECTED] == "kloc"


def test_the_control_of_autotiering_differs_only_in_the_kernels_policy() -> None:
    host = profile.load("tiered")
    opm = policy.load("autotiering-opm").settings("", host)
    control = policy.load("autotiering-random").settings("", host)
    assert control == opm | {policy.SELECTED: "autotiering-random"}


@pytest.mark.parametrize(
    "name", [one for one in policy.names() if policy.SELECTED in written_in(one)]
)
def test_a_policy_of_the_kernel_is_selected_last_and_has_the_same_name(name: str) -> None:
    for what in ("", *workload.names()):
        settings = policy.load(name).settings(what, profile.load("tiered"))
        assert list(settings.items())[-1] == (policy.SELECTED, name), what


def test_slabs_can_move_where_they_do_and_in_the_control() -> None:
    slab, control = policy.load("kloc-slab"), policy.load("kloc-cache-only")
    assert slab.settings("mail", profile.load("tiered"))[policy.SELECTED] == "kloc"
    assert slab.parameters == control.parameters != policy.load("kloc").parameters == ()


@pytest.mark.parametrize("name", ["dram-first", "remote-first"])
def test_policies_that_only_place_differ_from_naive_in_the_kernels_policy(name: str) -> None:
    host = profile.load("tiered")
    naive = policy.load("naive").settings("", host)
    assert policy.load(name).settings("", host) == {**naive, policy.SELECTED: name}


KLOC_AND_ITS_CONTROLS = [name for name in policy.names() if name.partition("-")[0] == "kloc"]

WATERMARK = "/proc/sys/vm/watermark_scale_factor"


@pytest.mark.parametrize("name", KLOC_AND_ITS_CONTROLS)
def test_kloc_and_its_controls_have_the_watermarks_of_tpp(name: str) -> None:
    host, tpp, one = profile.load("tiered"), policy.load("tpp"), policy.load(name)
    for what in ("", *workload.names()):
        theirs, ours = tpp.settings(what, host), one.settings(what, host)
        assert ours.get(WATERMARK) == theirs.get(WATERMARK), what
    assert one.settings("redis", host)[WATERMARK] == "400"


def test_kloc_and_its_controls_have_no_settings_for_single_workloads_but_those_of_tpp() -> None:
    assert not [name for name in KLOC_AND_ITS_CONTROLS if "[for." in written_in(name)]
    assert policy.load("kloc").for_workload == policy.load("tpp").for_workload


def test_controls_are_kloc_and_nine_others() -> None:
    others = {"allactive", "cache-only", "cap", "flat", "fs", "nomigrate", "noprefetch"}
    others |= {"random", "slab"}
    assert set(KLOC_AND_ITS_CONTROLS) == {"kloc", *(f"kloc-{name}" for name in others)}


def taking(monkeypatch: pytest.MonkeyPatch, directory: Path, text: str) -> policy.Policy:
    """Return the policy "mine" with this text, beside a policy "theirs"."""
    (directory / "theirs.toml").write_text(
        f'summary = "t"\n[set]\n"{BALANCING}" = 2\n[divided]\n"{SCAN_DELAY}" = 1000\n'
        f'[for.redis]\n"{WATERMARK}" = 400\n"{SCAN_DELAY}" = 9\n[for.mail]\n"{DEMOTION}" = 0\n'
    )
    return written(monkeypatch, directory, text)


def test_settings_of_another_policy_are_its_own_on_each_workload(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = taking(
        monkeypatch,
        tmp_path,
        f'summary = "s"\n[set]\n"{DEMOTION}" = 1\n[settings_of]\n"{WATERMARK}" = "theirs"\n'
        f'"{SCAN_DELAY}" = "theirs"\n',
    )
    host = profile.load("kloc-two-tier")
    assert mine.settings("", host) == {DEMOTION: "1", SCAN_DELAY: "62"}
    redis = {DEMOTION: "1", SCAN_DELAY: "9", WATERMARK: "400"}
    assert mine.settings("redis", host) == redis
    assert mine.settings("mail", host) == mine.settings("", host)
    assert dict(mine.settings_of) == {WATERMARK: "theirs", SCAN_DELAY: "theirs"}


def test_settings_of_win_over_those_of_the_policy_that_it_is_like(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "base.toml").write_text(
        f'summary = "b"\n[set]\n"{WATERMARK}" = 10\n"{BALANCING}" = 1\n'
        f'[for.mail]\n"{WATERMARK}" = 50\n'
    )
    mine = taking(
        monkeypatch, tmp_path, f'like = "base"\n[settings_of]\n"{WATERMARK}" = "theirs"\n'
    )
    host = profile.load("tiered")
    assert mine.settings("", host) == mine.settings("mail", host) == {BALANCING: "1"}
    assert mine.settings("redis", host) == {BALANCING: "1", WATERMARK: "400"}


def test_a_policy_like_one_with_settings_of_others_has_them_unless_it_sets_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "base.toml").write_text(
        f'summary = "b"\n[settings_of]\n"{WATERMARK}" = "theirs"\n"{SCAN_DELAY}" = "theirs"\n'
    )
    mine = taking(monkeypatch, tmp_path, f'like = "base"\n[for.redis]\n"{SCAN_DELAY}" = 7\n')
    host = profile.load("kloc-two-tier")
    assert mine.settings("redis", host) == {SCAN_DELAY: "7", WATERMARK: "400"}
    assert mine.settings("", host) == {SCAN_DELAY: "62"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'"{WATERMARK}" = "yours"\n', r"policy in settings_of: 'yours'"),
        (f'"{WATERMARK}" = "mine"\n', r"policy in settings_of: 'mine'"),
        (f'"{WATERMARK}" = 5\n', r"settings_of\..*watermark_scale_factor.* a string"),
        ('"/etc/passwd" = "theirs"\n', r"settings_of\..*/etc/passwd.* not a file under"),
        (f'"{WATERMARK}" = "taker"\n', r"settings_of names 'taker', which has settings of others"),
        (f'"{DEMOTION}" = "theirs"\n', r"demotion_enabled is in settings_of and in another table"),
    ],
)
def test_settings_of_that_make_no_sense_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "taker.toml").write_text(
        f'summary = "s"\n[settings_of]\n"{WATERMARK}" = "theirs"\n'
    )
    start = f'summary = "s"\n[set]\n"{DEMOTION}" = 1\n[settings_of]\n'
    with pytest.raises(KlocError, match=reason) as refused:
        taking(monkeypatch, tmp_path, start + text)
    assert str(tmp_path / "mine.toml") in refused.value.message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('summary = "s"\nlike = "yours"\n', r"like.* 'yours'"),
        ('summary = "s"\nlike = "mine"\n', r"like.* 'mine'"),
        ('summary = "s"\nlike = "other"\n', r"'other'.* like 'base'"),
        ('summary = "s"\n[sat]\n', r"key 'sat'.* 'set'"),
        ('summary = "s"\nexpected = []\n', r"key 'expected'.* 'expect'"),
        ("[set]\n", r"summary is missing"),
        ("summary = 5\n", r"summary is 5.* a string"),
        ('summary = "s"\ntiming = "quick"\n', r"timing 'quick'"),
        ('summary = "s"\ntiming = 1\n', r"timing is 1.* a string"),
        ('summary = "s"\nexpect = ["promotions"]\n', r"'promotions'.* 'promoted'"),
        ('summary = "s"\nexpect = ["demoted", 5]\n', r"expect\[1\] is 5.* a string"),
        ('summary = "s"\nexpect = "demoted"\n', r"expect is .* a list"),
        ('summary = "s"\n[set]\n"/etc/passwd" = 1\n', r"set\.\"/etc/passwd\" .*/proc/sys or /sys"),
        ('summary = "s"\n[set]\n"/sys/a" = true\n', r"set\.\"/sys/a\" is True.* a string"),
        ('summary = "s"\n[set]\n"/sys/a" = [1]\n', r"set\.\"/sys/a\" is \[1\].* a string"),
        ('summary = "s"\nset = 5\n', r"set is 5.* a table"),
        ('summary = "s"\nbound = 0\n', r"bound is 0.* above 0"),
        ('summary = "s"\nbound = 101\n', r"bound is 101"),
        ('summary = "s"\nbound = "3 %"\n', r"bound is '3 %'.* a number"),
        ('summary = "s"\n[for]\nredis = 5\n', r"for\.redis is 5.* a table"),
        ('summary = "s"\n[for.redis]\n"/sys/a" = true\n', r"for\.redis\.\"/sys/a\" is True"),
        ('summary = "s"\n[divided]\n"/sys/a" = "1s"\n', r"divided\.\"/sys/a\" is '1s'.* a number"),
        ('summary = "s"\n[divided]\n"/sys/a" = inf\n', r"divided\.\"/sys/a\" is inf.* finite"),
        ("summary =", r"not TOML"),
    ],
)
def test_a_wrong_policy_is_refused_with_file_and_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "base.toml").write_text('summary = "b"\n')
    (tmp_path / "other.toml").write_text('summary = "o"\nlike = "base"\n')
    with pytest.raises(KlocError, match=reason) as refused:
        written(monkeypatch, tmp_path, text)
    assert str(tmp_path / "mine.toml") in refused.value.message


def test_an_error_in_the_other_policy_names_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "base.toml").write_text('summary = "b"\n[set]\n"/sys/a" = true\n')
    with pytest.raises(KlocError, match=r"base\.toml"):
        written(monkeypatch, tmp_path, 'like = "base"\n')


def test_loading_a_policy_executes_no_workload_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail() -> list[str]:
        raise AssertionError("the workload files were executed")

    monkeypatch.setattr(workload, "names", fail)
    mine = written(monkeypatch, tmp_path, 'summary = "s"\n[for.nosuch]\n"/sys/a" = 1\n')
    assert mine.for_workload == {"nosuch": {"/sys/a": "1"}}
