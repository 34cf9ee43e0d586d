#!/usr/bin/env python3
"""Kills, stops, holds and hides processes, and checks what the others make of it.

    run.py <driver> [scenario...]
"""
import argparse
import concurrent.futures
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "running"))
from turns import one_by_turn, taken  # noqa: E402

# A job that has not ended after so many seconds hangs, however busy the machine is.
HANGS = 180
MPIRUN = ["mpirun", "--timeout", str(HANGS), "--oversubscribe", "--bind-to", "none",
          "--mca", "mpi_yield_when_idle", "1"]
# mpirun kills the others some seconds after one has died: they are to speak before, on a busy
# machine, too. mpirun ends some multiple of this (1 by default) later, whether they live or not.
PATIENT = {"OMPI_MCA_odls_base_sigkill_timeout": "3"}
CRASHES = (signal.SIGILL, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


_thread = threading.local()


@contextlib.contextmanager
def session_folder():
    """The variables that give one mpirun a folder of its own for its session.

    They would share one in /tmp, which an mpirun that ends removes if it is empty: one that begins at
    that moment fails (Open MPI 4.1: "A call to mkdir was unable to create the desired directory")."""
    with tempfile.TemporaryDirectory(prefix="tessera-mpi.", ignore_cleanup_errors=True) as folder:
        yield {"OMPI_MCA_orte_tmpdir_base": folder}


def last_run():
    """The last job that the calling thread has started; None if it has started none."""
    return getattr(_thread, "last_run", None)


class Run:
    """A job under mpirun, its output, and how long it took."""

    def __init__(self, arguments, meanwhile=None, launcher=None, **environment):
        settings = {**os.environ, **ROOT, "TESSERA_SILENCE": "2", **environment}
        _thread.last_run = self
        self.code = None  # until it has ended
        self.output = ""
        self.lines = []  # with their times
        with session_folder() as session:
            self._run((launcher or MPIRUN) + arguments, {**settings, **session}, meanwhile)
        self.has_not_crashed()

    def _run(self, command, settings, meanwhile):
        began = time.monotonic()
        self.job = subprocess.Popen(command, env=settings, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        if meanwhile:
            meanwhile(self)
        self.code = self.job.wait()
        self.reader.join()
        self.seconds = time.monotonic() - began

    def _read(self):
        for line in self.job.stdout:
            self.output += line
            self.lines.append((time.monotonic(), line))

    def pids(self, count):
        """The processes of the job, once they have said their number. A fault that comes when the job
        has ended tests nothing."""
        while True:
            found = [int(pid) for pid in re.findall(r"^pid (\d+)$", self.output, re.M)]
            if len(found) >= count:
                return found
            if self.job.poll() is not None:
                self.reader.join(5)  # what it has said is part of the report
                raise AssertionError(f"the job ended before the fault, with code {self.job.poll()}")
            time.sleep(0.02)

    def time_of(self, pattern):
        """When it was first said; None if it was not."""
        return next((when for when, line in self.lines if re.search(pattern, line)), None)

    def mpirun_has_crashed(self):
        """mpirun itself may crash: seen in PMIx 4.2.2, when it ended after an abort. Its code then says
        nothing of the job."""
        return self.code < 0 and "(PMIx_server_finalize+" in self.output

    def has_not_crashed(self):
        """However a job ends, none of its processes ends by a mistake of its own. mpirun ends with 128
        and the signal of the first, and names the signals."""
        for number in CRASHES:
            assert self.code not in (-number, 128 + number) or self.mpirun_has_crashed(), \
                f"a process has crashed: {self.code}"
            assert not re.search(rf"signal {number:d}\b", self.output, re.I), \
                f"a process has crashed by signal {number:d}"

    def fails(self):
        """The job ends by itself and in an error."""
        assert self.code != 0, "the job ended well"
        assert "time limit for job execution has been reached" not in self.output, \
            f"the job hangs: it was ended after {self.seconds:.0f} s"

    def says(self, *patterns):
        for pattern in patterns:
            assert re.search(pattern, self.output), f"no '{pattern}'"

    def ends_well(self, count):
        assert self.code == 0, f"exit code {self.code}"
        assert len(re.findall(r"^done$", self.output, re.M)) == count, "some process is not done"
        assert "error:" not in self.output


ENVIRONMENTS = [{}, {"TESSERA_ROUTE": "mpi"}, {"TESSERA_ROUTE": "ucx"}, {"TESSERA_DEVICES": "2"}]


def segments():
    """What this library could have left in /dev/shm."""
    return {name for name in os.listdir("/dev/shm") if "tessera" in name}


def killed(driver):
    """A killed process is named at once, with what was waited for, and nothing of the job remains."""
    before = segments()
    for environment in one_by_turn(ENVIRONMENTS, "killed"):
        run = Run(["-n", "3", driver, "killed"], **environment, **PATIENT)
        run.says(r"PeerFailed: process 1 \(pid \d+\) has died, while device \d waits",
                 r"statement \d+ \(driver.cpp:\d+\)")
        run.fails()
        assert not segments() - before, f"left behind: {segments() - before}"


def stopped(driver):
    """A stopped process is named after the silence, with what was waited for: its message, or that it
    reads an earlier one, whichever wait was looked at first."""
    wait = (r"device \d waits (for message \d+ of device \d for|"
            r"until device \d has read its message \d+, at) statement \d+ \(driver.cpp:\d+\)")
    for environment in one_by_turn(ENVIRONMENTS, "stopped"):
        run = Run(["-n", "3", driver, "stopped"], **environment)
        run.says(r"PeerFailed: process 1 \(pid \d+\) has given no heartbeat for 2 s "
                 r"\(it is stopped\), while " + wait)
        run.fails()
        assert run.seconds > 2, f"{run.seconds} s"


def killed_at_the_end(driver):
    """Who is done and waits for the others sees that one of them has died."""
    run = Run(["-n", "2", driver, "killed-at-the-end"])
    # On a slow machine mpirun may be the first to see it.
    run.fails()
    run.says(r"PeerFailed: process 1 \(pid \d+\) has died, while this process is done|"
             r"process rank 1 .* exited on signal 9")


def exits(driver):
    """A process that leaves early, with code 0, has died to the others, and the job has failed."""
    run = Run(["-n", "3", driver, "exits"], **PATIENT)
    run.says(r"PeerFailed: process 1 \(pid \d+\) has died, while device \d waits")
    run.fails()


def throws(driver):
    """What one process throws is what the others throw too."""
    run = Run(["-n", "3", driver, "throws"])
    run.says(r"\[1\]: error: Error: process 1 has had enough",
             r"\[0\]: error: PeerFailed: process \d gave up: process 1 has had enough",
             r"\[2\]: error: PeerFailed: process \d gave up: process 1 has had enough")


def late(driver):
    """A late process is spoken of and waited for, longer than the silence."""
    run = Run(["-n", "2", driver, "late"], TESSERA_STALL="0.5")
    run.ends_well(2)
    run.says(r"warning: device 0 waits for message 51 of device 1 .* may only be late")


def suspended(driver):
    """A job that is suspended as a whole goes on as if nothing had been."""
    def suspend(run):
        pids = run.pids(2)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(3)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    run = Run(["-n", "2", driver, "slow", "1000"], suspend, TESSERA_SILENCE="1")
    run.ends_well(2)


def hold(pid, seconds):
    """As a debugger does."""
    libc = ctypes.CDLL(None, use_errno=True)
    attach, detach = 16, 17
    tasks = pathlib.Path(f"/proc/{pid}/task")
    assert tasks.exists(), "the job ended before the fault"
    threads = [int(thread.name) for thread in tasks.iterdir()]
    for thread in threads:
        assert libc.ptrace(attach, thread, None, None) == 0, os.strerror(ctypes.get_errno())
        os.waitpid(thread, 0x40000000)  # __WALL
    time.sleep(seconds)
    for thread in threads:
        libc.ptrace(detach, thread, None, None)


def held(driver):
    """A process that a debugger holds is alive."""
    def hold_one(run):
        pid = run.pids(2)[1]
        hold(pid, 3)
    run = Run(["-n", "2", driver, "slow", "1000"], hold_one, TESSERA_SILENCE="1")
    run.ends_well(2)


def hidden(driver):
    """Where /proc does not lead to the other process, as between containers, it passes its memory by a
    socket."""
    if not shutil.which("unshare") or os.geteuid() != 0:
        print("skipped: needs root and unshare")
        return
    run = Run(["--mca", "btl_vader_single_copy_mechanism", "none", "-n", "1", driver, "none", ":",
               "-n", "1", "unshare", "--pid", "--fork", driver, "none"], TESSERA_ROUTE="shm")
    run.ends_well(2)
    assert "a slower route" not in run.output


def unread(driver):
    """A process that waits for its MPI messages to be read is part of a circle too."""
    run = Run(["-n", "2", driver, "unread"], TESSERA_ROUTE="mpi")
    run.says(r"Mismatch: .*none of these waits can end", r"driver.cpp:\d+")
    run.fails()


SCENARIOS = [killed, stopped, killed_at_the_end, exits, throws, late, suspended, held, hidden,
             unread]


def attempt(scenario, driver):
    """What is wrong with what a scenario shows; none if it is as it should be."""
    try:
        scenario(driver)
        return None
    except AssertionError as error:
        return f"{error}\n{last_run().output[-4000:] if last_run() else ''}"


def last_words():
    """The code and the first error of the thread's last job."""
    run = last_run()
    if run is None:
        return ""
    found = re.search(r"(?:error|warning): (.*)", run.output)
    return f", code {run.code}" + (f": {found.group(1)}" if found else "")


def examine(scenario, driver):
    """Runs a scenario on a thread of the pool: whether it is as it should be, and its line."""
    _thread.last_run = None
    began = time.monotonic()
    wrong = attempt(scenario, driver)
    seconds = time.monotonic() - began
    verdict = f"FAILED: {wrong}" if wrong else "ok"
    return not wrong, f"{scenario.__name__}: {verdict} ({seconds:.1f} s{taken()}){last_words()}"


def run_all(scenarios, driver, jobs):
    """Runs the scenarios, so many at a time, since they mostly wait; the number of those that failed."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(examine, scenario, driver) for scenario in scenarios]
        try:
            for run in concurrent.futures.as_completed(runs):
                is_right, line = run.result()
                failed += not is_right
                print(line, flush=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # where one has thrown or is interrupted
    return failed


def main(scenarios, description):
    """Runs what the command line names; the code of the program."""
    parser = argparse.ArgumentParser(description=description.split("\n\n", maxsplit=1)[0])
    parser.add_argument("driver", help="the program that the jobs run")
    parser.add_argument("scenario", nargs="*", help="only these: " + ", ".join(
        scenario.__name__ for scenario in scenarios))
    parser.add_argument("--jobs", type=int, default=3, help="how many scenarios at a time (3)")
    chosen = parser.parse_args()
    if not os.access(chosen.driver, os.X_OK):
        parser.error(f"{chosen.driver} is no program")
    unknown = set(chosen.scenario) - {scenario.__name__ for scenario in scenarios}
    if unknown:
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}")
    wanted = [scenario for scenario in scenarios
              if not chosen.scenario or scenario.__name__ in chosen.scenario]
    return min(1, run_all(wanted, chosen.driver, chosen.jobs))


if __name__ == "__main__":
    sys.exit(main(SCENARIOS, __doc__))
