# SPDX-License-Identifier: GPL-2.0
"""Compares the policies of the running kernel with each other, on the server itself.

docs/server.md ("What is it worth here?") explains it. Needs nothing but what servers have.
"""
