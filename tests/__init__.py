"""The tests. One thread per process: workers that each start a thread per core wait for each other."""

import os

# NumPy reads these when it is imported, so they are set before any test module is.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
