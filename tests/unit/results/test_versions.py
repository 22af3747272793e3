# SPDX-License-Identifier: GPL-2.0
"""The lines that say of which versions the figures are, and which commit measured them."""

from __future__ import annotations

from typing import Any

from kloc.results import versions
from support.made_up import run

USED = {"pinned": "1", "used": "2"}


def document(**not_pinned: Any) -> dict[str, Any]:
    return {
        "kernel": {"release": "6.12.1", "series": "abc"},
        "versions": {
            "linux-source": "6.12.1-2",
            "qemu": "10",
            "gcc": "14",
            "not_pinned": not_pinned,
        },
    }


def test_pinned_versions_are_said_to_be_pinned() -> None:
    (line,) = versions.lines(document())
    assert line == "versions Linux 6.12.1-2, QEMU 10, gcc 14; all packages as pinned"


def test_other_versions_are_named_with_what_that_means() -> None:
    (line,) = versions.lines(document(libc6=USED))
    assert "1 package not as pinned, so figures may differ from README's: libc6 2 for 1" in line


def test_many_others_are_counted() -> None:
    (line,) = versions.lines(document(**dict.fromkeys("abcde", USED)))
    assert line.endswith("a 2 for 1, b 2 for 1, c 2 for 1, and 2 more")


def test_kernel_of_another_is_named_by_its_release() -> None:
    content = document()
    content["kernel"] = {"release": "6.1.0-9-amd64", "package": "linux-image"}
    assert "Linux 6.1.0-9-amd64," in versions.lines(content)[0]


def test_older_file_has_no_line() -> None:
    content = document()
    del content["versions"]["not_pinned"]
    assert versions.lines(content) == []


def test_one_commit_has_one_line() -> None:
    runs = [run("tpp", 1, kloc="0123456789ab"), run("kloc", 1, kloc="0123456789ab")]
    assert versions.commit_lines(runs) == ["commit of kloc: 0123456789ab"]


def test_several_commits_are_named_with_their_runs() -> None:
    runs = [run("tpp", 1, kloc="aa"), run("tpp", 2, kloc="aa", seed=2)]
    runs += [run("kloc", 1, kloc="bb, modified"), run("tpp", 1, "rocksdb", kloc="aa")]
    assert versions.commit_lines(runs) == [
        "commit of kloc: aa (redis/tpp, rocksdb/tpp)",
        "commit of kloc: bb, modified (redis/kloc)",
    ]


def test_runs_of_an_older_kloc_have_an_unknown_commit() -> None:
    assert versions.commit_lines([run("tpp", 1)]) == ["commit of kloc: unknown"]
