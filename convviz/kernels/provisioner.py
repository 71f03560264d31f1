"""The way in which Jupyter starts a kernel that shares torch: under Voilà, JupyterLab and JupyterHub alike."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from convviz.kernels.parent import WarmError, WarmParent

LAUNCHERS = {"ipykernel_launcher", "ipykernel"}
STREAMS = ("stdout", "stderr")
NAMED, NORMAL = "JUPYTER_DEFAULT_PROVISIONER_NAME", "local-provisioner"  # Jupyter's names


class SharedTorchProvisioner(LocalProvisioner):
    """Forks a Python kernel from a process that has torch already; starts any other kernel the normal way.

    A kernel differs from one of its own in this: it keeps no history of what was typed, and numpy's matrix products
    take one thread.
    """

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel.

        Args:
            cmd: The command of the kernel's specification.
            **kwargs: As ``subprocess.Popen`` takes them.

        Returns:
            Where the kernel listens.
        """
        if os.environ.get(NAMED) == NORMAL:  # who asks for it means the kernels of `convviz serve`, too
            return await super().launch_kernel(cmd, **kwargs)
        warm = WarmParent.instance(config=self.config)
        try:
            arguments = kernel_arguments(cmd)
            streams = own_streams(kwargs)
            folder = os.fspath(kwargs.get("cwd") or Path.cwd())
            environment = {**kwargs.get("env", os.environ), "JPY_PARENT_PID": str(os.getpid())}
            # In a thread: the first request waits until torch is imported.
            self.process: Any = await asyncio.to_thread(warm.fork, arguments, environment, folder, streams)
        except WarmError as why:
            if warm.is_news(str(why)):
                self.log.warning("Kernels start without sharing torch, because %s.", why)
            return await super().launch_kernel(cmd, **kwargs)
        self.pid = self.pgid = self.process.pid
        self.cwd = Path(folder)
        return self.connection_info


def kernel_arguments(command: Sequence[str]) -> list[str]:
    """Return the arguments for ipykernel of a command that starts it with this Python.

    Args:
        command: As a kernel's specification has it.

    Raises:
        WarmError: It starts something else.
    """
    if not sys.platform.startswith("linux") or not hasattr(os, "pidfd_open"):
        raise WarmError(f"sharing needs Linux, and this is {sys.platform}")
    python, *words = command
    module = words.index("-m") + 1 if "-m" in words[:-1] else len(words)
    if not os.path.exists(python) or not os.path.samefile(python, sys.executable):
        raise WarmError(f"{python} is another Python than the server's")
    if module == len(words) or words[module] not in LAUNCHERS:
        raise WarmError(f"its command is not ipykernel's ({' '.join(command)})")
    return words[module + 1 :]


def own_streams(options: Mapping[str, Any]) -> dict[str, int]:
    """Return the open files that a kernel is to write to, by the stream's name.

    Args:
        options: As ``subprocess.Popen`` takes them.

    Raises:
        WarmError: One of them is none, such as ``subprocess.PIPE``.
    """
    found = {}
    for name in STREAMS:
        given = options.get(name)
        if given is None:
            continue
        descriptor = given if isinstance(given, int) else given.fileno()
        if descriptor < 0:
            raise WarmError(f"its {name} is to be a pipe")
        found[name] = descriptor
    return found
