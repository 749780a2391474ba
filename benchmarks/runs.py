"""Runs of a benchmark: made once, a line each in a file that grows, on several processes."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console
from rich.progress import Progress

import bayes_passk as bp
from bayes_passk.counts import digest


@dataclass(frozen=True)
class Task:
    """One method on one sample of every system."""

    method: str
    budget: int
    seed: int


type Run = Callable[[xr.Dataset, list[int], Task], dict[str, Any]]


def true_pass_at_k(counts: xr.Dataset, ks: Sequence[int]) -> np.ndarray:
    """Mean over problems of ``1 - (1 - c/n)^k``, shape (system, k)."""
    n, c = (counts[name].values[..., None] for name in ("n_attempts", "n_successes"))
    with np.errstate(divide="ignore"):
        solved = -np.expm1(np.array(ks) * np.log1p(-c / n))
    return solved.mean(axis=1)


@cache
def complete_counts(path: Path) -> xr.Dataset:
    """Counts of the systems that were tried on every problem."""
    counts = bp.read_counts(path)
    return counts.isel(system=(counts["n_attempts"] > 0).all("problem").values)


def run_in_process(run: Run, path: Path, ks: list[int], task: Task) -> dict[str, Any]:
    """Run a task in a process of its own, which reads the counts once."""
    return run(complete_counts(path), ks, task)


def finished(path: Path, key: str) -> dict[Task, dict[str, Any]]:
    """Runs in the file that were made with these counts and k."""
    runs = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue  # cut off while it was written: that run is repeated
        if record["key"] == key:
            runs[Task(record["method"], record["budget"], record["seed"])] = record
    return runs


def records(
    run: Run, tasks: list[Task], path: Path, ks: list[int], jobs: int
) -> Iterator[dict[str, Any]]:
    """Records of tasks in the order they are finished."""
    if jobs == 1:
        yield from (run(complete_counts(path), ks, task) for task in tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(run_in_process, run, path, ks, task) for task in tasks]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def key_of(counts: xr.Dataset, ks: list[int]) -> str:
    """What a run depends on beside its task: the counts, the order of systems, and k."""
    systems = counts["system"].values.tolist()
    return hashlib.sha256(json.dumps([digest(counts), systems, ks]).encode()).hexdigest()[:16]


def run_all(
    run: Run, tasks: list[Task], path: Path, ks: list[int], out: Path, jobs: int
) -> list[dict[str, Any]]:
    """Records of all tasks; those not yet in the file are made and added to it."""
    log, key = out / "runs.jsonl", key_of(complete_counts(path), ks)
    done = finished(log, key)
    missing = [task for task in tasks if task not in done]
    console = Console(stderr=True)
    with (
        log.open("a") as file,
        Progress(console=console, disable=not sys.stderr.isatty()) as progress,
    ):
        if log.stat().st_size and not log.read_bytes().endswith(b"\n"):
            file.write("\n")
        bar = progress.add_task("runs", total=len(tasks), completed=len(tasks) - len(missing))
        for record in records(run, missing, path, ks, jobs):
            file.write(json.dumps({"key": key} | record) + "\n")
            file.flush()
            done[Task(record["method"], record["budget"], record["seed"])] = record
            progress.advance(bar)
    return [done[task] for task in tasks]
