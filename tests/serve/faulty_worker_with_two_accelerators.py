"""As faulty_worker_answers.py, in a process where torch finds two accelerators."""

import convviz.ops.devices_and_dtypes
from tests.serve.faulty_worker_answers import answered as answered

convviz.ops.devices_and_dtypes.available_devices = lambda: ("cpu", "cuda:0", "cuda:1")
