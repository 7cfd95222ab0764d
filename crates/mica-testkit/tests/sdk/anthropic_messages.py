"""Streams one Messages answer with the official SDK and prints what it understood as JSON."""

import json
import sys

import anthropic

base, flavour = sys.argv[1], sys.argv[2]
if flavour == "azure":
    client = anthropic.AnthropicFoundry(base_url=f"{base}/anthropic", api_key="scripted-key", max_retries=0)
else:
    client = anthropic.Anthropic(base_url=base, api_key="scripted-key", max_retries=0)

ask = {"model": "scripted", "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}
text_deltas = ""
with client.messages.stream(**ask) as stream:
    for event in stream:
        if event.type == "text":
            text_deltas += event.text
    final = stream.get_final_message()
whole = client.messages.create(**ask)


def read(message):
    return {
        "thinking": "".join(b.thinking for b in message.content if b.type == "thinking"),
        "signed": all(b.signature for b in message.content if b.type == "thinking"),
        "text": "".join(b.text for b in message.content if b.type == "text"),
        "calls": [
            {"id": b.id, "name": b.name, "args": b.input} for b in message.content if b.type == "tool_use"
        ],
        "stop": message.stop_reason,
        "input": message.usage.input_tokens,
        "output": message.usage.output_tokens,
    }


print(json.dumps({**read(final), "text_deltas": text_deltas, "whole": read(whole)}))
