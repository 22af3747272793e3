# SPDX-License-Identifier: GPL-2.0
"""The subcommands, one module each, and the options that they share (`options`).

A module has NAME, HELP, `add_arguments(parser)` and `run(args) -> int`, the exit status. One with
`TAKES_PROGRAM = True` is given what follows `--` on the command line as `args.program`.
"""
