"""Meets one scripted error with each official client and prints which exception it became."""

import json
import sys

import anthropic
import openai

base = sys.argv[1]
seen = []


def meet(ask):
    try:
        ask()
        seen.append("no error")
    except (openai.APIStatusError, anthropic.APIStatusError) as error:
        seen.append([type(error).__name__, error.status_code])


openai_client = openai.OpenAI(base_url=f"{base}/v1", api_key="scripted-key", max_retries=0)
anthropic_client = anthropic.Anthropic(base_url=base, api_key="scripted-key", max_retries=0)
messages = [{"role": "user", "content": "hello"}]
meet(lambda: openai_client.responses.create(model="m", input="hello"))
meet(lambda: openai_client.chat.completions.create(model="m", messages=messages))
meet(lambda: anthropic_client.messages.create(model="m", max_tokens=9, messages=messages))
# An orphan result: refused by the server's checks, not by the script.
meet(
    lambda: openai_client.chat.completions.create(
        model="m", messages=[*messages, {"role": "tool", "tool_call_id": "x", "content": "y"}]
    )
)
names = [model.id for model in openai_client.models.list()]
print(json.dumps({"seen": seen, "models": names}))
