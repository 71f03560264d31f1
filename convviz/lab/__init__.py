"""The race: the article's network on MNIST, its layers computed by torch and by others, trained fairly, in lockstep."""

from convviz.lab.digits import Digits, digits
from convviz.lab.entrants import ENTRANTS, Entrant
from convviz.lab.race_error import RaceError
from convviz.lab.result import read
from convviz.lab.run_race import Race, Step, race
from convviz.lab.settings import RaceSettings
from convviz.lab.table import Row, table, text

__all__ = [
    "ENTRANTS",
    "Digits",
    "Entrant",
    "Race",
    "RaceError",
    "RaceSettings",
    "Row",
    "Step",
    "digits",
    "race",
    "read",
    "table",
    "text",
]
