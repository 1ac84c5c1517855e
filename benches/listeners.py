#!/usr/bin/env python3
"""How long `/live` takes while a crowd of clients holds connections open.

    benches/listeners.py PROGRAM LAB [SOCKETS]     PROGRAM runs as the bot; LAB is a program with the laboratory, which plays Slack

Needs redis-server. Each row asks 300 times, every time on a new connection, beside SOCKETS connections (2,000) from the same address.
"""

import pathlib
import resource
import socket
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "release"))
from world import World, free_port, get, until  # noqa: E402

ASKED = 300
SHAPES = {
    "none": None,
    "silent": b"",
    "slow headers, a byte a second": b"GET /live HTTP/1.1\r\nHost: a\r\nX-Slow: ",
    "slow bodies, a byte a second": b"POST /slack/events HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n",
    "half-closed": b"GET /",
}


class Crowd:
    """Connections that stay open; whichever the server closes is opened again."""

    def __init__(self, port, count, begins, half_closed):
        self.port, self.begins, self.half_closed = port, begins, half_closed
        self.ended = threading.Event()
        self.sockets = [self.connect() for _ in range(count)]
        self.keeper = threading.Thread(target=self.keep)
        self.keeper.start()

    def connect(self):
        found = socket.socket()
        found.settimeout(2)
        try:
            found.connect(("127.0.0.1", self.port))
            found.sendall(self.begins)
            if self.half_closed:
                found.shutdown(socket.SHUT_WR)
            found.setblocking(False)
        except OSError:
            pass
        return found

    def keep(self):
        slow = self.begins and not self.half_closed
        while not self.ended.wait(1):
            for at, held in enumerate(self.sockets):
                try:
                    closed = held.recv(1) == b""
                except BlockingIOError:
                    closed = False
                except OSError:
                    closed = True
                try:
                    if not closed and slow:
                        held.sendall(b"a")
                except OSError:
                    closed = True
                if closed:
                    held.close()
                    self.sockets[at] = self.connect()

    def end(self):
        self.ended.set()
        self.keeper.join()
        for held in self.sockets:
            held.close()


def ask(port):
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as asked:
        asked.sendall(b"GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        answer = b""
        while part := asked.recv(4096):
            answer += part
    assert answer.startswith(b"HTTP/1.1 200"), answer[:100]
    return (time.perf_counter() - began) * 1000


def measure(name, at, port, crowd_port, count, begins):
    crowd = Crowd(crowd_port, count, begins, name == "half-closed") if begins is not None else None
    taken, failed = [], 0
    for _ in range(ASKED):
        try:
            taken.append(ask(port))
        except (OSError, AssertionError):
            failed += 1
        time.sleep(0.01)
    if crowd:
        crowd.end()
    p99 = statistics.quantiles(taken, n=100)[98] if len(taken) > 1 else float("nan")
    print(f"| {name} | {at} | {statistics.median(taken):.1f} ms | {p99:.1f} ms | {failed} of {ASKED} |", flush=True)


class Separate(World):
    """A world whose bot has an address of its own for probes."""

    probes = None

    def settings(self, bot):
        listen = f'listen = "127.0.0.1:{bot.port}"\n'
        more = f'probes = "127.0.0.1:{self.probes}"\n' if self.probes else ""
        return super().settings(bot).replace(listen, listen + more)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    world = Separate(sys.argv[1], sys.argv[2])
    try:
        bot = world.bot("bot")
        print(f"{count} connections\n\n| crowd | `/live` at | p50 | p99 | failed |\n|---|---|---|---|---|")
        for name, begins in SHAPES.items():
            measure(name, "`listen`", bot.port, bot.port, count, begins)
        bot.stop()
        world.probes = free_port()
        bot.start(wait=False)
        until("its probes answer", lambda: get(f"http://127.0.0.1:{world.probes}/ready")[0] == 200)
        for name, begins in SHAPES.items():
            measure(name, "`probes`", world.probes, bot.port, count, begins)
    finally:
        world.close()


if __name__ == "__main__":
    main()
