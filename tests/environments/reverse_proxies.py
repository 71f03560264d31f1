"""Runs what stands before convviz on a real machine, nginx and Caddy, for tests and benchmarks."""

import contextlib
import os
import shutil
import socket
import subprocess

from tests.browser.server import wait_until

# What stands around a file of /etc/nginx/conf.d, all of it below one folder that need not be root's.
NGINX = """{user}daemon off;
pid nginx.pid;
error_log stderr warn;
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
    types {{
        text/html html; text/css css; text/javascript js; application/json json; application/octet-stream bin;
    }}
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    {server}
}}
"""
CADDY = """{{
    admin off
    auto_https disable_redirects
    skip_install_trust
}}
{server}
"""


def found(program):
    """Return the path of a program; None where it is not installed. Debian has servers where only root looks."""
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"]))


def missing(*programs):
    """Return a sentence that names the programs which are not installed; empty when all are."""
    lacking = [name for name in programs if found(name) is None]
    names = " ".join(lacking)
    return f"NO {names}, its tests are SKIPPED: install it (Debian: `apt-get install {names}`)" if lacking else ""


def free_port():
    """Return a port of this machine that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def certificate(folder):
    """Make a certificate of this machine for a day; return its path and that of its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = [found("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    command += [
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
        "-keyout",
        str(key),
        "-out",
        str(cert),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


def nginx(server, port, folder):
    """Run nginx with these blocks of its `http`, which listen on a port, until the end of a `with`."""
    user = "user root;\n" if hasattr(os, "geteuid") and os.geteuid() == 0 else ""  # its workers read the tests' folders
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(user=user, server=server), encoding="utf-8")
    return _running([found("nginx"), "-p", str(folder), "-e", "stderr", "-c", str(config)], port, folder)


def caddy(server, port, folder):
    """Run Caddy with this site, which listens on a port, until the end of a `with`."""
    config = folder / "Caddyfile"
    config.write_text(CADDY.format(server=server), encoding="utf-8")
    return _running([found("caddy"), "run", "--adapter", "caddyfile", "--config", str(config)], port, folder)


@contextlib.contextmanager
def _running(command, port, folder):
    log = folder / "said.log"
    env = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with log.open("w") as said:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=said, stderr=said)
    try:
        wait_until(lambda: process.poll() is not None or answers(port), 20, f"{command[0]} listens")
        assert process.poll() is None, f"{' '.join(command)} ended:\n{log.read_text()}"
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def answers(port):
    """Return whether somebody listens on a port of this machine."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
