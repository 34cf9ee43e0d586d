#!/usr/bin/env python3
"""Strangers attack a running job: another user of its host, and a third host.

    run.py <driver> <stranger> [--all] [--row NAME]

One of them attacks, by turn (TESSERA_TURN, tests/running/turns.py), or both do, one after the other.
The job must end with its bits, tell what it has refused, and keep no memory and no descriptors; what a
connection costs it in processor time is printed. --all sends 100 000 connections, to one process,
instead of some thousands. Needs no root, but without it the stranger is the same user and there is
only one host.
"""
import argparse
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / folder) for folder in ("network/faults", "hosts", "running")]
from faults import Hosts, why_not  # noqa: E402
from run import HANGS, MPIRUN, Run, last_run  # noqa: E402
from turns import one_by_turn, taken  # noqa: E402

NOBODY = 65534
HEARTBEATS_OF_ANOTHER_JOB = 200
CONNECTIONS = ("garbage", "truncated", "nothing", "forged", "replayed", "of another job", "silent",
               "slow", "relayed")
LISTENS, BOUND = "0A", "07"
# Of a job of two processes that nobody attacks: 41 cells, to each of which process p has added p + 1
# times its number from 1.
BITS = "sum 2583 bits c702ad740565e0a1 0b995f0aa9bc8796"
# Every connection of the attack counts, but a few may still be waiting to be accepted at the end.
TOLERANCE = 0.01
MOST_GUESTS = 64  # that an address server keeps
NEW_CONNECTIONS = 4  # of the job's processes to each other


class Process:
    """One of the job, from outside."""

    def __init__(self, pid):
        self.folder = pathlib.Path(f"/proc/{pid}")

    def descriptors(self):
        return len(list((self.folder / "fd").iterdir()))

    def resident_kib(self):
        return int(re.search(r"VmRSS:\s+(\d+)", (self.folder / "status").read_text()).group(1))

    def service_seconds(self):
        """Processor time of the thread that answers others."""
        for task in (self.folder / "task").iterdir():
            if (task / "comm").read_text() == "tessera-calls\n":
                return int((task / "schedstat").read_text().split()[0]) / 1e9
        raise AssertionError("no process answers others")

    def ports(self, table, state):
        """Its own sockets of such a state, as (address, port)."""
        own = set()
        for descriptor in (self.folder / "fd").iterdir():
            try:
                own.update(re.findall(r"socket:\[(\d+)\]", os.readlink(descriptor)))
            except OSError:
                pass
        found = []
        for line in (self.folder / "net" / table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == state and fields[9] in own:
                address, port = fields[1].split(":")
                found.append((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
        return found


class Sampler:
    """Looks at processes several times a second."""

    def __init__(self, processes):
        self.processes = processes
        self.samples = []
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def __enter__(self):
        self.wall_seconds = -time.monotonic()
        self.began = sum(process.service_seconds() for process in self.processes)
        self.thread.start()
        return self

    def __exit__(self, *_):
        while len(self.samples) < 3 and self.thread.is_alive():  # on a busy machine
            time.sleep(0.05)
        self.stopped.set()
        self.thread.join()
        self.wall_seconds += time.monotonic()
        self.seconds = sum(process.service_seconds() for process in self.processes) - self.began

    def look(self):
        while not self.stopped.wait(0.1):
            self.samples.append([(process.descriptors(), process.resident_kib())
                                 for process in self.processes])

    def most(self, part):
        """The most descriptors and KiB of a process in the first third (0) to the last one (2)."""
        third = len(self.samples) // 3
        looks = [look for all_of in self.samples[part * third:(part + 1) * third] for look in all_of]
        return max(look[0] for look in looks), max(look[1] for look in looks)


class Plan:
    """How many of each kind, and where the job and its strangers are."""

    def __init__(self, is_long, hosts=None):
        self.hosts = hosts
        self.connections = 100_000 if is_long else 2000
        self.datagrams = 0 if not hosts else 20_000 if is_long else 1000
        self.foreigners = 200
        self.messages = 200 if is_long else 20
        self.pause_ms = 20 if is_long else 2  # of the job, so that its own calls cost little
        self.seconds = HANGS + self.connections // 300  # the job's limit

    def launcher(self):
        if self.hosts:
            return [HERE.parent / "hosts" / "hosts-mpirun", "-H", "h1:1,h2:1"]
        return ["mpirun", "-n", "2", "--timeout", str(self.seconds), *MPIRUN[3:]]

    def stranger(self, *command):
        """A command that runs where the strangers are, as nobody where this is root."""
        user = [] if os.geteuid() else ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                                        "--clear-groups"]
        place = [HERE.parent / "hosts" / "hosts", "exec", "h3"] if self.hosts else []
        return [*place, *user, *command]

    def environment(self):
        return self.hosts.variables if self.hosts else {}

    def tell_stranger(self, *command):
        """Runs a command of a stranger; its output."""
        done = subprocess.run(self.stranger(*command), env={**os.environ, **self.environment(),
                              "UCX_TLS": "tcp", "UCX_LOG_LEVEL": "fatal"},
                              stdout=subprocess.PIPE, text=True, timeout=self.seconds)
        assert done.returncode == 0, f"{command[1:]} ends with {done.returncode}: {done.stdout}"
        return done.stdout


def words(places):
    return ",".join(f"{address}:{port}" for address, port in places)


class Job:
    """A job with its ports, told what to do by files in its folder."""

    def __init__(self, run, plan, folder, driver):
        pids = run.pids(2)
        if plan.hosts:  # which number their processes themselves
            pids = plan.hosts.processes_of(driver)
        self.processes = [Process(pid) for pid in pids]
        listening = {place for process in self.processes for place in process.ports("tcp", LISTENS)}
        self.servers = {place_of(path.read_text()) for path in folder.glob("server.*")}
        assert len(self.servers) == 2 and self.servers < listening, f"{self.servers}, {listening}"
        self.foreign = listening - self.servers
        self.udp = [place for process in self.processes for place in process.ports("udp", BOUND)]


class Attacked:
    """An attack: the job, and what was sent."""

    def __init__(self, driver, stranger, plan):
        self.driver, self.stranger, self.plan = driver, stranger, plan
        with tempfile.TemporaryDirectory(prefix="tessera-strangers.", dir="/var/tmp") as folder:
            self.folder = pathlib.Path(folder)
            self.folder.chmod(0o755)
            self.run = self.job(self.attack)

    def job(self, meanwhile=None):
        run = Run([self.driver, str(self.folder), str(self.plan.pause_ms)], meanwhile,
                  self.plan.launcher(), **self.plan.environment(),
                  TESSERA_TIMEOUT=str(self.plan.seconds), TESSERA_ROUTE="ucx", TESSERA_REPORT="1",
                  TESSERA_SILENCE="5", UCX_LOG_LEVEL="fatal")
        run.ends_well(2)
        return run

    def attack(self, run):
        try:
            self.attacked = Job(run, self.plan, self.folder, self.driver)
            with Sampler(self.attacked.processes) as self.idle:
                time.sleep(0.5)
            with Sampler(self.attacked.processes) as self.under_attack:
                self.sent = self.connect()
            self.descriptors_after = self.descriptors_at_rest()
            self.sent.update(self.send_messages())
            self.knock_at_foreign()
        finally:
            for name in "meet", "end":
                (self.folder / name).touch()

    def descriptors_at_rest(self):
        """The most of a process, once the last guests are gone."""
        end = time.monotonic() + HANGS / 2
        while True:
            most = max(process.descriptors() for process in self.attacked.processes)
            if most <= self.idle.most(0)[0] + NEW_CONNECTIONS or time.monotonic() >= end:
                return most
            time.sleep(0.05)

    def knock_at_foreign(self):
        """Garbage to the ports of UCX and MPI. UCX keeps such connections until it is called."""
        told = self.plan.tell_stranger("python3", str(HERE / "attack.py"), "--foreign",
                                       words(self.attacked.foreign), "--foreigners",
                                       str(self.plan.foreigners))
        self.sent["foreign"] = json.loads(told.splitlines()[-1])["foreign"]

    def connect(self):
        """Everything but what takes UCX to send."""
        plan, job = self.plan, self.attacked
        # All at one process in the long run, since its thread is what is measured.
        servers = sorted(job.servers)[:1 if plan.connections > 10_000 else 2]
        relay = words([("10.77.0.3" if plan.hosts else "127.0.0.1", 20000 + os.getpid() % 10000)])
        said = [str(path) for path in self.folder.glob("said.*")]
        attack = subprocess.Popen(
            plan.stranger("python3", str(HERE / "attack.py"), *said, "--servers", words(servers),
                          "--udp", words(job.udp), "--relay", relay, "--count",
                          str(plan.connections), "--datagrams", str(plan.datagrams)),
            env={**os.environ, **plan.environment()}, stdout=subprocess.PIPE, text=True)
        try:
            assert attack.stdout.readline() == "ready\n"
            plan.tell_stranger(self.stranger, "guest", relay, "0.5")
            for place in job.udp:
                plan.tell_stranger(self.stranger, "heartbeats", words([place]),
                                   str(HEARTBEATS_OF_ANOTHER_JOB))
            (self.folder / "meet").touch()  # its processes ask each other's servers in the crowd
            return json.loads(attack.communicate(timeout=plan.seconds)[0])
        finally:
            attack.kill()
            attack.wait()

    def send_messages(self):
        told = self.plan.tell_stranger(self.stranger, "messages", str(self.folder),
                                       str(self.plan.messages))
        return {name: int(number) for name, number in re.findall(r"^(\w+) (\d+)", told, re.M)}

    def refused(self, kind):
        found = re.search(rf"refused .*?(\d+) {kind}", self.run.output)
        return int(found.group(1)) if found else 0

    def check(self):
        assert bits(self.run) == [BITS], f"{bits(self.run)}"
        sent = self.sent
        assert "answered" not in sent and "stayed" not in sent, f"a stranger got through: {sent}"
        connections = sum(sent.get(kind, 0) for kind in CONNECTIONS)
        assert connections >= self.plan.connections, f"{connections} connections only: {sent}"
        near(self.refused("connections"), connections)
        # Half of the workers take requests, the others take messages of channels.
        assert sent["requests"] == 4 * self.plan.messages == sent["tagged"], f"{sent}"
        assert self.refused("requests") == sent["requests"] // 2, f"{self.refused('requests')}"
        datagrams = sent.get("datagrams", 0) + len(self.attacked.udp) * HEARTBEATS_OF_ANOTHER_JOB
        # The kernel drops those that a busy process does not fetch in time.
        assert datagrams / 2 <= self.refused("heartbeats") <= datagrams, \
            f"{self.refused('heartbeats')} were refused of {datagrams}"
        self.check_growth()
        return connections

    def check_growth(self):
        before = self.idle.most(0)[0]
        (most, kib), (most_later, kib_later) = (self.under_attack.most(part) for part in (0, 2))
        assert max(most, most_later) <= before + MOST_GUESTS + 16, \
            f"descriptors: {before} before the attack, {most}, then {most_later}"
        assert kib_later <= kib + 1024, f"KiB of memory: {kib}, then {kib_later}"
        assert self.descriptors_after <= before + NEW_CONNECTIONS, \
            f"descriptors: {before} before the attack, {self.descriptors_after} after it"

    def show(self, name, connections):
        idle = self.idle.seconds / self.idle.wall_seconds * self.under_attack.wall_seconds
        each = 1e6 * (self.under_attack.seconds - idle) / connections
        print(f"{name}: {connections} connections in {self.sent['milliseconds'] / 1000:.1f} s; "
              f"tessera-calls {each:.1f} us each; descriptors and KiB of a process "
              f"{self.under_attack.most(0)}, then {self.under_attack.most(2)}")
        print("  sent:", ", ".join(f"{count} {kind}" for kind, count in self.sent.items()))
        print("  " + "".join(re.findall("tessera: refused.*", self.run.output)), flush=True)


def place_of(text):
    address, port = text.split(":")
    return address, int(port)


def near(count, expected):
    assert abs(count - expected) <= TOLERANCE * expected + 2, f"{count} were refused of {expected}"


def bits(run):
    return sorted(set(re.findall(r"^sum .*$", run.output, re.M)))


def attacked(name, arguments, hosts=None):
    attack = Attacked(*arguments.programs, Plan(arguments.all, hosts))
    attack.show(name, attack.check())


def another_user(arguments):
    attacked("another user", arguments)


def third_host(arguments):
    with tempfile.TemporaryDirectory(prefix="tessera-strangers.", dir="/var/tmp") as folder, \
            Hosts(3, folder) as hosts:
        attacked("third host", arguments, hosts)


ROWS = {row.__name__: row for row in (another_user, third_host)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs=2)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--row", choices=list(ROWS))
    arguments = parser.parse_args()
    arguments.programs = [os.path.realpath(program) for program in arguments.programs]
    names = [name for name in ROWS if arguments.row in (None, name)]
    if reason := why_not():
        print("third host: skipped:", reason)
        names = [name for name in names if name != "third_host"]
    failed = 0
    for name in one_by_turn(names, "strangers"):
        try:
            ROWS[name](arguments)
        except AssertionError as error:
            failed += 1
            print(f"{name} FAILED: {error}\n{last_run().output[-3000:] if last_run() else ''}")
    print(taken().removeprefix(", "), flush=True)
    return min(1, failed)


if __name__ == "__main__":
    sys.exit(main())
