"""One process of a command: attempts in, answers out, a JSON object a line."""

__all__ = ["Child", "Ended"]

import asyncio
import codecs
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from bayes_passk.campaign.runners.masking import masked
from bayes_passk.campaign.runners.outcomes import Outcome, quoted
from bayes_passk.campaign.runners.protocol import Made
from bayes_passk.errors import CampaignError

_LONGEST_LINE = 1 << 20
_LOOK = 0.5
_GRACE = 2.0
_TAIL = 4_096


class Ended(Exception):
    """The process ended, or closed its output, with an attempt in hand."""


class Child:
    """A running process of a command, in a process group of its own; started by `start`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        pipes: Any = process.stdin, process.stdout, process.stderr
        self.answered = 0
        self._process = process
        self._stdin, self._stdout, self._stderr = pipes
        self._given: set[str] = set()
        self._tail = ""
        self._forced = False
        self._said = asyncio.create_task(self._pass_on())

    @classmethod
    async def start(cls, command: Sequence[str]) -> "Child":
        """Start a process, without a shell.

        Raises
        ------
        CampaignError
            There is no such program, or it may not be run.
        """
        pipe = asyncio.subprocess.PIPE
        # A Python program that forgets to flush would never answer.
        environment = {"PYTHONUNBUFFERED": "1"} | os.environ
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=_LONGEST_LINE,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CampaignError(f"command {quoted(command[0])}: cannot start: {reason}") from error
        return cls(process)

    @property
    def alive(self) -> bool:
        """Whether it can be given an attempt."""
        return self._process.returncode is None

    @property
    def exit_code(self) -> int | None:
        """How it ended."""
        return self._process.returncode

    async def make(self, attempt: Made) -> Outcome:
        """Give it an attempt and wait for the answer.

        Raises
        ------
        Ended
            It ended before.
        """
        self._given.add(attempt.id)
        asked = {"attempt": attempt.id, "system": attempt.system, "problem": attempt.problem}
        with suppress(ConnectionError):  # it ended: reading will show
            self._stdin.write(json.dumps(asked).encode() + b"\n")
            await self._stdin.drain()
        outcome = None
        while outcome is None:
            outcome = self._read(await self._line(), attempt.id)
        return outcome

    async def stop(self, grace: float = _GRACE) -> None:
        """End it, and what it started: by closing its input; by force after ``grace`` seconds."""
        self._stdin.close()
        if grace:
            await self._exit_within(grace)
        self._forced = self._forced or self.alive
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._exit_within(_GRACE)
        await asyncio.wait({self._said}, timeout=_GRACE)
        self._said.cancel()

    def how_it_ended(self) -> str:
        """Exit code or signal, and the last line of its standard error."""
        code = self.exit_code or 0
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        if self._forced:
            how = "its output closed"
        lines = [line for line in self._tail.splitlines() if line.strip()]
        return f"{how}: {masked(lines[-1])}" if lines else how

    async def _line(self) -> bytes:
        read = asyncio.ensure_future(self._stdout.readuntil(b"\n"))
        try:
            while not read.done():
                gone = not self.alive
                await asyncio.wait({read}, timeout=_LOOK)
                # A process that it left behind may hold its output open.
                if gone and not read.done():
                    raise Ended
            return read.result()
        except asyncio.IncompleteReadError as error:
            if error.partial.strip():
                return error.partial
            raise Ended from None
        except asyncio.LimitOverrunError:
            start = await self._stdout.read(_TAIL)
            await self.stop(grace=0)
            return start
        finally:
            read.cancel()

    def _read(self, line: bytes, attempt: str) -> Outcome | None:
        answer = _parsed(line)
        if isinstance(answer, dict):
            told = answer.get("attempt")
            if told == attempt and (outcome := _outcome(answer)) is not None:
                self.answered += 1
                return outcome
            if told != attempt and isinstance(told, str) and told in self._given:
                return None  # a second answer, or one that comes late, to an attempt told before
        expected = '{"attempt": ..., "passed": true or false}'
        said = quoted(line.decode(errors="replace").strip())
        return Outcome(error=f"the command answered {said}, expected {expected}")

    async def _exit_within(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), seconds)

    async def _pass_on(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while chunk := await self._stderr.read(8_192):
            text = decoder.decode(chunk)
            self._tail = (self._tail + text)[-_TAIL:]
            with suppress(OSError, ValueError):  # nobody to tell; it must not block the process
                sys.stderr.write(text)
                sys.stderr.flush()


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _outcome(answer: dict[str, Any]) -> Outcome | None:
    passed, error = answer.get("passed"), answer.get("error")
    if isinstance(passed, bool) and error is None:
        return Outcome(passed=passed)
    if isinstance(error, str) and passed is None:
        return Outcome(error=masked(error) or "error")
    return None
