"""What drives a cloud with the management SDKs of Azure for Python: clients, the names of an estate, and what came of each step.

GHOST_TEST_ARM is the address of the resource manager; the identity is the managed one of the environment."""

import json
import os
import urllib.request

from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.privatedns import PrivateDnsManagementClient

SUBSCRIPTION, GROUP, PLACE = "00000000-0000-0000-0000-000000000001", "nw-forensics-rg", "eastus"
ROOT = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}/providers"
ZONE = "privatelink.blob.core.windows.net"


class Managed:
    """The managed identity of this machine."""

    def get_token(self, *scopes, **options):
        address = f"{os.environ['IDENTITY_ENDPOINT']}?api-version=2019-08-01&resource=https://management.azure.com/"
        request = urllib.request.Request(address, headers={"X-IDENTITY-HEADER": os.environ["IDENTITY_HEADER"]})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            token = json.load(answer)
        return AccessToken(token["access_token"], int(token["expires_on"]))


how = {"base_url": os.environ["GHOST_TEST_ARM"], "credential_scopes": ["https://management.azure.com/.default"]}
network = NetworkManagementClient(Managed(), SUBSCRIPTION, **how)
compute = ComputeManagementClient(Managed(), SUBSCRIPTION, **how)
zones = PrivateDnsManagementClient(Managed(), SUBSCRIPTION, **how)
said = {}


def plain(value):
    """Returns a model, or a list of models, as what is in it."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    return value.as_dict() if hasattr(value, "as_dict") else [plain(one) for one in value]


def step(name, what):
    """Does one thing, and waits until a long operation is over."""
    try:
        done = what()
        said[name] = plain(done.result() if hasattr(done, "result") else done)
    except HttpResponseError as error:
        said[name] = f"{error.status_code} {error.error.code if error.error else error.reason}"


def its(kind, name):
    return {"id": f"{ROOT}/Microsoft.Network/{kind}/{name}"}


def of(**properties):
    return {"location": PLACE, "properties": properties}


def print_said():
    print(json.dumps(said))
