"""Streams one Responses answer with the official SDK and prints what it understood as JSON."""

import json
import sys

import openai

base, flavour = sys.argv[1], sys.argv[2]
if flavour == "azure":
    client = openai.AzureOpenAI(
        azure_endpoint=base, api_key="scripted-key", api_version="preview", max_retries=0
    )
else:
    client = openai.OpenAI(base_url=f"{base}/openai/v1", api_key="scripted-key", max_retries=0)

ask = {
    "model": "scripted",
    "input": "hello",
    "store": False,
    "include": ["reasoning.encrypted_content"],
}
text_deltas, kinds, numbers = "", [], []
with client.responses.stream(**ask) as stream:
    for event in stream:
        kinds.append(event.type)
        numbers.append(event.sequence_number)
        if event.type == "response.output_text.delta":
            text_deltas += event.delta
    final = stream.get_final_response()
whole = client.responses.create(**ask)


def read(response):
    reasoning = [item for item in response.output if item.type == "reasoning"]
    return {
        "thinking": "\n\n".join(part.text for item in reasoning for part in item.summary),
        "encrypted": all(item.encrypted_content for item in reasoning),
        "text": response.output_text,
        "calls": [
            {"id": item.call_id, "name": item.name, "args": json.loads(item.arguments)}
            for item in response.output
            if item.type == "function_call"
        ],
        "stop": response.status,
        "input": response.usage.input_tokens,
        "output": response.usage.output_tokens,
    }


print(
    json.dumps(
        {
            **read(final),
            "text_deltas": text_deltas,
            "kinds": sorted(set(kinds)),
            "numbered": numbers == list(range(len(numbers))),
            "whole": read(whole),
        }
    )
)
