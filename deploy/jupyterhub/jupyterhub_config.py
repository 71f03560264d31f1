"""JupyterHub for a course: who logs in lands in convviz, on a server of their own.

    pip install jupyterhub jupyter-server-proxy      # beside convviz, in one environment
    npm install -g configurable-http-proxy           # the one of npm: see docs/jupyterhub.md
    jupyterhub -f deploy/jupyterhub/jupyterhub_config.py

Who may log in is yours to say: JupyterHub lets in nobody that this file does not name.
"""

import sys
from pathlib import Path

c = get_config()  # noqa: F821 - JupyterHub gives it to its configuration files

# The name under which students' browsers reach the hub: convviz answers to no other one, and to localhost.
NAME = "course.example.edu"

# -- who ---------------------------------------------------------------------------------------------------------------
# JupyterHub's own default asks for the password of an account on this machine. A course has better: its LMS
# (jupyterhub-ltiauthenticator), or its university's login (oauthenticator).
c.Authenticator.allowed_users = set()  # {"ann", "ben"}, or allow_all = True behind a login that knows the course
c.Authenticator.admin_users = set()
c.Authenticator.username_pattern = r"[a-z0-9._~@-]+"  # jupyter-server-proxy takes no others in a path

# -- what a student's server is ----------------------------------------------------------------------------------------
# convviz alone, with the hub's login before it: a board that lives before its server and after it, no notebook, no
# terminal, and therefore no code of students. A server is four processes: the door, convviz serve, what has loaded
# torch, and the worker that is forked from it.
programs = Path(sys.executable).parent
c.Spawner.cmd = [str(programs / "jupyter-standaloneproxy")]
c.Spawner.args = [
    "--absolute-url",  # convviz gets its path, as its page and its websockets need
    "--activity-interval=0",  # the hub hears from its proxy who is active; the door would say so of all, or of nobody
    "--timeout=120",
    "--",
    *("setpriv", "--pdeathsig", "TERM"),  # a door that is killed takes convviz serve and its worker along (Linux)
    *(str(programs / "convviz"), "serve"),
    *("--port", "{port}"),
    *("--base-url", "{base_url}/"),
    *("--allow-host", NAME),
    *("--workers", "1"),  # who is alone needs no second one
]

# -- how many ----------------------------------------------------------------------------------------------------------
# 310 MiB a student with a page open (measured, docs/jupyterhub.md): 45 in 16 GiB. More are asked to come later.
c.JupyterHub.active_server_limit = 45
c.JupyterHub.concurrent_spawn_limit = 10  # a start is 4 s of one core

# A reload while the server is gone leads to a button that starts it, and from there back to the link that was open.
# JupyterHub's way without the button (implicit_spawn_seconds) forgets what stands after # in the address: the state.
c.JupyterHub.implicit_spawn_seconds = 0
