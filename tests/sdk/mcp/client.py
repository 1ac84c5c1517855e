"""Calls every tool of an MCP server once, and prints what came of each as one JSON document.

    client.py CALLS PROGRAM [ARGUMENT …]      over standard input and output
    client.py CALLS URL TOKEN                 over streamable HTTP

CALLS is a JSON file: tool -> arguments. The SDK itself checks each structured answer against the schema that the tool declares, and raises
where it is not so.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def streams(place, more):
    if not place.startswith("http"):
        async with stdio_client(StdioServerParameters(command=place, args=more, cwd=".")) as both:
            yield both
        return
    headers = {"Authorization": f"Bearer {more[0]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as client:
        async with streamable_http_client(place, http_client=client) as both:
            yield both[:2]


async def main() -> None:
    calls, place, *more = sys.argv[1:]
    with open(calls, encoding="utf-8") as file:
        wanted = json.load(file)
    progress_seen = []

    async def hear(progress, total, message) -> None:
        progress_seen.append(message)

    async with streams(place, more) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        listed = await session.list_tools()
        results = {}
        for name, arguments in wanted.items():
            result = await session.call_tool(name, arguments, progress_callback=hear)
            result = result.model_dump(mode="json", by_alias=True)
            results[name] = {"error": result.get("isError"), "document": result.get("structuredContent")}
        resources = [str(resource.uri) for resource in (await session.list_resources()).resources]
        for uri in resources:
            await session.read_resource(uri)
        prompts = [prompt.name for prompt in (await session.list_prompts()).prompts]
        answer = {
            "listed": [tool.name for tool in listed.tools],
            "results": results,
            "progress_seen": progress_seen,
            "resources": resources,
            "prompts": prompts,
        }
        print(json.dumps(answer))


asyncio.run(main())
