"""The Python port of configurable-http-proxy, for hubs on machines without node; run as the command of that name.

Version 0.4.0 agrees to no subprotocol and sends bytes on as text, which keeps pages from their kernels; and it writes
the @ of a name as %40, which keeps ann@example.edu from her server. Mended here; for a course, npm's is to be taken.
"""

import sys

from configurable_http_proxy import configproxy
from configurable_http_proxy.cli import main


class ProxyHandler(configproxy.ProxyHandler):
    async def get_target_url(self, path):
        url = await super().get_target_url(path)
        return url and url.replace("%40", "@")

    def select_subprotocol(self, subprotocols):
        return self.ws_client.selected_subprotocol  # what the server behind has chosen

    def on_message(self, message):
        if self.ws_client:
            self.ws_client.write_message(message, binary=isinstance(message, bytes))


if __name__ == "__main__":
    configproxy.ProxyHandler = ProxyHandler
    sys.exit(main())
