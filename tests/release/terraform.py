"""What tests/release/terraform does with the provider's schema: each fact is a line, the first that does not hold ends it."""

import gzip
import io
import json
import pathlib
import re
import sys
import tarfile
import zipfile

import hcl2

FOLDER = pathlib.Path("deploy/terraform")
# What Terraform itself knows of every resource.
META = {"for_each", "count", "depends_on", "lifecycle", "provider", "__start_line__", "__end_line__", "__is_block__", "__comments__"}


def fail(text):
    sys.exit(f"FAILED  {text}")


def bindings(path):
    with zipfile.ZipFile(path) as wheel:
        inner = next(name for name in wheel.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(wheel.read(inner))) as archive:
            found = json.loads(archive.extractfile("package/.jsii").read())
            if "types" not in found:
                found = json.loads(gzip.decompress(archive.extractfile("package/" + found["filename"]).read()))
    return found["types"]


def camel(name):
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def inner(kind):
    """The structures that a property may hold: a block, or a list of them."""
    if "fqn" in kind:
        return [kind["fqn"]]
    if "collection" in kind:
        return inner(kind["collection"]["elementtype"])
    if "union" in kind:
        return [name for other in kind["union"]["types"] for name in inner(other)]
    return []


def plain(name):
    return name.strip('"')


def check(types, where, structure, body):
    known = {prop["name"]: prop for prop in types[structure]["properties"]}
    written = {plain(key): value for key, value in body.items() if plain(key) not in META}
    for key, value in written.items():
        if camel(key) not in known:
            fail(f"{where}: the provider knows no '{key}'")
        blocks = value if isinstance(value, list) else [value]
        for block in blocks:
            if isinstance(block, dict) and "__is_block__" in block:
                below = [name for name in inner(known[camel(key)]["type"]) if name in types and "properties" in types[name]]
                if not below:
                    fail(f"{where}: '{key}' is no block")
                check(types, f"{where}.{key}", below[0], block)
    for name, prop in known.items():
        if not prop.get("optional") and name not in {camel(key) for key in written}:
            fail(f"{where}: '{name}' is missing")


def main():
    types = bindings(sys.argv[1])
    texts = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.tf"))}
    resources, variables = [], set()
    for name, text in texts.items():
        document = hcl2.loads(text)
        for kind, place in (("resource", ""), ("data", "data")):
            for block in document.get(kind, []):
                for resource, named in block.items():
                    for label, body in named.items() if isinstance(named, dict) else []:
                        resources.append((f"{place}{'.' if place else ''}{plain(resource)}.{plain(label)}", plain(resource), place, body))
        for block in document.get("variable", []):
            variables |= {plain(label) for label in block}
    if len(resources) < 15:
        fail(f"only {len(resources)} resources were read")
    for where, resource, place, body in resources:
        stem = camel(resource.removeprefix("azurerm_"))
        wanted = f"{('data_' if place else '')}{resource}".replace("data_azurerm", "dataAzurerm")
        module = camel(wanted if place else resource.removeprefix("azurerm_"))
        ending = ("DataAzurerm" if place else "") + stem[0].upper() + stem[1:] + "Config"
        structure = f"@cdktf/provider-azurerm.{module}.{ending}"
        if structure not in types:
            near = [name for name in types if name.lower().endswith("." + ending.lower())]
            if not near:
                fail(f"{where}: the provider has no {resource}")
            structure = near[0]
        check(types, where, structure, body)
    print(f"ok  {len(resources)} resources: every name and every required argument is as azurerm 4.55.0 has it")

    whole = "\n".join(texts.values())
    used = set(re.findall(r"\bvar\.(\w+)", whole))
    if used != variables:
        fail(f"variables: used {sorted(used - variables)}, never used {sorted(variables - used)}")
    declared = {f"{resource}.{where.rsplit('.', 1)[1]}" for where, resource, _, _ in resources}
    named = set(re.findall(r"(?<![\w.])(azurerm_\w+\.\w+)", re.sub(r'"azurerm_\w+"', "", whole)))
    if not named <= declared:
        fail(f"named, but not there: {sorted(named - declared)}")
    print(f"ok  {len(variables)} variables, all used; every reference leads to a resource")

    for needed in (
        "shared_access_key_enabled       = false",
        "allow_nested_items_to_be_public = false",
        'default_action = "Deny"',
        'min_tls_version                 = "TLS1_2"',
        'container_access_type = "private"',
        "default_outbound_access_enabled = false",
    ):
        if needed not in whole:
            fail(f"main.tf does not say {needed}")
    # No role but those of the files, which a test of their own holds to what the tools need.
    if re.search(r"role_definition_name|\"(Owner|Contributor|Reader)\"", whole):
        fail("a role of Azure's own is assigned")
    print("ok  the account is closed and without keys, the network has one way out, only Ghost's own roles are assigned")


main()
