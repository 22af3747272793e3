# SPDX-License-Identifier: GPL-2.0
import json
from argparse import Namespace
from pathlib import Path

import pytest

from kloc import debian
from kloc.commands import doctor


def test_what_is_missing_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(debian, "missing", lambda: ["mmdebstrap"])
    assert doctor.run(Namespace(json=True)) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["cache"] == str(empty_cache)
    (packages,) = [found for found in document["findings"] if found["what"] == "packages"]
    assert packages["state"] == "missing: mmdebstrap"
    assert "apt-get install mmdebstrap" in packages["remedy"]


def test_what_the_cache_holds_is_weighed(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty_cache / "kernel").mkdir()
    (empty_cache / "kernel" / "bzImage").write_bytes(bytes(1 << 20))
    doctor.run(Namespace(json=True))
    sizes = json.loads(capsys.readouterr().out)["cache_bytes"]
    assert sizes.keys() == {"kernel"}
    assert 1 << 20 <= sizes["kernel"] < 2 << 20


def test_it_is_readable(empty_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doctor.run(Namespace(json=False))
    assert "nothing yet" in capsys.readouterr().out
