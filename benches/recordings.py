#!/usr/bin/env python3
"""Judges flows in estates put together from recorded answers of Azure: `recordings.py PROGRAM FOLDER...`

A folder is a checkout with recordings: VCR cassettes in YAML (azure-cli and its extensions; needs PyYAML) or JSON, session records
of Azure's libraries, REST examples. Each recording becomes an estate of what was read last of each resource, twice: as REST prints
it and as `az` prints it. Machines answer that nothing filters and that common ports are open. It prints how many flows come out
how, what is missing most, and exits with 1 if the program breaks or both forms differ.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

KINDS = {
    "networkinterfaces": "interfaces", "virtualnetworks": "networks", "routetables": "route_tables", "networksecuritygroups": "groups",
    "loadbalancers": "load_balancers", "applicationgateways": "application_gateways", "bastionhosts": "bastions",
    "publicipaddresses": "public_addresses", "natgateways": "nat_gateways", "privateendpoints": "private_endpoints",
    "privatednszones": "zones", "privatednszones/virtualnetworklinks": "zone_links", "privatednszones/a": "zone_records",
    "azurefirewalls": "firewalls", "firewallpolicies": "firewall_policies", "firewallpolicies/rulecollectiongroups": "firewall_rules",
    "ipgroups": "ip_groups", "virtualnetworkgateways": "virtual_gateways", "connections": "connections",
    "localnetworkgateways": "local_gateways", "expressroutecircuits": "circuits", "managedclusters": "clusters",
    "virtualmachines": "machines",
}
PORTS = (22, 80, 443, 3389, 8080)


def kind(identifier):
    words = identifier.strip("/").lower().split("/")
    if len(words) < 8 or words[0] != "subscriptions" or words[4] != "providers":
        return None
    return KINDS.get("/".join([words[6], *words[8::2]]))


def parsed(text):
    if isinstance(text, (dict, list)):
        return text
    try:
        return json.loads(text.lstrip("\ufeff"))
    except (AttributeError, TypeError, ValueError):
        return None


def answers(path):
    """Yields the bodies of a recording, in the order in which they came."""
    text = path.read_text(errors="replace")
    if "microsoft.network/" not in text.lower():
        return
    if path.suffix in (".yaml", ".yml"):
        import yaml

        document = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    else:
        document = parsed(text)
    if not isinstance(document, dict):
        return
    for one in document.get("interactions") or document.get("http_interactions") or []:
        body = (one.get("response") or {}).get("body")
        yield parsed(body.get("string", body.get("data")) if isinstance(body, dict) else body)
    for one in document.get("Entries") or []:
        yield parsed(one.get("ResponseBody"))
    for one in document.get("networkCallRecords") or []:
        yield parsed((one.get("Response") or {}).get("Body"))
    for one in (document.get("responses") or {}).values():
        yield one.get("body") if isinstance(one, dict) else None


def flat(value):
    """Prints a resource as `az` does."""
    if isinstance(value, list):
        return [flat(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: flat(one) for name, one in value.items() if name != "properties" or not isinstance(one, dict)}
    if isinstance(value.get("properties"), dict):
        found = {**flat(value["properties"]), **found}
    return found


def guest(addresses):
    save = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
    head = "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
    return {
        "filters": {"iptables-save": save, "ip6tables-save": save, "nft": {"nftables": []}},
        "shaping": "qdisc mq 0: dev eth0 root\n", "routes": "default via 10.0.0.1 dev eth0 proto dhcp\n",
        "addresses": "lo UNKNOWN 127.0.0.1/8\n" + "".join(f"eth0 UP {one}/24\n" for one in addresses),
        "settings": "net.ipv4.ip_forward = 0\n", "udp": head,
        "tcp": head + "".join(f"LISTEN 0 128 0.0.0.0:{port} 0.0.0.0:*\n" for port in PORTS),
    }


def estates(path):
    """Returns the estate of a recording as REST and as `az` print it, and its flows."""
    last = {}
    for body in answers(path):
        rows = body.get("value", [body]) if isinstance(body, dict) else []
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and isinstance(row.get("id"), str) and kind(row["id"]):
                last[row["id"].lower()] = row
    if not last:
        return None
    rest = collections.defaultdict(list)
    for row in last.values():
        rest[kind(row["id"])].append(row)
    az = {name: [flat(row) for row in rows] for name, rows in rest.items()}
    machines, flows = {}, []
    for nic in az.get("interfaces", []):
        of = nic.get("virtualMachine")
        own = [one["privateIPAddress"] for one in nic.get("ipConfigurations") or [] if one.get("privateIPAddress")]
        if isinstance(of, dict) and of.get("id") and own:
            machines.setdefault(of["id"].rsplit("/", 1)[1], []).extend(own)
    publics = {row["id"].lower(): row.get("ipAddress") for row in az.get("public_addresses", [])}
    for balancer in az.get("load_balancers", []) + az.get("application_gateways", []):
        for front in balancer.get("frontendIPConfigurations") or []:
            public = front.get("publicIPAddress") or {}
            address = front.get("privateIPAddress") or public.get("ipAddress") or publics.get(str(public.get("id")).lower())
            flows += [("internet", f"{address}:80")] if address else []
    for name, own in list(machines.items())[:3]:
        flows += [("internet", f"{own[0]}:22"), (own[0], "8.8.8.8:443")]
        flows += [(own[0], f"{other[0]}:443") for other in machines.values() if other != own][:2]
    guests = {name: guest(own) for name, own in machines.items()}
    return [{"format": 1, "cloud": cloud, "guests": guests} for cloud in (rest, az)], flows[:8]


def judged(program, bundle, flow):
    command = [program, "path", "--bundle", bundle, "--from", flow[0], "--to", flow[1], "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return (parsed(ran.stdout), None) if ran.returncode == 0 else (None, ran.stderr.strip() or str(ran.returncode))


def main():
    program, folders = sys.argv[1], sys.argv[2:]
    verdicts, missing, broken, recordings = collections.Counter(), collections.Counter(), [], 0
    for path in (path for folder in folders for path in sorted(pathlib.Path(folder).rglob("*.*"))):
        if path.suffix not in (".yaml", ".yml", ".json") or not path.is_file():
            continue
        found = estates(path)
        if not found:
            continue
        recordings += 1
        with tempfile.TemporaryDirectory() as place:
            files = []
            for name, bundle in zip(("rest", "az"), found[0]):
                files.append(f"{place}/{name}.json")
                pathlib.Path(files[-1]).write_text(json.dumps(bundle))
            for flow in found[1]:
                (rest, odd), (az, odd_too) = (judged(program, file, flow) for file in files)
                if odd or odd_too or (rest["verdict"], rest["causes"]) != (az["verdict"], az["causes"]):
                    broken.append((str(path), flow, odd or odd_too or "both forms differ"))
                    continue
                verdicts[az["verdict"]] += 1
                missing.update(re.sub(r"[\w.-]*\d[\w.-]*", "…", f"{one['what']}: {one['why']}") for one in az["missing"])
    print(f"{recordings} recordings, {sum(verdicts.values())} flows: {dict(verdicts)}")
    for what, times in missing.most_common(20):
        print(f"{times:6} {what}")
    for path, flow, why in broken:
        print(f"{path}: {' -> '.join(flow)}: {why}")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
