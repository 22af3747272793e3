# SPDX-License-Identifier: GPL-2.0
"""The result document of `kloc bench cost`."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from kloc.base import revision
from kloc.build import root
from kloc.results import cost_document
from support.made_up_costs import MEMORY, measured


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The versions of a made-up root, so that none is built."""
    made_up = {"qemu": "10"}
    monkeypatch.setattr(root, "tool_root", lambda: SimpleNamespace(versions=lambda: made_up))
    return made_up


def test_document_has_each_kernel_with_its_calls(versions: dict[str, str]) -> None:
    document = cost_document.assemble([measured("unpatched"), measured("kloc", 5)])
    assert json.loads(json.dumps(document)) == document
    assert (document["schema"], document["versions"]) == (2, versions)
    assert document["kloc"] == revision.commit()
    assert [kernel["name"] for kernel in document["kernels"]] == ["unpatched", "kloc"]
    kernel = document["kernels"][1]
    assert (kernel["release"], kernel["settings"]) == ("6.12", {"/sys/a": "1"})
    assert kernel["groups"][0]["calls"]["open"] == {"instructions": 505, "lines": 19}


def test_memory_is_null_without_contexts() -> None:
    document = cost_document.assemble([measured("kloc"), measured("on", memory=MEMORY)])
    without, with_contexts = (kernel["memory"] for kernel in document["kernels"])
    assert without is None
    assert with_contexts["knodes"] == MEMORY.knodes
