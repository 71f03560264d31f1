"""What this process may run for its visitor: the visitor's code, in a notebook; on a server if it says so."""

import os

# Voilà sets the one in every kernel before the first cell, a server the other in each of its workers.
SERVED_VARIABLES = ("VOILA_KERNEL_ID", "CONVVIZ_SERVED")
# Set by a server that lets in nobody but who started it, by a token: code that is pasted there is its owner's.
OWN_VARIABLE = "CONVVIZ_OWN_CODE"


def is_served() -> bool:
    return any(name in os.environ for name in SERVED_VARIABLES)


def runs_code() -> bool:
    return not is_served() or OWN_VARIABLE in os.environ
