"""As faulty_worker_answers.py, in a process where torch finds two accelerators."""

from tests.serve.faulty_worker_answers import answered as answered
from tests.serve.faulty_worker_answers import devices_and_dtypes

devices_and_dtypes.available_devices = lambda: ("cpu", "cuda:0", "cuda:1")
