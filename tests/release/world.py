"""A world for the packaged program: Redis, a local Slack, a model that does as it is told, replicas of the bot, people.

Everything listens on the loopback address and ends with the script. `PROGRAM` is the production program, `LAB` one with the lab, which plays Slack.
"""

import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

PATIENCE = 90
CHANNEL = "network-incidents"


def fact(text):
    print(f"ok  {text}", flush=True)


def until(what, ask, patience=PATIENCE):
    """Asks until the answer is not nothing; ends the script where it never comes."""
    end = time.monotonic() + patience
    while True:
        found = ask()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"waited in vain: {what}")
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(address, timeout=5):
    """Status and text; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except (OSError, urllib.error.URLError):
        return 0, ""


class Redis:
    """A server that keeps what it has acknowledged."""

    def __init__(self, folder, password="a-word-of-the-test", port=None, arguments=()):
        self.folder, self.password, self.port = folder, password, port or free_port()
        self.arguments = list(arguments)
        folder.mkdir(parents=True, exist_ok=True)
        self.process = None
        self.start()

    def start(self):
        settings = self.folder / "redis.conf"
        settings.write_text(f"requirepass {self.password}\nmasterauth {self.password}\n")
        self.process = subprocess.Popen(
            ["redis-server", str(settings), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
            + ["--appendonly", "yes", "--appendfsync", "always", "--save", "", *self.arguments],
            stdout=open(self.folder / "log", "a"),
            stderr=subprocess.STDOUT,
        )
        until("redis answers", lambda: self.process.poll() is None and self.says("ping") == "PONG")

    def says(self, *words):
        done = subprocess.run(
            ["redis-cli", "-p", str(self.port), *words], env={**os.environ, "REDISCLI_AUTH": self.password}, capture_output=True, text=True
        )
        return done.stdout.strip()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Server(http.server.ThreadingHTTPServer):
    """Who is killed in the middle of a request is no error of the server."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Model:
    """Speaks as OpenAI's chat does. It runs what stands between backticks in the mention, one command a turn, then concludes."""

    def __init__(self):
        self.mode, self.asked, self.seen = "well", 0, []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                model.asked += 1
                model.seen.append(body)
                del model.seen[:-20]
                model.answer(self, body)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, handler, body):
        if self.mode == "gone":
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        if self.mode in ("busy", "broken"):
            text = b'{"error":{"message":"try later","type":"server_error"}}'
            handler.send_response(429 if self.mode == "busy" else 500)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text)
            return
        if self.mode == "nonsense":
            delta = {"content": "I think everything is fine, dear user. " * 3}
        else:
            delta = self.turn(body)
        reason = "tool_calls" if "tool_calls" in delta else "stop"
        chunks = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}},
        ]
        base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        text = "".join(f"data: {json.dumps(base | chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream; charset=utf-8")
        handler.send_header("content-length", str(len(text.encode())))
        handler.end_headers()
        handler.wfile.write(text.encode())

    def turn(self, body):
        told = next((m["content"] for m in body["messages"] if m["role"] == "user" and "`" in m["content"]), "")
        commands = re.findall(r"`([^`\n]+)`", told)
        done = sum(1 for m in body["messages"] if m["role"] == "tool")
        if done == 0:
            return self.call("manage_hypotheses", {"add": [{"id": "H1", "description": "something on this host is in the way"}]})
        if done - 1 < len(commands):
            return self.call("run_shell_cmd", {"command": commands[done - 1], "reasoning": "it shows whether H1 holds", "hypothesis_id": "H1"})
        layers = ["topology", "rules", "routes", "guest", "shaping", "measure", "wire", "path"]
        if not any(m["role"] == "tool" and "H1" in m["content"] and "UNVERIFIABLE" in m["content"] for m in body["messages"]):
            return self.call("manage_hypotheses", {"update": [{"id": "H1", "state": "UNVERIFIABLE", "why": "nothing more can be seen from here"}]})
        return self.call(
            "complete_investigation",
            {
                "confidence": "low",
                "root_cause_summary": "What was looked at explains nothing.",
                "refuted_hypotheses": [],
                "unverifiable_hypotheses": ["H1"],
                "recommended_actions": [],
                "open_questions": [],
                "waived": [{"layer": layer, "why": "the symptom is about this host"} for layer in layers[:6]],
            },
        )

    def call(self, tool, arguments):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        return {"tool_calls": [{"index": 0, "id": f"call_{self.asked}", "type": "function", "function": function}]}


class Slack:
    """The local Slack, and the people in it."""

    def __init__(self, lab, folder, port=None):
        self.lab, self.folder, self.port = lab, folder, port or free_port()
        self.process = None
        self.start()

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        told = self.folder / "exports"
        told.write_text("")
        self.process = subprocess.Popen(
            [self.lab, "lab", "slack", "--port", str(self.port), "--data-dir", str(self.folder)],
            stdout=open(told, "a"),
            stderr=open(self.folder / "log", "a"),
            stdin=subprocess.DEVNULL,
        )
        until("the local Slack is ready", lambda: "# ready" in told.read_text())
        self.exports = dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", told.read_text(), re.M))
        self.at = f"http://127.0.0.1:{self.port}/lab"

    def ask(self, path):
        status, text = get(f"{self.at}/{path}")
        return json.loads(text) if status == 200 else None

    def does(self, act, **body):
        request = urllib.request.Request(f"{self.at}/{act}", json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "{}")

    def say(self, text, user="alice", thread=None, channel=CHANNEL):
        body = {"user": user, "channel": channel, "text": text}
        if thread:
            body["thread_ts"] = thread
        return self.does("message", **body)["ts"]

    def fault(self, kind, **more):
        return self.does("fault", kind=kind, **more)

    def messages(self, ts, user="alice", channel=CHANNEL):
        found = self.ask(f"thread?user={user}&channel={channel}&ts={ts}")
        return [message for message in (found or {}).get("messages", []) if message.get("bot_id")]

    def text(self, ts, user="alice", channel=CHANNEL):
        """All words that the bot has in a thread."""
        return "\n".join(json.dumps(message, ensure_ascii=False) for message in self.messages(ts, user, channel))

    def says(self, ts, pattern, user="alice", patience=PATIENCE, channel=CHANNEL):
        try:
            return until(f"the bot says /{pattern}/", lambda: re.search(pattern, self.text(ts, user, channel)), patience)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it said: {self.words(ts, user, channel)[-1500:]}") from None

    def words(self, ts, user="alice", channel=CHANNEL):
        return "\n".join(message.get("text", "") for message in self.messages(ts, user, channel))

    def buttons(self, ts, user="alice", channel=CHANNEL):
        """Every button of a thread: its label, and what a press of it names."""
        found = []

        def walk(node, message):
            if isinstance(node, dict):
                if node.get("type") == "button":
                    found.append((node["text"]["text"], {"ts": message["ts"], "action_id": node["action_id"], "value": node.get("value")}))
                for inner in node.values():
                    walk(inner, message)
            elif isinstance(node, list):
                for inner in node:
                    walk(inner, message)

        for message in self.messages(ts, user, channel):
            walk(message.get("blocks", []), message)
        return found

    def button(self, ts, label, user="alice", patience=PATIENCE):
        def find():
            return next((press for text, press in self.buttons(ts, user) if text.startswith(label)), None)

        try:
            return until(f"a button {label}", find, patience)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; there are {[text for text, _ in self.buttons(ts, user)]}; it said: {self.words(ts, user)[-1500:]}") from None

    def press(self, ts, label, user="alice"):
        press = self.button(ts, label, user)
        return self.does("press", user=user, channel=CHANNEL, **{k: v for k, v in press.items() if v is not None})


class Bot:
    """One replica of the packaged program."""

    def __init__(self, world, name, program=None):
        self.world, self.name, self.port = world, name, free_port()
        self.program = program or world.program
        self.folder = world.work / name
        self.folder.mkdir()
        self.log = self.folder / "log"
        self.process = None
        self.start()

    def start(self, wait=True):
        settings = self.folder / "ghost.toml"
        settings.write_text(self.world.settings(self))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "SLACK_API_URL": self.world.slack.exports["SLACK_API_URL"],
            "GHOST_LOG_FORMAT": "json",
            "GHOST_LOG_LEVEL": "info",
            "GHOST_DATA_DIR": str(self.world.data),
            "TMPDIR": str(self.world.work),
            **self.world.environment,
        }
        self.process = subprocess.Popen(
            [*self.world.before, self.program, "bot", "--config", str(settings)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=open(self.log, "a"),
            stderr=subprocess.STDOUT,
        )
        if wait:
            until(f"{self.name} is ready", lambda: self.alive() and self.ready()[0] == 200)
        return self

    def alive(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {self.log.read_text()[-2000:]}")
        return True

    def ready(self):
        return get(f"http://127.0.0.1:{self.port}/ready")

    def metric(self, name):
        """The value of a metric, with its labels as they are printed; the sum where only the name is given."""
        _, text = get(f"http://127.0.0.1:{self.port}/metrics")
        total, found = 0.0, False
        for line in text.splitlines():
            if line.startswith("#") or not line:
                continue
            key, value = line.rsplit(" ", 1)
            if key == name or ("{" not in name and key.split("{")[0] == name):
                total, found = total + float(value), True
        return total if found else 0.0

    def logged(self, pattern):
        return re.search(pattern, self.log.read_text())

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it as an orchestrator does; how long it took."""
        began = time.monotonic()
        self.process.terminate()
        self.process.wait(timeout=45)
        return time.monotonic() - began

    def held(self):
        """Kilobytes of memory and open descriptors."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]), len(os.listdir(f"/proc/{self.process.pid}/fd"))


class World:
    def __init__(self, program, lab):
        self.program, self.lab = str(pathlib.Path(program).resolve()), str(pathlib.Path(lab).resolve())
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="ghost-release-"))
        self.data = self.work / "data"
        self.data.mkdir(mode=0o700)
        self.secret = self.work / "secret"
        self.secret.mkdir()
        self.environment, self.before, self.extra, self.bots = {}, [], "", []
        self.model = Model()
        self.slack = Slack(self.lab, self.work / "slack")
        self.redis = Redis(self.work / "redis")
        self.write("redis-password", self.redis.password)
        self.write("slack-app-token", self.slack.exports["SLACK_APP_TOKEN"])
        self.write("slack-bot-token", self.slack.exports["SLACK_BOT_TOKEN"])
        people = self.slack.ask("state")["users"]
        self.people = {person["name"]: person["id"] for person in people}

    def write(self, name, text):
        (self.secret / f"{name}.new").write_text(text)
        (self.secret / f"{name}.new").chmod(0o600)
        (self.secret / f"{name}.new").rename(self.secret / name)

    def settings(self, bot):
        everybody = json.dumps([self.people[name] for name in ("alice", "bob") if name in self.people])
        return f"""
[slack]
app_token_file = "{self.secret}/slack-app-token"
bot_token_file = "{self.secret}/slack-bot-token"
[bot]
freezers = {{ users = {everybody} }}
[approval]
requester = "nothing"
[approval.change]
users = {everybody}
[approval.outage]
users = {everybody}
[http]
listen = "127.0.0.1:{bot.port}"
[store]
url = "redis://127.0.0.1:{self.redis.port}"
password_file = "{self.secret}/redis-password"
[model]
brain = "openai"
no_egress = true
allowed = ["{self.model.address}"]
[model.openai]
model = "m"
base_url = "{self.model.address}"
{self.extra}"""

    def bot(self, name, **more):
        found = Bot(self, name, **more)
        self.bots.append(found)
        return found

    def ghost(self, *words, check=True):
        """Runs the packaged program as whoever operates it."""
        settings = self.bots[0].folder / "ghost.toml"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.work),
            "GHOST_DATA_DIR": str(self.data),
            "GHOST_CONFIG": str(settings),
            "SLACK_API_URL": self.slack.exports["SLACK_API_URL"],
        }
        done = subprocess.run([self.program, *words], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise RuntimeError(f"ghost {' '.join(words)}: {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
        return done

    def audits(self):
        return sorted((self.data / "audit").glob("*.jsonl"))

    def verify(self):
        """Every audit file verifies; how many there are."""
        files = self.audits()
        for path in files:
            self.ghost("audit", "verify", str(path))
        return len(files)

    def close(self):
        for bot in self.bots:
            with contextlib.suppress(Exception):
                bot.signal(signal.SIGCONT)
                bot.kill()
        for other in (self.redis, self.slack):
            with contextlib.suppress(Exception):
                other.process.send_signal(signal.SIGCONT)
                other.process.kill()
                other.process.wait()
        shutil.rmtree(self.work, ignore_errors=True)


@contextlib.contextmanager
def world():
    """Makes the world that a script's arguments name: PROGRAM and LAB, both target/debug/ghost unless named."""
    top = pathlib.Path(__file__).resolve().parents[2]
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", top / "target"))
    program = words[0] if words else target / "debug/ghost"
    lab = words[1] if len(words) > 1 else target / "debug/ghost"
    made = World(program, lab)
    try:
        yield made
    except BaseException:
        for bot in made.bots:
            print(f"--- {bot.name}\n{bot.log.read_text()[-3000:]}", file=sys.stderr)
        raise
    finally:
        made.close()
