"""The served app and the exported page, as the tests of the page have them."""

from tests.browser.conftest import app, exported, opened, reader, server, visitor

__all__ = ["app", "exported", "opened", "reader", "server", "visitor"]
