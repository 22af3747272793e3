# SPDX-License-Identifier: GPL-2.0
"""`kloc bench tables`: measures the tables of results in README.md and docs, and writes them.

Results are in a directory, one file for all tables of the same machine and size, as kloc compare
writes them. A run that several tables show is measured once. All results in a directory are of one
commit, which the files have under the key "commit".
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kloc.base import cache, checkout, files, paths, terminal
from kloc.base.checkout import SHORT
from kloc.base.errors import KlocError
from kloc.base.words import plural
from kloc.commands.measuring import Measurement
from kloc.commands.stored_results import Differs
from kloc.machine import profile
from kloc.measure import policy, workload
from kloc.measure.record import Identity
from kloc.measure.runner import Interrupted, prepare
from kloc.measure.task import tasks
from kloc.results import document, document_tables, inputs, marked, printed, wanted
from kloc.results.report import picture
from kloc.results.versions import COMMIT
from kloc.results.wanted import Form, Wanted

ANOTHER = "name another directory with --results DIR, or remove this one to measure all again"


class Store:
    """The results in a directory."""

    def __init__(self, directory: Path, tables: Sequence[Wanted]) -> None:
        """Read the files with results of the tables. The directory need not exist.

        Raises KlocError if a file is no result of kloc bench tables, or if they are of several
        commits.
        """
        self.directory = directory
        self._contents: dict[str, dict[str, Any]] = {}
        for series in dict.fromkeys(table.series for table in tables):
            self._read(series)
        commits = {content[COMMIT] for content in self._contents.values()}
        if len(commits) > 1:
            listed = ", ".join(sorted(one[:SHORT] for one in commits))
            raise KlocError(f"{directory} has results of several commits: {listed}", ANOTHER)

    @property
    def commit(self) -> str | None:
        """The commit of all results, None if there are none."""
        return next((content[COMMIT] for content in self._contents.values()), None)

    def path(self, table: Wanted) -> Path:
        """Return the file with the results of a table."""
        return self.directory / f"{table.series}.json"

    def content(self, table: Wanted) -> dict[str, Any] | None:
        """Return the document that has the runs of a table, and others; None if there is none."""
        return self._contents.get(table.series)

    def missing(self, table: Wanted) -> list[Identity]:
        """Return the identities of the runs that a table lacks."""
        content = self.content(table)
        return table.missing(content["runs"] if content else [])

    def lines(self, table: Wanted) -> list[str]:
        """Return the lines of a table of which no run is missing, and of its picture."""
        assert self.commit is not None
        lines = document_tables.lines(table, self.only(table), self.commit)
        if table.picture:
            shown = document_tables.image(table, picture.title(self.only(table)))
            lines = [shown, "", *lines]
        return lines

    def picture(self, table: Wanted) -> str:
        """Return the picture of a table that has one, and lacks no run."""
        return picture.render(printed.with_ratios(self.only(table), table.against))

    def only(self, table: Wanted) -> dict[str, Any]:
        """Return the document with the runs of a table alone. None of them may be missing.

        Spreads are what the workloads' files say now: they follow from these runs, and so are
        written into the files after them.
        """
        content = self._contents[table.series]
        spreads = {name: workload.load(name).spread for name in table.workload_names}
        runs = table.chosen(content["runs"])
        return {**content, "runs": [{**run, "spread": spreads[run["workload"]]} for run in runs]}

    def measure(self, table: Wanted, commit: str, saved: Callable[[], None]) -> None:
        """Measure what a table lacks. Raises KlocError if a run failed, Interrupted on Ctrl-C."""
        policies = [policy.load(name) for name in table.policies]
        workloads = [workload.load(name) for name in table.workload_names]
        host = profile.load(table.machine)
        todo = tasks(workloads, policies, host, table.seed_numbers, table.size, table.cold)
        path, content = self.path(table), self.content(table)
        parts = prepare(workloads, policies=policies)
        self.directory.mkdir(parents=True, exist_ok=True)
        try:
            Measurement(
                todo, policies, parts, host, path, content, path, more={COMMIT: commit}
            ).run(saved=saved)
        except Differs as error:
            raise KlocError(error.message, ANOTHER) from error
        finally:
            self._read(table.series)

    def _read(self, series: str) -> None:
        path = self.directory / f"{series}.json"
        if not path.exists():
            return
        content = document.read(path)
        if COMMIT not in content:
            raise KlocError(f"{path} has no commit: kloc bench tables did not write it", ANOTHER)
        self._contents[series] = content


def bench(args: argparse.Namespace) -> int:
    """Measure the tables and write them, or do only a part of this."""
    listed = wanted.load(paths.PROJECT)
    chosen = wanted.choose(listed, args.groups)
    directory = args.results or cache.directory() / "tables"
    if args.dry_run:
        return _list(chosen, Store(directory, chosen))
    everything = list(listed.values())
    if args.check:
        return _check(chosen, Store(directory, everything))
    if args.write:
        return _write(chosen, everything, Store(directory, everything))
    directory.mkdir(parents=True, exist_ok=True)
    with cache.locked(directory / ".lock", "measuring the tables"):
        store = Store(directory, everything)
        failed = _measure(chosen, store, args.limit)
        return _write(chosen, everything, store) or failed


def _list(chosen: Sequence[Wanted], store: Store) -> int:
    """Print the runs of each table, and which of them are done."""
    for table in chosen:
        missing = set(store.missing(table))
        runs = table.identities()
        done = len(runs) - len(missing)
        print(f"{table.name}, in {table.document}: {done} of {plural(len(runs), 'run')} done")
        for what, under, seed, variant in runs:
            state = "missing" if (what, under, seed, variant) in missing else "done"
            print(f"  {what} under {under}, seed {seed}, {table.series}: {state}")
    # Tables have runs in common.
    runs_of_all = {(table.series, one) for table in chosen for one in table.identities()}
    to_do = {(table.series, one) for table in chosen for one in store.missing(table)}
    done = len(runs_of_all) - len(to_do)
    print(f"{done} of {plural(len(runs_of_all), 'run')} done")
    return 0


def _measure(chosen: Sequence[Wanted], store: Store, limit: float | None) -> int:
    """Measure what the tables lack, until a run ends after `limit` seconds.

    Return 1 if runs failed. Those of other tables are measured nevertheless.
    """
    todo = [table for table in chosen if store.missing(table)]
    if not todo:
        return 0
    commit = _commit(store)
    end = None if limit is None else time.monotonic() + limit
    failed = 0

    def saved() -> None:
        if _is_over(end):
            raise KeyboardInterrupt

    for table in todo:
        if _is_over(end):
            break
        # An earlier table may have had the same runs.
        if not (missing := store.missing(table)):
            continue
        terminal.say(f"table {table.name}: {plural(len(missing), 'run')} to measure")
        try:
            store.measure(table, commit, saved)
        except Interrupted:
            if not _is_over(end):
                raise
            terminal.say("stopped, because the time of --limit is over; the next call goes on")
        except KlocError as error:
            terminal.say(f"table {table.name}: {error.message}")
            terminal.say(error.hint or "")
            failed = 1
    return failed


def _is_over(end: float | None) -> bool:
    return end is not None and time.monotonic() >= end


def _commit(store: Store) -> str:
    """Return the commit that is measured: that of the results, or of the checkout.

    Raises KlocError if the checkout's files are not those of the commit.
    """
    commit = store.commit or checkout.commit(paths.PROJECT)
    changed = checkout.changed_since(paths.PROJECT, commit)
    if not changed:
        return commit
    listed = ", ".join([*changed[:3], *(["..."] if len(changed) > 3 else [])])
    if store.commit:
        raise KlocError(
            f"{store.directory} has results of commit {commit[:SHORT]}, and since then "
            f"{plural(len(changed), 'file')} changed: {listed}",
            f"check out that commit, or {ANOTHER}",
        )
    raise KlocError(
        f"the checkout is not commit {commit[:SHORT]}: {plural(len(changed), 'file')} changed: "
        f"{listed}",
        "commit the changes: tables say of which commit they are",
    )


def _write(chosen: Sequence[Wanted], everything: Sequence[Wanted], store: Store) -> int:
    """Write the tables that lack no run into their documents, and print what became of each.

    Return 1 if a table was not written.
    """
    status = 0
    for name in dict.fromkeys(table.document for table in chosen):
        own = [table for table in everything if table.document == name]
        status |= _write_document(name, [one for one in own if one in chosen], own, store)
    for table in chosen:
        if table.form == Form.SPREAD and not store.missing(table):
            for what, value in document_tables.spreads(table, store.only(table)).items():
                print(f"workload {what}: spread={value:g}")
    return status


def _write_document(
    name: str, chosen: Sequence[Wanted], own: Sequence[Wanted], store: Store
) -> int:
    """Write the chosen tables of a document; `own` are all that it has. Return 1 if one was not."""
    path, status = paths.PROJECT / name, 0
    shown = _shown(name, own)
    complete = []
    for table in chosen:
        if missing := store.missing(table):
            print(f"{name}: table {table.name}: {_described(missing, table)}")
            status = 1
        else:
            complete.append(table)
    if not complete:
        return status
    if reason := _mixed(complete, [table for table in own if table not in complete], shown, store):
        print(f"{name}: not written, because {reason}")
        return 1
    text = old = path.read_text(encoding="utf-8")
    for table in complete:
        # Before the document, which shows it.
        if table.picture:
            _write_picture(table, store)
        lines = store.lines(table)
        text = marked.replaced(text, table.name, lines)
        state = "as it was" if lines == shown[table.name] else "written"
        print(f"{name}: table {table.name}: {state}")
    if text != old:
        files.write_text(path, text)
    return status


def _write_picture(table: Wanted, store: Store) -> None:
    """Write the picture of a complete table, and print what became of it."""
    path, drawn = paths.PROJECT / table.picture, store.picture(table)
    state = "as it was" if _text(path) == drawn else "written"
    if state == "written":
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_text(path, drawn)
    print(f"{table.picture}: picture of table {table.name}: {state}")


def _text(path: Path) -> str | None:
    """Return the text of a file, None if it does not exist."""
    return path.read_text(encoding="utf-8") if path.exists() else None


def _described(missing: Sequence[Identity], table: Wanted) -> str:
    """Return how many runs of a table are missing, and the first of them."""
    what, under, seed, _ = missing[0]
    count, whole = len(missing), len(table.identities())
    first = f"{what} under {under}, seed {seed}"
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{count} of {plural(whole, 'run')} missing ({first}{more})"


def _mixed(
    complete: Sequence[Wanted],
    others: Sequence[Wanted],
    shown: Mapping[str, Sequence[str]],
    store: Store,
) -> str | None:
    """Return why a document cannot have the complete tables, beside `others` as they are.

    All of its figures must be of one commit and the same inputs.
    """
    assert store.commit is not None
    runs = [run for table in complete for run in store.only(table)["runs"]]
    if names := inputs.mixed(runs):
        return f"its runs differ in {', '.join(names)}"
    contents = [store.only(table) for table in complete]
    for one in contents[1:]:
        # The tables of a document may be of several machines.
        same_machine = {**one, "machine": contents[0]["machine"]}
        if lines := document.contradictions(contents[0], same_machine):
            return f"its runs differ in {', '.join(lines)}"
    for table in others:
        stamp = marked.stamp(shown[table.name])
        if not marked.has_figures(shown[table.name]):
            continue
        if stamp is None or not store.commit.startswith(stamp.commit):
            of = "an unknown commit" if stamp is None else f"commit {stamp.commit}"
            reason = "not all of its runs are measured" if store.missing(table) else "not chosen"
            return (
                f"table {table.name} would keep its figures of {of} beside those of commit "
                f"{store.commit[:SHORT]} ({reason}); measure it too, or remove its figures"
            )
    return None


def _check(chosen: Sequence[Wanted], store: Store) -> int:
    """Print whether each document shows what the results give. Return 1 if one does not."""
    status = 0
    for table in chosen:
        shown = _shown(table.document, [table])[table.name]
        if missing := store.missing(table):
            state, right = _described(missing, table), False
        elif right := shown == store.lines(table):
            state = "shows the results"
            if table.picture and _text(paths.PROJECT / table.picture) != store.picture(table):
                right, state = False, f"{state}, but its picture {table.picture} does not"
        else:
            stamp = marked.stamp(shown)
            of = f", and is of commit {stamp.commit}" if stamp else ""
            commit = (store.commit or "")[:SHORT]
            state = f"does not show the results, which are of commit {commit}{of}"
        print(f"{table.document}: table {table.name}: {state}")
        status |= not right
    return int(status)


def _shown(name: str, tables: Sequence[Wanted]) -> dict[str, list[str]]:
    """Return the lines of the tables in the document `name`. Raises KlocError if it lacks one."""
    path = paths.PROJECT / name
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise KlocError(f"cannot read {path}: {error.strerror}", f"see {wanted.LIST}") from error
    found = marked.tables(name, text)
    for table in tables:
        if table.name not in found:
            raise KlocError(
                f"{name} has no table {table.name}, which {wanted.LIST} lists",
                f"add '<!-- table {table.name} -->' and '{marked.END}' where it belongs",
            )
    return found
