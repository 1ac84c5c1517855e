"""What tests/release/chart does: each fact is a line, the first that does not hold ends it."""

import copy
import difflib
import os
import pathlib
import sys
import tempfile

import kubernetes_validate
import yaml
from helm_python import chart as helm
from helm_python.chart import Chart

CHART = pathlib.Path("deploy/chart")
GOLDEN = pathlib.Path("tests/fixtures/deploy/chart")
VERSIONS = [f"1.{minor}" for minor in range(25, 38)]


def fact(text):
    print(f"ok  {text}")


def fail(text):
    sys.exit(f"FAILED  {text}")


def render(chart, values):
    """Everything that `helm template ghost deploy/chart --namespace ghost` prints, in the order of the files' names."""
    rendered = chart.render(values, name="ghost", namespace="ghost")
    parts = []
    for path, text in sorted(rendered.items()):
        if path.endswith("NOTES.txt"):
            assert "<no value>" not in text, text
        elif text.strip():
            parts.append(f"---\n# Source: {path}\n{text.strip()}\n")
    return "".join(parts)


def objects(text):
    return [found for found in yaml.safe_load_all(text) if found]


def valid(name, found):
    for number in VERSIONS:
        for document in found:
            try:
                kubernetes_validate.validate(document, number, strict=True)
            except kubernetes_validate.ValidationError as error:
                fail(f"{name}: {document['kind']} {document['metadata']['name']}, Kubernetes {number}: {error.message}")


def changed(values, path, value):
    """The values with one of them changed; a path is `a.b`."""
    whole = copy.deepcopy(values)
    at = whole
    *above, last = path.split(".")
    for key in above:
        at = at.setdefault(key, {})
    at[last] = value
    return whole


def main():
    cases = {path.name.removesuffix(".values.yaml"): yaml.safe_load(path.read_text()) or {} for path in GOLDEN.glob("*.values.yaml")}
    if len(cases) < 4:
        fail(f"only {len(cases)} cases in {GOLDEN}")
    for name, values in cases.items():
        report = helm.lint(CHART, values, strict=True, namespace="ghost")
        worse = [message for message in report["messages"] if message["severity"] > 1]
        if worse or report["errors"]:
            fail(f"lint of {name}: {worse} {report['errors']}")
    fact(f"lint, strict: {len(cases)} sets of values, nothing found")

    with Chart.load(CHART) as chart:
        for name, values in sorted(cases.items()):
            text = render(chart, values)
            golden = GOLDEN / f"{name}.yaml"
            if os.environ.get("UPDATE") == "1":
                golden.write_text(text)
            if text != golden.read_text():
                difference = difflib.unified_diff(golden.read_text().splitlines(), text.splitlines(), str(golden), "rendered", lineterm="")
                fail("\n".join([f"{name} is rendered otherwise (UPDATE=1 writes it anew)", *difference]))
            found = objects(text)
            valid(name, found)
            fact(f"{name}: {len(found)} objects as in {golden.name}, valid in Kubernetes {VERSIONS[0]} to {VERSIONS[-1]}")

        refused = {
            "replicas": [0, "two", 2.5],
            "replica": [2],
            "image.digest": ["sha256:short", "latest"],
            "image.repository": ["Registry.example.com/ghost", ""],
            "image.pullPolicy": ["Sometimes"],
            "secretName": ["", "Ghost"],
            "data.mode": ["private"],
            "data.size": ["20", "0Gi"],
            "redis.replicas": [1, -1, "2"],
            "redis.enabled": ["no", False],
            "workloadIdentity.clientId": ["reader"],
            "networkPolicy.monitoring": ["monitoring"],
            "config.slack.bot_token": ["xoxb-1"],
            "config.approval.change.users": [["ana"], "U1"],
            "config.approval.change.approvers": [0],
            "config.http.listen": ["0.0.0.0:80"],
            "config.http.probes": ["0.0.0.0:9464"],
            "config.store.url": ["redis://elsewhere:6379"],
        }
        count = 0
        for path, wrong in refused.items():
            for value in wrong:
                try:
                    chart.validate_schema(changed({}, path, value))
                except Exception as error:  # The binding has one kind of error for each cause; the text names the key.
                    key = path.split(".")[-1]
                    if key not in str(error) and path not in ("redis.enabled", "replica", "config.slack.bot_token", "config.store.url"):
                        fail(f"{path}={value!r} is refused for another reason: {error}")
                    count += 1
                else:
                    fail(f"{path}={value!r} is accepted")
        secret = changed(changed({}, "redis.enabled", False), "config.store.url", "rediss://:hunter2@store:6380")
        try:
            chart.validate_schema(secret)
        except Exception:
            count += 1
        else:
            fail("a password in the store's address is accepted")
        fact(f"{count} wrong values are refused by the schema")

        with tempfile.TemporaryDirectory() as folder:
            first = chart.save(folder)
            with Chart.load(first) as packed:
                if render(packed, {}) != render(chart, {}):
                    fail("the packed chart renders otherwise")
            fact(f"packed: {os.path.basename(first)}, {os.path.getsize(first)} bytes")

    plain = []
    kustomization = yaml.safe_load(pathlib.Path("deploy/kubernetes/kustomization.yaml").read_text())
    for name in [*kustomization["resources"], "secret.example.yaml"]:
        found = objects(pathlib.Path("deploy/kubernetes", name).read_text())
        valid(name, found)
        plain += found
    fact(f"deploy/kubernetes: {len(plain)} objects, valid in Kubernetes {VERSIONS[0]} to {VERSIONS[-1]}")


main()
