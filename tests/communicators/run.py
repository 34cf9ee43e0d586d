#!/usr/bin/env python3
"""Programs that have MPI already, at every thread level, and hand a communicator to their Runtimes.

    run.py <driver> [scenario...]
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "network" / "faults"))
from run import Run, main  # noqa: E402

# MPI numbers them upwards; which number is which is the implementation's.
SINGLE, FUNNELED, SERIALIZED, MULTIPLE = "0", "1", "2", "3"


def job(driver, level, devices, **environment):
    Run(["-n", "4", driver, level, devices], **environment).ends_well(4)


def single(driver):
    """With MPI_THREAD_SINGLE a process drives one device and starts no thread."""
    job(driver, SINGLE, "1")


def funneled(driver):
    """With MPI_THREAD_FUNNELED the thread that initialised MPI makes the Runtimes."""
    job(driver, FUNNELED, "2")


def serialized(driver):
    """With MPI_THREAD_SERIALIZED any thread may."""
    job(driver, SERIALIZED, "1", TESSERA_ROUTE="mpi")


def multiple(driver):
    """So it may with MPI_THREAD_MULTIPLE."""
    job(driver, MULTIPLE, "2", TESSERA_CHECK="communication")


if __name__ == "__main__":
    sys.exit(main([single, funneled, serialized, multiple], __doc__))
