"""The line for kernels, and when a kernel rests or hangs: pure logic, no server and no clock."""

import pytest

from convviz.serve.places import Places
from convviz.serve.pulse import Clock, Pulse


class Somebody:
    """Keeps what a visitor hears."""

    def __init__(self):
        self.heard = []

    def hear(self, place):
        self.heard.append(place)


def people(count):
    return [Somebody() for _ in range(count)]


def test_who_finds_no_place_waits_in_line_and_hears_each_step_of_it_once():
    places = Places(most=1, starts=0)
    first, second, third, fourth = people(4)
    for each in (first, second, third, fourth):
        places.wait(each)
    assert [each.heard for each in (first, second, third, fourth)] == [[0], [1], [2], [3]]
    assert (places.held, places.waiting) == (1, 3)
    places.started(first)
    assert second.heard == [1], "a start that is over gives no place back"
    places.leave(third)
    assert [each.heard for each in (second, third, fourth)] == [[1], [2], [3, 2]], "who goes leaves the line"
    places.leave(first)
    assert [each.heard for each in (second, fourth)] == [[1, 0], [3, 2, 1]]
    places.leave(second)
    places.leave(fourth)
    assert (places.held, places.waiting) == (0, 0)


def test_only_so_many_start_at_a_time_first_come_first_served():
    places = Places(most=0, starts=2)
    first, second, third, fourth = everybody = people(4)
    for each in everybody:
        places.wait(each)
    assert [each.heard for each in everybody] == [[0], [0], [1], [2]]
    places.started(second)
    assert [third.heard, fourth.heard] == [[1, 0], [2, 1]]
    places.leave(first)  # while it starts
    assert fourth.heard == [2, 1, 0]
    assert (places.held, places.waiting) == (3, 0)


def test_who_cannot_wait_gets_a_place_only_where_nobody_does():
    places = Places(most=2, starts=1)
    first, second, third, fourth = people(4)
    assert places.enter(first)
    places.wait(second)
    assert second.heard == [1], "one starts already"
    assert not places.enter(third), "nobody is overtaken"
    places.started(first)
    assert second.heard == [1, 0]
    assert not places.enter(third), "both places are taken"
    places.leave(first)
    assert places.enter(third), "although one starts: there is no waiting for it"
    assert not places.enter(fourth)
    assert third.heard == [], "it knows by the answer"


def test_as_many_as_come_start_where_there_is_no_limit():
    places = Places(most=0, starts=0)
    for each in people(50):
        places.wait(each)
        assert each.heard == [0]


LIMITS = {"idle_s": 600.0, "hung_s": 30.0}


@pytest.mark.parametrize(
    ("said", "now", "busy", "why"),
    [
        ([], 600, False, ""),
        ([], 601, False, "idle"),  # a page whose front end never came
        ([("ask", 100), ("answer", 100)], 700, False, ""),
        ([("ask", 100), ("answer", 100)], 701, False, "idle"),
        ([("answer", 500)], 701, False, ""),  # a kernel that speaks by itself is at work
        ([("ask", 100)], 130, False, ""),
        ([("ask", 100)], 131, False, "hung"),  # stopped: it does not even say that it is busy
        ([("ask", 100), ("ask", 129)], 131, False, "hung"),  # who asks again has not been answered
        ([("ask", 100), ("answer", 101)], 131, True, ""),
        ([("ask", 100), ("answer", 101)], 132, True, "hung"),  # busy, and says nothing else
        ([("ask", 100), ("answer", 101), ("answer", 120)], 132, True, ""),  # it goes on
        ([], 900, True, ""),  # it still runs the notebook, which has limits of its own
    ],
)
def test_kernel_rests_after_a_silence_and_hangs_when_it_does_not_answer(said, now, busy, why):
    pulse = Pulse(0.0)
    for what, when in said:
        getattr(pulse, what)(float(when))
    assert pulse.trouble(float(now), busy=busy, **LIMITS) == why
    assert pulse.trouble(float(now), busy=busy, idle_s=0, hung_s=0) == "", "no limits, no end"


def test_a_page_that_has_not_said_anything_yet_may_be_slow():
    pulse = Pulse(0.0)
    assert pulse.trouble(119.0, busy=False, idle_s=3, hung_s=0) == ""
    assert pulse.trouble(121.0, busy=False, idle_s=3, hung_s=0) == "idle"
    pulse.ask(121.0)
    pulse.answer(121.0)
    assert pulse.trouble(124.0, busy=False, idle_s=3, hung_s=0) == ""
    assert pulse.trouble(125.0, busy=False, idle_s=3, hung_s=0) == "idle"


def test_clock_of_a_server_that_slept_has_not_gone_on():
    clock = Clock(now=1000.0, most=2.0)
    assert clock.look(1001.0) == 1.0
    assert clock.look(8000.0) == 3.0
    assert clock.look(8001.5) == 4.5
