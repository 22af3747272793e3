# SPDX-License-Identifier: GPL-2.0
"""`kloc metrics`: prints metrics for Prometheus, or serves them."""

from __future__ import annotations

import argparse
import re
import threading
from pathlib import Path

from kloc.base import files, terminal
from kloc.base.errors import KlocError
from kloc.server import metrics, tiering

LISTEN = "127.0.0.1:9753"
"""The default address of the exporter: only programs on this server reach it."""

USAGE = ("[options]",)

DESCRIPTION = """\
Print what policies, contexts and limits do on the running kernel, as metrics for Prometheus: once,
into a file for the textfile collector of its node exporter, or by HTTP until Ctrl-C. Only root
knows the pages of contexts.

docs/server.md ("What is it doing?") has the metrics; packaging/grafana has a dashboard.
"""

EXAMPLES = (
    ("kloc metrics", "print all metrics"),
    ("kloc metrics --listen", "serve them at port 9753, on loopback"),
    ("kloc metrics --textfile /run/kloc.prom", "write them to a file"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    group = parser.add_argument_group("metrics")
    group.add_argument(
        "--no-contexts",
        action="store_true",
        help="leave out the totals of contexts, which need a walk through their page cache; the "
        f"exporter walks every {metrics.CONTEXTS_SECONDS:g} s at most",
    )
    group = parser.add_argument_group("output").add_mutually_exclusive_group()
    group.add_argument(
        "--textfile", type=Path, metavar="FILE", help="replace FILE, which should end in .prom"
    )
    group.add_argument(
        "--listen",
        type=_address,
        nargs="?",
        const=_address(LISTEN),
        metavar="ADDRESS:PORT",
        help=f"serve the metrics by HTTP (default: {LISTEN})",
    )


def run(args: argparse.Namespace) -> int:
    """Print, write or serve the metrics."""
    tiering.check_kernel()
    registry = metrics.registry(not args.no_contexts)
    if args.listen is not None:
        from prometheus_client import start_http_server

        address, port = args.listen
        try:
            start_http_server(port, address, registry)
        except OSError as error:
            raise KlocError(
                f"cannot listen at {address}:{port}: {error.strerror}",
                "name another address with --listen ADDRESS:PORT",
            ) from error
        terminal.say(f"serving metrics at http://{_shown(address)}:{port}/metrics until Ctrl-C")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    from prometheus_client import generate_latest

    text = generate_latest(registry).decode()
    if args.textfile is not None:
        files.check_writable("--textfile", args.textfile)
        files.write_text(args.textfile, text)
    else:
        print(text, end="")
    return 0


def _address(text: str) -> tuple[str, int]:
    """Return the address and the port of "127.0.0.1:9753", "[::1]:9753" or ":9753" (all)."""
    found = re.fullmatch(r"(?:\[(.*)\]|([^:]*)):(\d+)", text)
    if found is None or not 0 < int(found[3]) < 1 << 16:
        raise argparse.ArgumentTypeError(f"'{text}' is not ADDRESS:PORT, such as {LISTEN}")
    return found[1] or found[2] or "0.0.0.0", int(found[3])


def _shown(address: str) -> str:
    return f"[{address}]" if ":" in address else address
