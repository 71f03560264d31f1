"""Gradescope: called by ``run_autograder``, reads what was handed in and writes ``results.json``.

Elsewhere it takes both places: ``python gradescope_grade.py SUBMISSION_FOLDER RESULTS_FILE``.
"""

import contextlib
import importlib.util
import io
import json
import sys
from pathlib import Path

import convviz


def submitted(path, name):
    """Return a student's function; None where the file has none, or cannot be run."""
    spec = importlib.util.spec_from_file_location("submitted", path)
    module = importlib.util.module_from_spec(spec)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        print(f"{path} cannot be run: {error!r}", file=sys.stderr)  # instructors see it, students do not
    return getattr(module, name, None)


def grade(submission, results, points=4):
    fn = submitted(Path(submission, "solution.py"), "conv2d_weight")
    report = convviz.report(fn, "conv2d_weight", seed=20261, time_limit=10)
    Path(results).write_text(json.dumps(report.to_gradescope(points)), encoding="utf-8")


if __name__ == "__main__":
    submission, results = sys.argv[1:] or ("/autograder/submission", "/autograder/results/results.json")
    for folder in (Path(submission), Path(results).parent):
        if not folder.is_dir():
            sys.exit(
                f"There is no folder {folder}, which Gradescope makes; elsewhere say SUBMISSION_FOLDER RESULTS_FILE"
            )
    grade(submission, results)
