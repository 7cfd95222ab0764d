"""Serves a model with llama.cpp until standard input ends.

Usage: llama.py MODEL PORT CONTEXT SLOTS

Prints the address once the model is loaded; the port is open before that. With port 0 a free one is chosen. Standard
input is a pipe from the test, so the server ends with the test, however the test ends.
"""

import os
import sys

import xllamacpp

model, port, context, slots = sys.argv[1], *map(int, sys.argv[2:5])
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = port
params.n_ctx = context
params.n_parallel = slots
# One thread: several wait for each other, and on a machine that is busy with something else that is many times slower.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
sys.stdin.read()
# Not an ordinary exit: that waits for answers nobody reads any more.
os._exit(0)
