#!/usr/bin/env python3
"""Checks the dependency tree without a network: licences, sources, and crates that come in two versions.

Also what the test app on Slack's SDK for JavaScript pulls in.
"""

import collections
import json
import pathlib
import subprocess
import sys

ALLOWED = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Unicode-3.0", "Unlicense", "Zlib", "0BSD",
           "Apache-2.0 WITH LLVM-exception", "BSL-1.0", "MPL-2.0",
           # A licence for data: the list of root certificates that other platforms than Linux fall back to.
           "CDLA-Permissive-2.0"}
# Two versions of these are in the tree because their users have not moved yet.
DOUBLE = {"getrandom", "windows-sys", "windows-targets", "bitflags", "hashbrown", "rand_core", "itertools", "nix", "cfg_aliases",
          "thiserror", "thiserror-impl", "linux-raw-sys", "rustix", "syn",
          # What web sockets hash and draw lots with, beside our own.
          "base64", "block-buffer", "cpufeatures", "crypto-common", "digest", "r-efi", "rand", "sha1",
          # The server's web sockets and the client's do not move at the same time.
          "tokio-tungstenite", "tungstenite",
          # The reader of PNG files that tests use, beside what packs ours.
          "miniz_oxide",
          # A reader of certificates that is left out of what draws ours, and is locked all the same.
          "nom", "rusticata-macros", "synstructure"}


def allowed(expression):
    alternatives = expression.replace("/", " OR ").replace("(", "").replace(")", "").split(" OR ")
    return any(all(part.strip() in ALLOWED for part in option.split(" AND ")) for option in alternatives)


def main():
    text = subprocess.run(["cargo", "metadata", "--format-version=1", "--locked", "--all-features"], check=True, capture_output=True).stdout
    packages = [package for package in json.loads(text)["packages"] if package["source"]]
    problems = [f"{p['name']} {p['version']}: licence {p['license']}" for p in packages if not allowed(p["license"] or "")]
    problems += [f"{p['name']} {p['version']}: comes from {p['source']}" for p in packages if not p["source"].startswith("registry+")]
    versions = collections.defaultdict(set)
    for package in packages:
        versions[package["name"]].add(package["version"])
    problems += [f"{name}: {len(found)} versions ({', '.join(sorted(found))})" for name, found in sorted(versions.items())
                 if len(found) > 1 and name not in DOUBLE and not name.startswith("windows")]
    lock = pathlib.Path(__file__).parent / "sdk/javascript/package-lock.json"
    locked = {name: package for name, package in json.loads(lock.read_text())["packages"].items() if name}
    problems += [f"{name}: licence {p.get('license')}" for name, p in locked.items() if not allowed(p.get("license") or "")]
    problems += [f"{name}: no digest" for name, p in locked.items() if "integrity" not in p]
    problems += [f"{name}: names a registry" for name, p in locked.items() if "resolved" in p]
    for problem in problems:
        print(problem)
    print(f"{len(packages)} dependencies: {'all right' if not problems else f'{len(problems)} problems'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
