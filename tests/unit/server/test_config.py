# SPDX-License-Identifier: GPL-2.0
"""kloc.toml: what it may say, and how its errors are reported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.base.paths import PROJECT
from kloc.server import config
from kloc.server.config import Config

EXAMPLE = PROJECT / "packaging" / "kloc.toml"
FILE = Path("/etc/kloc/kloc.toml")

WHOLE = """\
policy = "tpp"
contexts = "chosen"
chosen = ["/database.slice", "mail.service"]
kinds = ["slab", "file"]

[settings]
rate_mbps = 256
"kloc/inactive_age" = 16
"/proc/sys/vm/watermark_scale_factor" = 100
"/sys/kernel/mm/lru_gen/enabled" = "y"

[limits.nodes]
node0 = "1.5 GiB"
1 = "max"

[limits.cgroups]
"/database.slice" = "4G"
"mail.service" = 4096
"""


def test_all_keys_are_read() -> None:
    assert config.parse(WHOLE, FILE) == Config(
        policy="tpp",
        scope="chosen",
        kinds=("slab", "file"),
        settings={
            "/sys/kernel/mm/tiering/rate_mbps": "256",
            "/sys/kernel/mm/tiering/kloc/inactive_age": "16",
            "/proc/sys/vm/watermark_scale_factor": "100",
            "/sys/kernel/mm/lru_gen/enabled": "y",
        },
        node_limits={0: 3 << 29, 1: None},
        cgroup_limits={"/database.slice": 4 << 30, "mail.service": 4096},
        chosen=("/database.slice", "mail.service"),
        file=FILE,
    )


def test_an_empty_file_has_the_defaults() -> None:
    assert config.parse("", FILE) == Config(file=FILE)


def test_the_example_has_the_kernels_defaults() -> None:
    assert config.read(EXAMPLE) == Config(
        scope="all", kinds=("file", "blockdev", "slab"), file=EXAMPLE
    )


def test_the_example_is_valid_with_all_that_it_has_as_comments() -> None:
    text = re.sub(r"^# (?=(\w+|\"\S+\") = )", "", EXAMPLE.read_text(), flags=re.M)
    whole = config.parse(text.replace('contexts = "all"', 'contexts = "chosen"'), EXAMPLE)
    assert whole.chosen and whole.node_limits and len(whole.cgroup_limits) == 2
    assert len(whole.settings) == 2


@pytest.mark.parametrize(
    ("text", "where", "problem", "hint"),
    [
        ('policy = "klock"', "line 1: policy", "did you mean 'kloc'", "tpp"),
        ("\npolicy = 3", "line 2: policy", "unknown value 3", "kloc"),
        ('policy = "all-fast"', "line 1: policy", "timing of memory", "another policy"),
        ('policy = "damon-tier"', "line 1: policy", "kloc scheme apply", "another policy"),
        ('polcy = "kloc"', "line 1: polcy", "did you mean 'policy'", "settings"),
        ('contexts = "some"', "line 1: contexts", "unknown value 'some'", "all, chosen"),
        ('kinds = ["files"]', "line 1: kinds", "'files' is not allowed", "blockdev"),
        ('kinds = "file"', "line 1: kinds", "not a list", "write a list"),
        ('# all\nchosen = ["/a"]', "line 2: chosen", 'while contexts is "all"', '"chosen"'),
        ("[limits]\nnode = 3", "line 2: limits.node", "unknown", "nodes, cgroups"),
        ('[limits.nodes]\ncpu0 = "1G"', "line 2: limits.nodes.cpu0", "not a node", "node0"),
        ('[limits.nodes]\nnode0 = "1X"', "line 2: limits.nodes.node0", "'1X'", '"max"'),
        ('[limits]\ncgroups."/a" = true', "line 2: limits.cgroups./a", "True", '"max"'),
        ("limits = 3", "line 1: limits", "3 is not a table", "[limits]"),
        ("[limits.nodes]\nnode0 = 64", "line 2: limits.nodes.node0", "only 64 bytes", "4G"),
        (
            '[limits.cgroups]\n"" = "1G"',
            "line 2: limits.cgroups.",
            "not a cgroup",
            "database.slice",
        ),
        ('[limits.cgroups]\n"../a" = "1G"', "line 2: limits.cgroups.../a", "not a cgroup", "slice"),
        ('contexts = "chosen"\nchosen = ["/a/../b"]', "line 2: chosen", "'/a/../b'", "slice"),
        (
            '[limits.cgroups]\nmysql.service = "16G"',
            "line 2: limits.cgroups.mysql.service",
            "has a dot",
            '"mysql.service"',
        ),
        ("[settings]\nvm.swappiness = 1", "line 2: settings.vm.swappiness", "dot", '"vm.swapp'),
        ("[settings]\n\nrate_mbps = []", "line 3: settings.rate_mbps", "[]", "a number"),
        ("[settings]\nrate_mbps = true", "line 2: settings.rate_mbps", "True", "a number"),
        ('[settings]\n"/etc/passwd" = 1', "line 2: settings./etc/passwd", "not a set", "/proc/sys"),
        ('[settings]\n"/sys/../etc/a" = 1', "line 2: settings./sys/../etc/a", "not", "/proc/sys"),
        (
            '[settings]\n"/sys/kernel/mm/tiering/policy" = "kloc"',
            "line 2: settings./sys/kernel/mm/tiering/policy",
            "selects the policy",
            'policy = "NAME"',
        ),
        ("[settings]\npolicy = 1", "line 2: settings.policy", "selects", "policy ="),
    ],
)
def test_errors_name_the_line_and_key_and_what_is_allowed(
    text: str, where: str, problem: str, hint: str
) -> None:
    with pytest.raises(KlocError) as error:
        config.parse(text, FILE)
    assert error.value.message.startswith(f"{FILE}, {where}: ")
    assert problem in error.value.message
    assert hint in str(error.value.hint)


def test_a_file_that_is_not_toml_names_the_line() -> None:
    with pytest.raises(KlocError, match=rf"{FILE} is not TOML: .*line 2"):
        config.parse("contexts = 'all'\npolicy = kloc\n", FILE)
    with pytest.raises(KlocError, match=rf"{FILE} is not TOML: .*line 2") as error:
        config.parse('policy = "tpp"\npolicy = "kloc"\n', FILE)
    assert "there twice" in str(error.value.hint)


def test_a_key_is_found_in_its_own_table_and_behind_an_equals_sign_in_its_name() -> None:
    text = '[limits.nodes]\nnode0 = "1G"\n[limits.cgroups]\nnode0 = "x"\n'
    with pytest.raises(KlocError, match="line 4"):
        config.parse(text, FILE)
    with pytest.raises(KlocError, match=r"line 2: limits\.cgroups\./a=b"):
        config.parse('[limits.cgroups]\n"/a=b" = "x"\n', FILE)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4G", 4 << 30),
        ("512 MiB", 1 << 29),
        ("2MB", 2 << 20),
        ("4.5K", 4608),
        ("7000", 7000),
        ("0", 0),
    ],
)
def test_limits_are_sizes(text: str, size: int) -> None:
    assert config.parse_limit(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "4 X", "1e3", "4G 2"])
def test_other_text_is_no_limit(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        config.parse_limit(text)


@pytest.mark.parametrize("text", ["16", "1K", "0.5 KiB"])
def test_a_limit_below_a_page_lacks_its_unit(text: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}' is only "):
        config.parse_limit(text)


def test_a_missing_file_is_an_error_only_if_it_was_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(config, "DEFAULT", tmp_path / "kloc.toml")
    assert config.read() == Config()
    with pytest.raises(KlocError, match="No such file"):
        config.read(tmp_path / "kloc.toml")
    (tmp_path / "kloc.toml").write_text('policy = "tpp"\n')
    assert config.read().policy == "tpp"
