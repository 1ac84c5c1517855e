#!/usr/bin/env python3
"""How long a hook takes from its start to its answer, as a process: `ghost hook claude` beside a hook of one line of shell and one of Python.

  benches/hook.py [PROGRAM]

PROGRAM is target/release/ghost unless named. 200 runs of each, one after the other, in a session that goes on: all records lie in one audit file.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

RUNS = 200
SHELL = ["/bin/sh", "-c", 'read call; case "$call" in *"rm -rf"*) exit 2;; esac']
PYTHON = ["python3", "-c", "import json, sys; sys.exit(2 if 'rm -rf' in json.load(sys.stdin)['tool_input']['command'] else 0)"]
COMMANDS = ["ip route", "ss -tlnp | grep 5432", "rm -rf /", "az vm delete -n web-1 -g prod"]


def call(command):
    input_ = {"command": command}
    body = {"session_id": "s", "cwd": "/tmp", "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    return json.dumps(body | {"transcript_path": "/tmp/t", "tool_use_id": "t1", "tool_input": input_}).encode()


def measure(name, words, text, home):
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run(words, input=text, capture_output=True, env={"PATH": os.environ["PATH"], "HOME": home})
        times.append(1000 * (time.perf_counter() - began))
    times.sort()
    half, most = times[RUNS // 2], times[RUNS * 95 // 100]
    print(f"{name:<48} p50 {half:5.1f} ms   p95 {most:5.1f} ms")


if sys.argv[1:2] in (["-h"], ["--help"]):
    print(__doc__)
    sys.exit()
program = sys.argv[1] if len(sys.argv) > 1 else str(pathlib.Path(__file__).resolve().parents[1] / "target/release/ghost")
with tempfile.TemporaryDirectory() as home:
    measure("a line of sh", SHELL, call("ip route"), home)
    measure("a line of Python", PYTHON, call("ip route"), home)
    for turn in ("", ", 800 records later"):
        for command in COMMANDS:
            measure(f"{command}{turn}", [program, "hook", "claude"], call(command), home)
