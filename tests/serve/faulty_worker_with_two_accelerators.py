"""As faulty_worker_answers.py, in a process where torch finds two accelerators."""

import convviz.ops.device
from tests.serve.faulty_worker_answers import answered as answered

convviz.ops.device.available_devices = lambda: ("cpu", "cuda:0", "cuda:1")
