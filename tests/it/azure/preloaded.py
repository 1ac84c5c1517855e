"""Runs lines of the unmodified az without loading its modules again for each.

Every line runs in a process of its own that is forked from this one. What a line had to load this one loads afterwards, so that the
next line finds it there: that is nine tenths of what a line costs. Nothing of az runs in this process, and no line sees another one.

Prints the path of a socket and ends when its standard input does. A connection is one line: a document with its environment, folder
and words comes in, one with its exit code and what it printed goes out.
"""

import atexit
import importlib
import json
import os
import runpy
import selectors
import shutil
import socket
import sys
import tempfile
import traceback

# az computes paths from its folder when it is loaded: the same name leads each line to the folder of its own.
CONFIG = 100


def run(line, out, err, loaded):
    """Is az, as `python -m azure.cli` starts it."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.dup2(os.open(line["environment"]["AZURE_CONFIG_DIR"], os.O_RDONLY | os.O_DIRECTORY), CONFIG)
    os.environ.clear()
    os.environ.update(line["environment"], AZURE_CONFIG_DIR=FOLDER)
    os.chdir(line["folder"])
    sys.argv = ["az", *line["words"]]
    code = 0
    try:
        runpy.run_module("azure.cli", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(loaded, "\n".join(sys.modules).encode())
    os._exit(code)


def content(file):
    with os.fdopen(file, "rb") as file:
        file.seek(0)
        return file.read().decode()


def load(names):
    for name in names:
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except Exception:
                pass


def main():
    os.dup2(os.open(place, os.O_RDONLY | os.O_DIRECTORY), CONFIG)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(place, "socket"))
    listener.listen(64)
    print(os.path.join(place, "socket"), flush=True)
    ready = selectors.DefaultSelector()
    ready.register(sys.stdin, selectors.EVENT_READ, None)
    ready.register(listener, selectors.EVENT_READ, None)
    while True:
        for key, _ in ready.select():
            if key.fileobj is sys.stdin:
                return
            if key.fileobj is listener:
                client = listener.accept()[0]
                line = json.loads(client.makefile().readline())
                files = [os.memfd_create(name) for name in ("out", "err", "loaded")]
                pid = os.fork()
                if pid == 0:
                    run(line, *files)
                ready.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, client, files))
            else:
                pid, client, files = key.data
                ready.unregister(key.fileobj)
                os.close(key.fileobj)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                out, err, loaded = (content(file) for file in files)
                answer = json.dumps({"exit": code, "out": out, "err": err}).encode()
                client.sendall(answer)
                # A line that runs beside this one has the socket, too.
                client.shutdown(socket.SHUT_RDWR)
                client.close()
                load(loaded.split("\n"))


FOLDER = f"/proc/self/fd/{CONFIG}"
os.environ["AZURE_CONFIG_DIR"] = FOLDER
place = tempfile.mkdtemp()
try:
    main()
finally:
    shutil.rmtree(place)
