# SPDX-License-Identifier: GPL-2.0
"""The agent's frames are read while QEMU appends them to a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kloc.machine.agent import Agent


def append(agent: Agent, data: bytes) -> list[tuple[str, str]]:
    """Append `data` to the agent's file, and return the new frames."""
    with agent.path.open("ab") as file:
        file.write(data)
    return list(agent.new_frames())


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "agent")


def test_agent_creates_the_file_for_qemu(agent: Agent) -> None:
    assert agent.path.read_bytes() == b""
    assert list(agent.new_frames()) == []


def test_each_frame_is_read_once(agent: Agent) -> None:
    both = b"@kloc stage 5\nsetup\n@kloc stage 8\nmeasured\n"
    assert append(agent, both) == [("stage", "setup"), ("stage", "measured")]
    assert append(agent, b"") == []
    assert append(agent, b"@kloc done 8\ncomplete\n") == [("done", "complete")]


def test_frame_may_arrive_in_any_pieces(agent: Agent) -> None:
    data = b"@kloc stage 5\nsetup\n@kloc output 4\na\nb\n\n"
    frames = [frame for byte in data for frame in append(agent, bytes([byte]))]
    assert frames == [("stage", "setup"), ("output", "a\nb\n")]


def test_frame_without_its_last_newline_is_incomplete(agent: Agent) -> None:
    assert append(agent, b"@kloc stage 5\nsetup") == []
    assert append(agent, b"\n") == [("stage", "setup")]


def test_body_may_have_newlines_and_headers(agent: Agent) -> None:
    body = b"one\n\n@kloc stage 4\nfake\n"
    frame = b"@kloc output %d\n%s\n" % (len(body), body)
    frames = append(agent, frame + b"@kloc done 0\n\n")
    assert frames == [("output", body.decode()), ("done", "")]


def test_length_of_a_body_is_in_bytes(agent: Agent) -> None:
    body = "für 3 µs".encode()
    frames = append(agent, b"@kloc output %d\n%s\n" % (len(body), body))
    assert frames == [("output", "für 3 µs")]


def test_invalid_utf8_is_replaced(agent: Agent) -> None:
    assert append(agent, b"@kloc output 3\na\xffb\n") == [("output", "a\N{REPLACEMENT CHARACTER}b")]
