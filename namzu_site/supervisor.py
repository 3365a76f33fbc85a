"""Processes that live and die together, in the foreground."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

T = TypeVar("T")

_GRACE_SECONDS = 10  # the web server closes open streams after 5; a job that is cut off runs again
_TAIL_BYTES = 8192
_TAIL_LINES = 15


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StoppedBySignal(Exception):
    """Somebody asked for the end: Ctrl-C, SIGTERM, or a closed terminal."""


class ChildEnded(Exception):
    """A process ended that should not have."""

    def __init__(self, child: "Child") -> None:
        super().__init__(f"{child.name} ended ({child.how}). Its last lines:\n{child.last_lines() or '  (none)'}")


class StepFailed(Exception):
    """A process that had one thing to do ended without having done it; what it said has just been passed on."""

    def __init__(self, child: "Child") -> None:
        self.name, self.code = child.name, child.process.returncode
        super().__init__(f"{child.name} failed ({child.how}); the reason stands above.")


class Child:
    """One running process, its output passed on and its end remembered."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, said: list[tuple[int, BinaryIO]]) -> None:
        self.name, self.process, self._tail = name, process, b""
        self._pumps = [asyncio.create_task(self._pump(end, out)) for end, out in said]

    async def wait(self) -> int:
        """Exit code, once the process has ended and what it said is passed on."""
        code = await self.process.wait()
        await asyncio.wait(self._pumps, timeout=1)  # a grandchild may keep the pipe open
        return code

    @property
    def how(self) -> str:
        """How it ended, in words."""
        code = self.process.returncode
        return f"exit code {code}" if code is None or code >= 0 else f"signal {signal.Signals(-code).name}"

    def send(self, number: signal.Signals) -> None:
        if self.process.returncode is None:
            self.process.send_signal(number)

    def kill_all(self) -> None:
        """The process and all it started are gone: it leads a group of its own."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def last_lines(self) -> str:
        lines = self._tail.decode(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-_TAIL_LINES:])

    async def _pump(self, end: int, out: BinaryIO) -> None:
        stream, rest = asyncio.StreamReader(), b""
        protocol = asyncio.StreamReaderProtocol(stream)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(end, "rb", buffering=0))
        while chunk := await stream.read(65536):
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
            whole, newline, rest = (rest + chunk).rpartition(b"\n")  # lines of several processes are not mixed
            _pass_on(out, whole + newline)
        _pass_on(out, rest)


def _pass_on(out: BinaryIO, said: bytes) -> None:
    try:
        out.write(said)
        out.flush()
    except BrokenPipeError:  # nobody reads any more: what is in the foreground of nothing ends, as at a Ctrl-C
        signal.raise_signal(signal.SIGTERM)


class Supervisor:
    """Starts processes in order; the end of a lasting one, or a signal, ends them all (on leaving the `async with`)."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder, self._environment = folder, dict(environment) | {"PYTHONUNBUFFERED": "1"}
        self._children: list[Child] = []
        self._watchers: list[asyncio.Task[None]] = []
        self._stopping = False

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._end: asyncio.Future[None] = loop.create_future()
        for number in ENDING:
            loop.add_signal_handler(number, self._on_signal)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping = True
        for child in reversed(self._children):
            child.send(signal.SIGTERM)
        ends = [asyncio.create_task(child.wait()) for child in self._children]
        if ends:
            await asyncio.wait(ends, timeout=_GRACE_SECONDS)
        self._kill_all()
        for end in ends:
            await end
        for watcher in self._watchers:
            watcher.cancel()

    async def start(self, name: str, *command: str) -> None:
        """The process runs; should it end by itself, everything ends."""
        child = await self._spawn(name, command)
        self.end_with(self._death(child))

    def end_with(self, reason: Coroutine[None, None, Exception]) -> None:
        """Everything ends once that returns, for the reason it returns."""
        self._watchers.append(asyncio.create_task(self._watch(reason)))

    async def step(self, name: str, *command: str) -> None:
        """The process has run and succeeded; raises StepFailed, and ChildEnded and StoppedBySignal for the others."""
        child = await self._spawn(name, command)
        if await self.meanwhile(child.wait()):
            raise StepFailed(child)
        self._children.remove(child)

    async def meanwhile(self, work: Coroutine[None, None, T]) -> T:
        """Result of the work; raises ChildEnded, StoppedBySignal where that comes first."""
        task = asyncio.create_task(work)
        either: set[asyncio.Future[Any]] = {task, self._end}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._end.done() and not task.done():
            task.cancel()
            self._end.result()
        return await task

    async def until_end(self) -> None:
        """Never returns; raises ChildEnded, StoppedBySignal."""
        await self._end

    async def _spawn(self, name: str, command: tuple[str, ...]) -> Child:
        # Pipes of our own: with asyncio's, a killed process counts as running while a child of its holds them open.
        (out, out_of_child), (err, err_of_child) = os.pipe(), os.pipe()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "namzu_site.tether", str(os.getpid()), *command),
            cwd=self._folder,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out_of_child,
            stderr=err_of_child,
            start_new_session=True,  # a terminal's Ctrl-C comes here alone, and the end goes in order
        )
        os.close(out_of_child)
        os.close(err_of_child)
        child = Child(name, process, [(out, sys.stdout.buffer), (err, sys.stderr.buffer)])
        self._children.append(child)
        return child

    async def _death(self, child: Child) -> ChildEnded:
        await child.wait()
        return ChildEnded(child)

    async def _watch(self, reason: Coroutine[None, None, Exception]) -> None:
        error = await reason
        if not self._end.done() and not self._stopping:
            self._end.set_exception(error)

    def _on_signal(self) -> None:
        if self._stopping:
            self._kill_all()
        elif not self._end.done():
            self._end.set_exception(StoppedBySignal())
            print("\nStopping (Ctrl-C again kills) …", flush=True)

    def _kill_all(self) -> None:
        for child in self._children:
            child.kill_all()
