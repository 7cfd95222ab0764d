"""Streams one Chat answer with the official SDK and prints what it understood as JSON."""

import json
import sys

import openai

base, flavour = sys.argv[1], sys.argv[2]
if flavour == "azure":
    client = openai.AzureOpenAI(
        azure_endpoint=base, api_key="scripted-key", api_version="2024-10-21", max_retries=0
    )
else:
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="scripted-key", max_retries=0)

messages = [{"role": "user", "content": "hello"}]
reasoning = ""
with client.chat.completions.stream(
    model="scripted", messages=messages, stream_options={"include_usage": True}
) as stream:
    for event in stream:
        if event.type == "chunk":
            for choice in event.chunk.choices:
                reasoning += getattr(choice.delta, "reasoning_content", None) or ""
    final = stream.get_final_completion()

message = final.choices[0].message
whole = client.chat.completions.create(model="scripted", messages=messages).choices[0].message


def calls(message):
    return [
        {"id": c.id, "name": c.function.name, "args": json.loads(c.function.arguments)}
        for c in message.tool_calls
    ]


print(
    json.dumps(
        {
            "thinking": reasoning,
            "text": message.content,
            "calls": calls(message),
            "stop": final.choices[0].finish_reason,
            "input": final.usage.prompt_tokens,
            "output": final.usage.completion_tokens,
            "whole_text": whole.content,
            "whole_calls": calls(whole),
        }
    )
)
