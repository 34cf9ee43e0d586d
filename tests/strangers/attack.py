#!/usr/bin/env python3
"""A stranger: sends all kinds of wrong things to the open ports of a job, bounded in number and rate.

    attack.py --servers IP:PORT,... [--relay IP:PORT] [--udp IP:PORT,...] [--foreign IP:PORT,...]
              [--count N] [--datagrams N] [--foreigners N] [--rate N] [--user N] [FILE...]

Servers are the address servers of the job, foreign ports those of UCX or MPI; the files hold what
processes of the job have said to servers. At --relay it listens, and passes on what a process of
another job says. Prints what it has sent, as JSON; "answered" counts conversations in which a server
said more than its random bytes.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import select
import selectors
import socket
import struct
import threading
import time

NONCE_BYTES = 16
GREETING_BYTES = 40  # the number of a process, random bytes, and a code
HEARTBEAT_BYTES = 56
SECONDS_TO_ANSWER = 5


class Talk:
    """One connection to a server."""

    def __init__(self, place):
        self.socket = socket.create_connection(place, timeout=SECONDS_TO_ANSWER)
        self.socket.setblocking(False)
        self.heard = b""


class Attack:
    """What has been sent so far. One thread but for the relay's."""

    def __init__(self, arguments):
        self.servers = arguments.servers
        self.sent = collections.Counter()
        self.random = random.Random(5)
        # What genuine processes have said, of this job and of another.
        self.said = [pathlib.Path(name).read_bytes() for name in arguments.said]
        self.relayed = []
        self.talks = selectors.DefaultSelector()
        self.slow = []  # (when to send the next byte, talk), the earliest first

    def begin(self, kind, place, said=b""):
        """A connection that stays until the server closes it."""
        self.sent[kind] += 1
        talk = Talk(place)
        if said:
            talk.socket.send(said)
        self.talks.register(talk.socket, selectors.EVENT_READ, talk)
        return talk

    def end(self, talk):
        if len(talk.heard) > NONCE_BYTES:
            self.sent["answered"] += 1
        self.talks.unregister(talk.socket)
        talk.socket.close()

    def say_and_go(self, kind, place, said):
        self.sent[kind] += 1
        with socket.create_connection(place, timeout=SECONDS_TO_ANSWER) as server:
            if said:
                server.sendall(said)

    # Each kind of conversation.

    def garbage(self, place):
        self.say_and_go("garbage", place, self.random.randbytes(self.random.randrange(1, 2000)))

    def garbage_that_waits(self, place):
        self.begin("garbage", place, self.random.randbytes(self.random.randrange(GREETING_BYTES, 500)))

    def nothing(self, place):
        self.say_and_go("nothing", place, b"")

    def truncated(self, place):
        said = self.random.choice(self.said or [bytes(GREETING_BYTES)])
        self.say_and_go("truncated", place, said[:self.random.randrange(1, len(said))])

    def forged(self, place):
        """A process that the job has, with a guessed code."""
        self.begin("forged", place, struct.pack("<q", self.random.randrange(-1, 4)) +
                   self.random.randbytes(GREETING_BYTES - 8))

    def replayed(self, place):
        """A whole conversation as somebody had it before: the server waits for no more."""
        self.begin("replayed", place, b"".join(self.random.sample(self.said, min(2, len(self.said)))))

    def of_another_job(self, place):
        if self.relayed:
            self.begin("of another job", place, self.random.choice(self.relayed))
        else:
            self.forged(place)

    def silent(self, place):
        self.begin("silent", place)

    def one_byte_a_second(self, place):
        talk = self.begin("slow", place)
        self.slow.append((time.monotonic() + 1, talk))

    QUICK = garbage, garbage_that_waits, truncated, nothing, forged, replayed, of_another_job
    LASTING = silent, one_byte_a_second

    def hear(self, talk):
        try:
            heard = talk.socket.recv(4096)
        except OSError:
            heard = b""
        talk.heard += heard
        if heard and len(talk.heard) == NONCE_BYTES:
            try:  # a greeting of this job was replayed, and the proof is still missing
                talk.socket.send(self.random.choice([s for s in self.said if len(s) == NONCE_BYTES]))
            except (OSError, IndexError):
                pass
        if not heard:
            self.end(talk)

    def say_bytes(self):
        """One more of those who speak slowly."""
        while self.slow and self.slow[0][0] <= time.monotonic():
            talk = self.slow.pop(0)[1]
            try:
                talk.socket.send(b"\1")
                self.slow.append((time.monotonic() + 1, talk))
            except OSError:
                pass  # closed by the server

    def listen(self, seconds):
        """Hears what servers say, for so long."""
        end = time.monotonic() + seconds
        while True:
            for key, _ in self.talks.select(max(0, end - time.monotonic())):
                self.hear(key.data)
            if time.monotonic() >= end:
                return

    def connect_often(self, count, rate):
        began = time.monotonic()
        for i in range(count):
            place = self.servers[i % len(self.servers)]
            kind = self.LASTING[i // 20 % 2] if i % 20 == 0 else self.QUICK[i % len(self.QUICK)]
            try:
                kind(self, place)
            except OSError as error:
                self.sent[f"error: {type(error).__name__} in {kind.__name__}"] += 1
            if i % 20 == 0:
                self.say_bytes()
            self.listen(max(0, began + i / rate - time.monotonic()))
        self.sent["milliseconds"] = int(1000 * (time.monotonic() - began))

    def finish(self):
        """A server lets nobody stay."""
        end = time.monotonic() + SECONDS_TO_ANSWER
        while self.talks.get_map() and time.monotonic() < end:
            self.say_bytes()
            self.listen(0.02)
        if self.talks.get_map():
            self.sent["stayed"] = len(self.talks.get_map())

    def send_datagrams(self, places, count, rate):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            began = time.monotonic()
            for i in range(count):
                size = HEARTBEAT_BYTES if i % 3 else self.random.randrange(1500)
                datagram = self.random.randbytes(size)
                if i % 3 == 2:  # all right but for the code
                    datagram = struct.pack("<qqqQ?c6x", 1, 0, 1, i, True, b"X") + datagram[40:]
                sender.sendto(datagram, places[i % len(places)])
                self.sent["datagrams"] += 1
                time.sleep(max(0, began + i / rate - time.monotonic()))

    def knock_at_foreign(self, places, count):
        """Garbage to listeners that are not Tessera's."""
        for i in range(count):
            try:
                with socket.create_connection(places[i % len(places)], SECONDS_TO_ANSWER) as server:
                    server.sendall(self.random.randbytes(self.random.randrange(1, 500)))
                self.sent["foreign"] += 1
            except OSError as error:
                self.sent[f"error: {type(error).__name__} in foreign"] += 1

    def relay(self, place):
        """Passes bytes between guests and the first server for ever."""
        listener = socket.create_server(place)

        def serve():
            while True:
                guest = listener.accept()[0]
                self.sent["relayed"] += 1
                with guest, socket.create_connection(self.servers[0], SECONDS_TO_ANSWER) as server:
                    self.pass_on(guest, server)
        threading.Thread(target=serve, daemon=True).start()

    def pass_on(self, guest, server):
        """Until one of them closes."""
        other = {guest: server, server: guest}
        end = time.monotonic() + SECONDS_TO_ANSWER
        while time.monotonic() < end:
            for ready in select.select([guest, server], [], [], 1)[0]:
                try:
                    heard = ready.recv(4096)
                    if not heard:
                        return
                    if ready is guest and len(heard) == GREETING_BYTES:
                        self.relayed = self.relayed[-100:] + [heard]
                    if ready is server and len(heard) > NONCE_BYTES:
                        self.sent["answered"] += 1
                    other[ready].sendall(heard)
                except OSError:
                    return


def places(text):
    return [(part.rsplit(":", 1)[0], int(part.rsplit(":", 1)[1])) for part in text.split(",") if part]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("said", nargs="*")
    for name in "servers", "relay", "udp", "foreign":
        parser.add_argument(f"--{name}", type=places, default=[])
    for name, default in ("count", 0), ("datagrams", 0), ("foreigners", 0), ("rate", 1000), ("user", 0):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    if arguments.user and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(arguments.user)
        os.setuid(arguments.user)
    attack = Attack(arguments)
    for place in arguments.relay:
        attack.relay(place)
    print("ready", flush=True)
    if arguments.udp:
        attack.send_datagrams(arguments.udp, arguments.datagrams, arguments.rate)
    if arguments.foreign:
        attack.knock_at_foreign(arguments.foreign, arguments.foreigners)
    attack.connect_often(arguments.count, arguments.rate)
    attack.finish()
    print(json.dumps(attack.sent), flush=True)


if __name__ == "__main__":
    main()
