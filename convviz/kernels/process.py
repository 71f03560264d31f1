"""A process that somebody else started, with what ``subprocess.Popen`` offers of it."""

from __future__ import annotations

import os
import select
import signal

ENDED = 1  # the code that is told: the true one is known to the process's own parent only


class ForkedProcess:
    """A kernel's process, held by a descriptor: its number may belong to another one as soon as it has ended."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, handle: int) -> None:
        """Take the process.

        Args:
            pid: its number.
            handle: its descriptor (``pidfd``), which is closed with the last look at the process.
        """
        self.pid = pid
        self.returncode: int | None = None
        self._handle = handle

    def poll(self) -> int | None:
        """Return None while the process runs, then ``ENDED``."""
        if self.returncode is None and self._has_ended(0):
            self.returncode = ENDED
            os.close(self._handle)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """Return ``ENDED`` when the process has ended.

        Args:
            timeout: in seconds; None waits as long as it takes.

        Raises:
            TimeoutError: it runs still.
        """
        if self.returncode is None and not self._has_ended(timeout):
            raise TimeoutError(f"process {self.pid} runs still, after {timeout} seconds")
        return self.poll()

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, or to its group, which it leads; to nobody where it has ended.

        Args:
            number: such as ``signal.SIGINT``.
        """
        if self.poll() is not None:
            return
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:  # forked a moment ago: it has no group yet
            signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process."""
        self.send_signal(signal.SIGKILL)

    def _has_ended(self, timeout: float | None) -> bool:
        poller = select.poll()
        poller.register(self._handle, select.POLLIN)
        return bool(poller.poll(None if timeout is None else timeout * 1000))
