"""The served app and the exported page, as the tests of the page have them."""

from tests.browser.conftest import exported, server

__all__ = ["exported", "server"]
