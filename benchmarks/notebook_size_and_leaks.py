"""What an app in a notebook is made of, and what is left of twenty that were closed."""

import gc
import gzip
import json
import weakref

from benchmarks.figures_and_targets import Figure, main

PART = "an app's size, and what stays behind"
APPS = 20


def measure(say):
    from ipywidgets.embed import dependency_state
    from ipywidgets.widgets.widget import _instances

    import convviz

    def kept(*apps):
        """Return the kB that a notebook keeps of apps, script and style sheet too, gzipped."""
        return len(gzip.compress(json.dumps(dependency_state(apps, drop_defaults=False)).encode())) / 1000

    say(f"{APPS} apps opened and closed")
    before = len(_instances)
    app = convviz.App()
    yield Figure("widget models of one App()", len(_instances) - before, "", 15)
    alone = kept(app)
    yield Figure("its widget state, gzipped", alone, "kB", 150)
    other = convviz.App()
    yield Figure("what a second app adds to it", kept(app, other) - alone, "kB", 10)
    other.close()
    app.close()
    before, apps = len(_instances), []
    for _ in range(APPS):
        app = convviz.App()
        apps.append(weakref.ref(app))
        app.close()
        del app
    gc.collect()
    yield Figure(f"widgets alive after {APPS} apps were closed", len(_instances) - before, "", 0)
    yield Figure(f"apps alive after {APPS} were closed", sum(ref() is not None for ref in apps), "", 0)


if __name__ == "__main__":
    main(measure)
