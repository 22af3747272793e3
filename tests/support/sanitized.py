# SPDX-License-Identifier: GPL-2.0
"""C programs of workloads, built with sanitizers."""

from __future__ import annotations

from pathlib import Path

from kloc.build import programs
from kloc.measure.workload import SOURCES

SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-lm")


def build(name: str, directory: Path) -> Path:
    """Return a program that ends at its first invalid access or undefined operation."""
    source, program = SOURCES / f"{name}.c", directory / name
    compiler, links = programs.tools_for(source)
    links = [link for link in links if link != "-static"]
    gcc = ["gcc", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(source)]
    compiler.run([*gcc, *links, *SANITIZED], binds=[SOURCES, directory])
    return program
