"""Calls every tool of an MCP server once, and prints what came of each as one JSON document.

    client.py PROGRAM DATA CALLS      CALLS is a JSON file: tool -> arguments

The SDK itself checks each structured answer against the schema that the tool declares, and raises where it is not so.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    program, data, calls = sys.argv[1:]
    with open(calls, encoding="utf-8") as file:
        wanted = json.load(file)
    server = StdioServerParameters(command=program, args=["mcp", "--data-dir", data], cwd=".")
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        listed = await session.list_tools()
        results = {}
        for name, arguments in wanted.items():
            result = (await session.call_tool(name, arguments)).model_dump(mode="json", by_alias=True)
            results[name] = {"error": result.get("isError"), "document": result.get("structuredContent")}
        print(json.dumps({"listed": [tool.name for tool in listed.tools], "results": results}))


asyncio.run(main())
