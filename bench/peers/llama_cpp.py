# SPDX-License-Identifier: Apache-2.0
"""Measures llama.cpp's shared library on one GGUF: prefill of a prompt, then greedy decode; prints one JSON line.

    python bench/peers/llama_cpp.py LIBRARY_DIR MODEL.gguf --threads 1 --prompt 128 --tokens 32

The library is called directly because its bindings insist on a tokenizer, which a synthetic model does not have.
"""

import argparse
import ctypes
import json
import pathlib
import sys
import time

import numpy as np

_MAX_PARAMS_BYTES = 1024


class _Params(ctypes.Structure):
    """Model or context parameters at their defaults; passed through unread, so only an upper size matters."""

    _fields_ = [("bytes", ctypes.c_char * _MAX_PARAMS_BYTES)]


class _Batch(ctypes.Structure):
    _pointers = ("token", "embd", "pos", "n_seq_id", "seq_id", "logits")
    _fields_ = [("n_tokens", ctypes.c_int32), *((name, ctypes.c_void_p) for name in _pointers)]


_LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_quiet = _LogCallback(lambda level, text, data: None)


def load_library(directory):
    """The libllama handle with its CPU kernels registered."""
    handles = {}
    for stem in ("libggml-base", "libggml", "libllama"):
        found = [p for p in sorted(directory.glob(stem + "*.so")) if p.name.split(".")[0] == stem]
        if len(found) != 1:
            raise FileNotFoundError(f"{directory}: expected one {stem}*.so, found {[p.name for p in found]}")
        handles[stem] = ctypes.CDLL(str(found[0]), mode=ctypes.RTLD_GLOBAL)
    library = handles["libllama"]
    pointer, integer = ctypes.c_void_p, ctypes.c_int32
    signatures = {
        "llama_log_set": (None, [_LogCallback, pointer]),
        "llama_model_default_params": (_Params, []),
        "llama_context_default_params": (_Params, []),
        "llama_model_load_from_file": (pointer, [ctypes.c_char_p, _Params]),
        "llama_init_from_model": (pointer, [pointer, _Params]),
        "llama_set_n_threads": (None, [pointer, integer, integer]),
        "llama_batch_get_one": (_Batch, [pointer, integer]),
        "llama_decode": (integer, [pointer, _Batch]),
        "llama_get_logits_ith": (ctypes.POINTER(ctypes.c_float), [pointer, integer]),
        "llama_model_get_vocab": (pointer, [pointer]),
        "llama_vocab_n_tokens": (integer, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.llama_log_set(_quiet, None)
    handles["libggml"].ggml_backend_load_all_from_path(ctypes.c_char_p(str(directory).encode()))
    library.llama_backend_init()
    return library


class Session:
    """One model with one context of the library's default length (512 positions)."""

    def __init__(self, library, path, threads):
        self._library = library
        model = library.llama_model_load_from_file(str(path).encode(), library.llama_model_default_params())
        if not model:
            raise RuntimeError(f"{path}: llama.cpp could not load it")
        self.vocab = library.llama_vocab_n_tokens(library.llama_model_get_vocab(model))
        self._context = library.llama_init_from_model(model, library.llama_context_default_params())
        library.llama_set_n_threads(self._context, threads, threads)

    def step(self, ids):
        """Greedy id after ids."""
        array = (ctypes.c_int32 * len(ids))(*ids)
        status = self._library.llama_decode(self._context, self._library.llama_batch_get_one(array, len(ids)))
        if status != 0:
            raise RuntimeError(f"llama_decode: expected 0, found {status}")
        logits = self._library.llama_get_logits_ith(self._context, -1)
        return int(np.argmax(np.ctypeslib.as_array(logits, (self.vocab,))))


def measure(session, prompt, tokens):
    ids = [(i * 7919 + 13) % session.vocab for i in range(prompt)]
    session.step(ids[:1])  # maps the weights and builds the graph
    begin = time.perf_counter()
    last = session.step(ids)
    middle = time.perf_counter()
    for _ in range(tokens):
        last = session.step([last])
    end = time.perf_counter()
    return {"prefill_tok_s": prompt / (middle - begin), "decode_tok_s": tokens / (end - middle), "last_id": last}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=32)
    options = parser.parse_args(arguments)
    if 1 + options.prompt + options.tokens > 512:
        parser.error("--prompt + --tokens: expected at most 511")
    session = Session(load_library(options.library), options.model, options.threads)
    print(json.dumps({"threads": options.threads, **measure(session, options.prompt, options.tokens)}))


if __name__ == "__main__":
    main(sys.argv[1:])
