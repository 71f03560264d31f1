"""The tour that docs/tour.py records still leads where it says."""

import importlib.util
from pathlib import Path

from tests.browser.app_page import open_app

TOUR = Path(__file__).parents[2] / "docs" / "tour.py"
SPEC = importlib.util.spec_from_file_location("tour", TOUR)
tour = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tour)


def test_every_stop_of_the_tour_is_reached(page, server):
    open_app(page, server.url)
    for prepare in tour.PICTURES.values():  # one after the other: a fresh page each would take minutes
        prepare(page)
