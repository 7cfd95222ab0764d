"""The official client asks `mica mcp serve` for everything, and prints what it got as one JSON object.

Called with the era (auto or legacy) and either an address, or the command of a server.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


async def error_of(call):
    try:
        await call
    except MCPError as error:
        return error.code
    return None


async def main():
    mode, target, *rest = sys.argv[1:]
    server = target if target.startswith("http") else StdioServerParameters(command=target, args=rest)
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        seen = {
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "read_only": all(tool.annotations.read_only_hint for tool in tools),
            "schemas": all(tool.output_schema and tool.title for tool in tools),
        }
        # The client holds the structured content against the output schema of the tool.
        checked = await client.call_tool("check", {"paths": ["src"]})
        seen["check"] = [
            [file["path"].rsplit("/")[-1], finding["code"], finding["line"]]
            for file in checked.structured_content["files"]
            for finding in file["findings"]
        ]
        seen["check_text"] = checked.content[0].text.splitlines()[-1]
        fixed = await client.call_tool("fix", {"path": "src/main/wso2mi/artifacts/apis/Orders.xml", "all": True})
        seen["fix"] = [one["code"] for one in fixed.structured_content["applied"]]
        seen["fix_written"] = fixed.structured_content["written"]
        value = await client.call_tool(
            "evaluate_expression",
            {"expression": "${payload.items[0].price * vars.count}", "payload": {"items": [{"price": 2}]}, "variables": {"count": 3}},
        )
        seen["expression"] = [value.structured_content["value"], value.structured_content["type"]]
        hits = await client.call_tool("search_references", {"query": "integer + double", "limit": 1})
        seen["search"] = [hit["selector"] for hit in hits.structured_content["hits"]]
        loaded = await client.call_tool("load_references", {"names": ["synapse-expression-spec:type_coercion"]})
        seen["load"] = loaded.structured_content["given"]
        explained = await client.call_tool("explain_finding", {"code": "SYN0101"})
        seen["explain"] = explained.structured_content["name"]
        facts = await client.call_tool("project_facts", {})
        seen["facts"] = [facts.structured_content[key] for key in ("name", "runtime", "layout", "artifacts")]
        graph = await client.call_tool("project_graph", {})
        seen["graph"] = [[one["id"], one["state"], one["by"]] for one in graph.structured_content["unresolved"]]
        outline = await client.call_tool("outline", {"path": "src/main/wso2mi/artifacts/apis/Orders.xml"})
        seen["outline"] = [item["label"] for item in outline.structured_content["items"]][:2]
        connectors = await client.call_tool("get_connector_definitions", {"names": ["http"]})
        seen["connectors"] = connectors.structured_content["found"]
        for name in ("list_references",):
            result = await client.call_tool(name, {})
            seen[name] = len(result.structured_content["references"]) > 10 and not result.is_error

        resources, cursor, pages = [], None, 0
        while True:
            page = await client.list_resources(cursor=cursor)
            resources += [resource.uri for resource in page.resources]
            pages, cursor = pages + 1, page.next_cursor
            if cursor is None:
                break
        seen["resources"] = [len(resources) == len(set(resources)), pages > 2, resources[0]]
        seen["templates"] = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        page = await client.read_resource("mica://finding/SYN0101")
        seen["finding"] = page.contents[0].text.splitlines()[0]
        page = await client.read_resource("mica://reference/synapse-expression-spec/type_coercion")
        seen["reference"] = page.contents[0].mime_type
        seen["llms"] = (await client.read_resource("mica://llms.txt")).contents[0].text.splitlines()[0]
        prompts = await client.list_prompts()
        seen["prompts"] = [prompt.name for prompt in prompts.prompts]
        prompt = await client.get_prompt("explain-artifact", {"file": "src/main/wso2mi/artifacts/apis/Orders.xml"})
        seen["prompt"] = [message.content.type for message in prompt.messages]

        from mcp.types import PromptReference, ResourceTemplateReference

        completed = await client.complete(
            ResourceTemplateReference(type="ref/resource", uri="mica://reference/{name}"),
            {"name": "name", "value": "synapse-exp"},
        )
        seen["complete_name"] = completed.completion.values
        completed = await client.complete(
            PromptReference(type="ref/prompt", name="explain-artifact"), {"name": "file", "value": "orders"}
        )
        seen["complete_file"] = completed.completion.values

        seen["errors"] = {
            "tool": await error_of(client.call_tool("nope", {})),
            "resource": await error_of(client.read_resource("mica://reference/nope")),
            "prompt": await error_of(client.get_prompt("nope", {})),
            "argument": await error_of(client.get_prompt("explain-artifact", {})),
            "cursor": await error_of(client.list_resources(cursor="nope")),
        }
        for name, arguments in (
            ("outside", {"paths": ["../.."]}),
            ("secret", {"paths": [".env"]}),
            ("both", {"paths": ["src"], "text": "<a/>"}),
            ("type", {"paths": "src"}),
        ):
            result = await client.call_tool("check", arguments)
            seen["errors"][name] = result.is_error
        print(json.dumps(seen))


asyncio.run(main())
