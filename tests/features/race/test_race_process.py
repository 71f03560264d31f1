"""The race in a process of its own: what it sends, how it waits, ends and refuses; and what the tab does with it."""

import base64
import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import psutil
import pytest
import torch
import torch.nn.functional as F

import convviz
from convviz.app import permissions
from convviz.facts import facts
from convviz.facts.i18n.current_language import language, use_locale
from convviz.facts.words import sentences
from convviz.features.race import race_slots
from convviz.features.race.race_process import RaceProcess
from convviz.lab import Race
from convviz.lab.digits import normalized
from convviz.lab.race_worker import Racer
from convviz.lab.tab_data import MAX_RECORDED_BYTES, opening, record
from tests.browser.server import ROOT, wait_until
from tests.lab.narrow_network import narrow_network
from tests.lab.write_idx import write_folder
from tests.run_in_thread import run_apart

RECORDED = facts("features/race/recorded")

say = sentences("features/race")
SMALL = {"verify": False, "batch_size": 20, "epochs": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(write_folder(tmp_path_factory.mktemp("digits")))


class Heard:
    """The messages of a process, and a way to wait for one."""

    def __init__(self, race):
        self.all, self.languages, self._news = [], set(), threading.Condition()
        self.process = RaceProcess(race, self._hear)

    def _hear(self, message):
        with self._news:
            self.all.append(message)
            self.languages.add(language())
            self._news.notify_all()

    def wait(self, condition):
        # Long enough for a process that every other goes before.
        with self._news:
            found = self._news.wait_for(lambda: [message for message in self.all if condition(message)], 300)
        assert found, self.all
        return found[0]

    def sentence(self):
        return self.wait(lambda message: message["type"] == "ended")["sentence"]


class NobodyWaits:
    """Orders that let a race run."""

    paused = False

    def wait(self):
        pass


def is_gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_process_that_cannot_race_or_dies_says_so_in_a_sentence_of_its_starters_language(folder):
    with use_locale("zh-Hant"):
        killed = Heard({"layers": ["rotate"], "data": folder, **SMALL, "epochs": 500})
        died = say("died", code=-9, why=say("silent"))
    refused = Heard({"layers": ["nobody"], "data": folder, **SMALL})
    killed.wait(lambda message: message["type"] == "race" and message["done"])
    os.kill(killed.process.pid, signal.SIGKILL)  # as the system does where memory runs out
    assert (killed.sentence(), killed.languages) == (died, {"zh-Hant"})
    assert "nobody" in refused.sentence()


def test_the_process_ends_when_its_parent_is_killed_and_others_hold_its_pipe(folder):
    race = {"layers": ["rotate"], "data": folder, **SMALL, "epochs": 500}
    script = f"""import os, sys, threading
from convviz.features.race.race_process import RaceProcess
process = RaceProcess({race!r}, lambda message: message.get("done") and reported.set())
reported = threading.Event()
reported.wait()
process.pause()
if not os.fork():  # a worker of the user's: it has the orders' pipe as well
    sys.stdin.read()
    os._exit(0)
print(process.pid, flush=True)
threading.Event().wait()
"""
    command = [sys.executable, "-c", script]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as parent:
        pid = int(parent.stdout.readline())
        assert not is_gone(pid)
        parent.kill()
        wait_until(lambda: is_gone(pid), what="the race has ended")


def test_a_race_that_fails_keeps_what_it_has_measured(folder):
    reported = []
    with narrow_network():
        Racer(Race("rotate", data=folder, **{**SMALL, "epochs": 5}, lr=1e30), NobodyWaits(), reported.append).run()
    assert reported[-1]["type"] == "ended"
    assert "the loss is nan" in reported[-1]["sentence"] or "the loss is inf" in reported[-1]["sentence"]
    assert ", step " in reported[-1]["sentence"]
    (picture,) = [message for message in reported if message["type"] == "race"][-1:]
    assert picture["done"] == len(picture["race"]["plots"][0]["traces"][0]["x"]) > 0


def test_a_misclassified_digit_opens_with_the_gradients_of_the_whole_network(folder):
    with narrow_network():
        race = Race("rotate,XNORConv2d", data=folder, **SMALL, dtype="float64")
        race.run()
        image, label = race.test_image(3), 7
        lane = race.lanes["rotate"]
        found = opening(lane, image, label)
        refused = opening(race.lanes["XNORConv2d"], image, label)
        network = lane.network.eval()
        network.zero_grad()
        F.cross_entropy(network(normalized(image[None], torch.float64)), torch.tensor([label])).backward()
    numbers = {
        name: torch.from_numpy(np.frombuffer(base64.b64decode(part["bytes"])).copy()).reshape(part["shape"])
        for name, part in found.items()
        if isinstance(part, dict) and "bytes" in part
    }
    input = image.double()[None, None] * found["scale"] + found["offset"]
    assert torch.equal(numbers["weight"], network.conv1.weight)
    grad_weight = torch.nn.grad.conv2d_weight(input, numbers["weight"].shape, numbers["grad_output"])
    torch.testing.assert_close(grad_weight, network.conv1.weight.grad)
    torch.testing.assert_close(numbers["grad_output"].sum((0, 2, 3)), network.conv1.bias.grad)
    assert refused["error"].startswith("XNORConv2d cannot be opened on the board: ")


def test_a_race_is_recorded_with_the_command_that_makes_it(folder, tmp_path):
    path = tmp_path / "recorded.json"
    with narrow_network():
        race = Race("rotate", data=folder, **SMALL)
        race.run()
        record(race, "convviz lab", path)
    for found, command in (
        (json.loads(path.read_text()), "convviz lab"),
        (RECORDED, RECORDED["command"]),
    ):
        assert found["command"] == command
        assert found["state"] == "finished"
        assert set(found["made"]) == {"date", "machine"}
        for layer in found["mistakes"]["layers"]:
            assert {str(digit["at"]) for digit in layer["digits"]} == set(found["openings"][layer["name"]])
    assert len(ROOT.joinpath("convviz/features/race/recorded.json").read_bytes()) <= MAX_RECORDED_BYTES
    assert RECORDED["command"].startswith("convviz lab --layers torch,")


def opened():
    """Return an app with its tab Race, and what starts a race in it."""
    app = convviz.App(state={"tab": "race"})

    def act(message):
        app._messages.receive({"type": "act", "tab": "race", "message": message}, [])

    act({"type": "refresh"})
    return app, app._messages.made["race"], lambda **chosen: act({"type": "start", "chosen": chosen})


def test_who_closes_the_tab_or_the_app_ends_the_race():
    async def check():
        app, tab, start = opened()
        ends = {"tab": lambda: app.set_trait("tab", "matrix"), "app": app.close}
        for end in ends.values():
            app.tab = "race"
            start(layers=["rotate"])
            assert tab.data()["state"] == "starting"
            pid = tab.process.pid
            assert not is_gone(pid)
            end()
            assert is_gone(pid)
            assert tab.process is None
            assert tab.data()["state"] == "stopped" or app.comm is None

    run_apart(check())


def test_what_cannot_be_chosen_is_refused_in_a_sentence_and_nothing_starts(monkeypatch, tmp_path):
    _, tab, start = opened()
    for chosen, words in (
        ({"epochs": 0}, say("choice.number", name="epochs", low=1, high=20, got="0")),
        ({"train": True}, "images to learn from: a whole number from 64 to 4000: got True"),
        ({"layers": ["torch", "nobody"]}, "got ['torch', 'nobody']; choose some"),
        ({"layers": []}, "got []; choose some"),
    ):
        start(**chosen)
        assert words in tab.data()["failed"]
    tab.receive({"type": "open", "layer": "rotate", "at": "1"})
    assert tab.data()["failed"] == say("open.gone", got="'rotate', '1'")
    for variable in permissions.SERVED_VARIABLES:
        with monkeypatch.context() as served:
            served.setenv(variable, "of a visitor")
            start(layers=["rotate"])
            assert tab.data()["failed"] == tab.data()["why_not"] == say("off"), variable
            assert not tab.data()["own"], f"a visitor names no module: {variable}"
    monkeypatch.setenv(permissions.SERVED_VARIABLES[0], "of a visitor")
    assert tab.process is None
    assert tab.data()["recorded"]
    monkeypatch.setenv(race_slots.RACES_VARIABLE, "2")
    monkeypatch.setenv(race_slots.FOLDER_VARIABLE, str(tmp_path))
    tab.refresh()
    assert tab.data()["why_not"] == ""
    held = [race_slots.take_slot() for _ in range(2)]
    start(layers=["rotate"])
    assert tab.data()["failed"] == say("room", count=2)
    assert tab.process is None
    held[0].close()
    race_slots.take_slot().close()
    monkeypatch.setenv(race_slots.FOLDER_VARIABLE, str(tmp_path / "gone"))
    start(layers=["rotate"])
    assert tab.data()["failed"] == say("no_start", why="No such file or directory"), "no folder of the server's"
