"""Files, as the server sends them: for how long, packed for whom, and what an address is that leads to none."""

from typing import Any

import tornado.web

FOR_EVER = "public, max-age=31536000, immutable"  # for an address that names its content


def takes_gzip(request: Any) -> bool:
    wanted = [part.split(";") for part in request.headers.get("Accept-Encoding", "").lower().split(",")]
    return any(name.strip() == "gzip" and "q=0" not in "".join(rest).split() for name, *rest in wanted)


class Files(tornado.web.StaticFileHandler):
    """Mixed into the handlers of files: an address that leads to no file is one."""

    async def get(self, path: str, include_body: bool = True) -> None:
        try:
            await super().get(path, include_body=include_body)
        except (AssertionError, OSError, ValueError) as wrong:  # Voilà takes an address apart without looking
            raise tornado.web.HTTPError(404) from wrong
        except tornado.web.HTTPError as refused:
            raise tornado.web.HTTPError(404 if refused.status_code == 403 else refused.status_code) from refused
