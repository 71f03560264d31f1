"""Runs what waits in a thread of its own: a worker's own thread may have Playwright's loop running."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run_apart(awaitable):
    """Return what an awaitable returns.

    Args:
        awaitable: A coroutine.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, awaitable).result()
