"""Attempts made several at a time on an event loop, until the campaign is finished."""

__all__ = [
    "LONGEST_PAUSE",
    "SHORTEST_PAUSE",
    "check_numbers",
    "dispatch",
    "in_thread",
    "run_on_loop",
]

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from bayes_passk.campaign.runners.bookkeeper import Bookkeeper
from bayes_passk.campaign.runners.outcomes import Outcome
from bayes_passk.campaign.runners.protocol import Made
from bayes_passk.errors import OptionError

# Between asks while all that is left is out with other workers.
SHORTEST_PAUSE = 0.05
LONGEST_PAUSE = 5.0


async def dispatch(
    book: Bookkeeper, make: Callable[[Made], Awaitable[Outcome]], concurrency: int
) -> None:
    """Take attempts, make up to ``concurrency`` at a time, and tell their outcomes.

    Returns when the campaign is finished. Cancelled, it cancels what it makes.
    """
    running: set[asyncio.Task[None]] = set()
    pause = SHORTEST_PAUSE
    try:
        while True:
            book.check()
            taken = await _taken(book, concurrency - len(running))
            running |= {asyncio.create_task(_made(book, make, attempt)) for attempt in taken}
            if not running and await in_thread(book.finished):
                return
            pause = SHORTEST_PAUSE if taken else min(LONGEST_PAUSE, 2 * pause)
            running = await _some_done(running, None if len(running) == concurrency else pause)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def in_thread[T](function: Callable[..., T], *args: Any) -> T:
    """Await a call that blocks, in a thread that nobody has to wait for.

    Cancelled, it leaves the thread to itself: a thread cannot be stopped, and must not keep the
    program from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[T | None, BaseException | None]] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, error))

    def call() -> None:
        value, failure = None, None
        try:
            value = function(*args)
        except BaseException as error:
            failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=call, daemon=True).start()
    value, error = await done
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


def run_on_loop(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine; in a notebook, whose thread has a running loop, in a thread beside it.

    On Ctrl-C it is cancelled, and KeyboardInterrupt raised once it has cleaned up.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(main)
    else:
        _run_beside(main)


def check_numbers(*, concurrency: Any, timeout: Any, retries: Any, backoff: Any) -> None:
    """Make sure that a runner's numbers can be.

    Raises
    ------
    OptionError
        One cannot.
    """
    for name, value, least in (("concurrency", concurrency, 1), ("retries", retries, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise OptionError(f"{name}: expected a whole number from {least} on, got {value!r}")
    if timeout is not None and not (_is_number(timeout) and timeout > 0):
        raise OptionError(f"timeout: expected seconds above 0, got {timeout!r}")
    if not (_is_number(backoff) and backoff >= 0):
        raise OptionError(f"backoff: expected seconds from 0 on, got {backoff!r}")


async def _taken(book: Bookkeeper, free: int) -> list[Made]:
    return list(await in_thread(book.take, free)) if free else []


async def _made(
    book: Bookkeeper, make: Callable[[Made], Awaitable[Outcome]], attempt: Made
) -> None:
    book.tell(attempt, await make(attempt))


async def _some_done(
    running: set[asyncio.Task[None]], patience: float | None
) -> set[asyncio.Task[None]]:
    if not running:
        await asyncio.sleep(patience or 0)
        return running
    done, rest = await asyncio.wait(running, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()
    return rest


def _run_beside(main: Coroutine[Any, Any, None]) -> None:
    started: list[asyncio.Task[Any]] = []

    async def known() -> None:
        started.extend(filter(None, [asyncio.current_task()]))
        await main

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(asyncio.run, known())
        try:
            running.result()
        except KeyboardInterrupt:
            for task in started:
                task.get_loop().call_soon_threadsafe(task.cancel)
            raise


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
