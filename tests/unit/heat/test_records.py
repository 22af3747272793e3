# SPDX-License-Identifier: GPL-2.0
"""Records are written and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kloc.base.errors import KlocError
from kloc.heat import records
from support import made_up_heat


def test_a_record_that_is_read_is_the_one_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "heat.json"
    for record in (
        made_up_heat.record(),
        made_up_heat.physical(lost=2),
        made_up_heat.with_kinds(),
    ):
        path.write_text(json.dumps(records.document(record)))
        assert records.read(path) == record


def test_a_record_of_an_earlier_version_has_no_kinds(tmp_path: Path) -> None:
    record = made_up_heat.physical()
    content = records.document(record)
    del content["kinds"]
    path = tmp_path / "heat.json"
    path.write_text(json.dumps(content))
    assert records.read(path) == record


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no JSON"),
        ("[]", "has no heat map"),
        ('{"runs": []}', "has no heat map"),
        ('{"heatmap": 1, "title": "x"}', "is no complete heat map"),
        ('{"heatmap": 99}', "in format 99"),
    ],
)
def test_other_files_are_errors(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "heat.json"
    path.write_text(text)
    with pytest.raises(KlocError, match=words) as error:
        records.read(path)
    assert error.value.hint


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KlocError, match="cannot read"):
        records.read(tmp_path / "none.json")
