"""Runs the image's root file system with crun, an OCI runtime, as an engine would: read-only, without capabilities, as the user that the image names.

  image_run.py PROGRAM LAB ROOT IMAGE.json
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from world import Bot, fact, get, until, world  # noqa: E402

ROOT, IMAGE = sys.argv[3], json.loads(pathlib.Path(sys.argv[4]).read_text())
# crun examines the machine's control groups even where it is to use none, and refuses a mixture of both versions: it is shown none.
ALONE = 'mount -t tmpfs none /sys/fs/cgroup && exec crun --cgroup-manager=disabled "$@"'
CRUN = ["unshare", "--mount", "sh", "-c", ALONE, "crun"]


class Contained(Bot):
    """A replica that lives in a container."""

    def start(self, wait=True):
        image = IMAGE["OCIv1"]["config"]
        settings = self.folder / "ghost.toml"
        settings.write_text(self.world.settings(self).replace(str(self.world.secret), "/etc/ghost/secret"))
        uid, gid = (int(number) for number in image["User"].split(":"))
        for path in (self.world.data, self.world.secret, *self.world.secret.iterdir()):
            os.chown(path, uid, gid)

        def bind(source, target, *options):
            return {"destination": target, "type": "bind", "source": str(source), "options": ["bind", *options]}

        def memory(target, *options):
            return {"destination": target, "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", *options]}

        environment = [*image["Env"], "GHOST_LOG_FORMAT=json", "GHOST_LOG_LEVEL=info", f"SLACK_API_URL={self.world.slack.exports['SLACK_API_URL']}"]
        nothing = {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}
        config = {
            "ociVersion": "1.0.2",
            "root": {"path": ROOT, "readonly": True},
            "hostname": "ghost",
            "process": {
                "user": {"uid": uid, "gid": gid},
                "args": [*image["Entrypoint"], *image["Cmd"]],
                "env": environment,
                "cwd": image["WorkingDir"],
                "capabilities": nothing,
                "noNewPrivileges": True,
                "terminal": False,
            },
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                memory("/dev", "mode=755", "size=65536k"),
                memory("/tmp", "nodev", "mode=1777", "size=1g"),
                bind("/etc/hosts", "/etc/hosts", "ro"),
                bind("/etc/resolv.conf", "/etc/resolv.conf", "ro"),
                bind(settings, "/etc/ghost/ghost.toml", "ro"),
                bind(self.world.secret, "/etc/ghost/secret", "ro"),
                bind(self.world.data, "/var/lib/ghost", "rw"),
            ],
            # The network is the machine's: Redis and the local Slack listen on the loopback address.
            "linux": {
                "namespaces": [{"type": kind} for kind in ("pid", "mount", "ipc", "uts")],
                "maskedPaths": ["/proc/kcore", "/proc/keys"],
                "readonlyPaths": ["/proc/sys", "/proc/sysrq-trigger"],
            },
        }
        (self.folder / "config.json").write_text(json.dumps(config))
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [*CRUN, "run", "--bundle", str(self.folder), self.id()],
            stdin=subprocess.DEVNULL,
            stdout=open(self.log, "a"),
            stderr=subprocess.STDOUT,
        )
        until(f"{self.name} is ready", lambda: self.alive() and self.ready()[0] == 200)
        self.took = time.monotonic() - self.began

    def id(self):
        return f"{self.world.work.name}-{self.name}"

    def stop(self):
        began = time.monotonic()
        subprocess.run([*CRUN, "kill", self.id(), IMAGE["OCIv1"]["config"]["StopSignal"].removeprefix("SIG")], check=True)
        self.process.wait(timeout=45)
        return time.monotonic() - began

    def kill(self):
        subprocess.run([*CRUN, "kill", self.id(), "KILL"], capture_output=True)
        self.process.wait()

    def inside(self, *words):
        return subprocess.run([*CRUN, "exec", self.id(), *words], capture_output=True, text=True)


def main():
    over = "INCONCLUSIVE|nconclusive"
    with world() as w:
        bot = Contained(w, "contained")
        w.bots.append(bot)
        first = int(pathlib.Path(f"/proc/{bot.process.pid}/task/{bot.process.pid}/children").read_text().split()[0])
        status = pathlib.Path(f"/proc/{first}/status").read_text()
        assert "Uid:\t10001\t10001\t10001\t10001" in status and "CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status, status
        program = int(pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()[0])
        held = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{program}/status").read_text())[1])
        fact(f"the image runs, ready {bot.took * 1000:.0f} ms after crun was called; {held // 1024} MB of memory")
        refused = bot.inside("/usr/bin/touch", "/usr/bin/new")
        assert refused.returncode != 0 and "Read-only" in refused.stderr, refused
        assert bot.inside("/bin/sh", "-c", "true").returncode != 0, "there is a shell"
        fact("as user 10001, without capabilities, on a root that nobody can write, without a shell")
        assert get(f"http://127.0.0.1:{bot.port}/live")[0] == 200 and "ghost_build_info" in get(f"http://127.0.0.1:{bot.port}/metrics")[1]
        health = bot.inside("/usr/bin/curl", "--fail", "--silent", "--output", "/dev/null", f"http://127.0.0.1:{bot.port}/live")
        assert health.returncode == 0, health
        fact("/live, /ready and /metrics answer, from the compose file's health check inside, too")
        checked = bot.inside("/usr/local/bin/ghost", "config", "check", "--offline", "--config", "/etc/ghost/ghost.toml")
        print("    " + "\n    ".join(line for line in checked.stdout.splitlines() if "andbox" in line or "andlock" in line))

        ts = w.slack.say("@ghost names resolve slowly on this host, look with `cat /etc/resolv.conf` and `dig +short localhost` and `ss -s`")
        w.slack.says(ts, over)
        assert '"exit 0' in w.slack.text(ts) or bot.metric("ghost_commands_total") >= 3
        waiting = w.slack.say("@ghost eth7 of this host drops packets, do `touch /var/lib/ghost/note`")
        w.slack.button(waiting, "Approve")
        fact("a mention becomes a report, another one waits for consent")
        took = bot.stop()
        assert bot.process.returncode == 0, bot.process.returncode
        fact(f"SIGTERM: ended with code 0 in {took * 1000:.0f} ms")
        bot.start()
        w.slack.press(waiting, "Approve", user="bob")
        w.slack.says(waiting, over)
        assert (w.data / "note").exists()
        fact(f"started again ({bot.took * 1000:.0f} ms): the approval counts, the command ran once")
        for path in w.audits():
            os.chmod(path, 0o600)
        fact(f"{w.verify()} audit files verify")
        bot.kill()
        subprocess.run([*CRUN, "delete", "--force", bot.id()], capture_output=True)


main()
