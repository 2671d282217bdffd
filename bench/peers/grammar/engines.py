# SPDX-License-Identifier: Apache-2.0
"""llguidance and xgrammar behind one interface, called with as little Python in between as their packages allow.

An engine has: compile(schema_text) -> grammar (raises Refused), start(grammar) -> matcher, fill(matcher) which writes the
mask to engine.mask, accept(matcher, id) -> bool, done(matcher) -> bool, empty_call(matcher): a native call that does
nearly nothing, so that its time is what calling from Python costs.
"""

import base64
import sys
import types

# Before any stand-in for torch: it looks for torch when it is imported, and must not find one.
import tvm_ffi  # isort: skip
import numpy as np

# The pre-tokenizer of the released tokenizer: upper-case, then lower-case letters without Han, then digits in threes ...
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_LEAD = r"[^\r\n\p{L}\p{N}]?"
PRE_TOKENS = "|".join(
    [
        r"[\p{Han}]+",
        _LEAD + _UPPER + "*" + _LOWER + "+" + _SUFFIX,
        _LEAD + _UPPER + "+" + _LOWER + "*" + _SUFFIX,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


class Refused(Exception):
    """The engine says that it cannot compile a schema."""


def read_ranks(path):
    """{bytes: id} of a tiktoken.model."""
    ranks = {}
    with open(path, "rb") as file:
        for line in file:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    return ranks


class Llguidance:
    """The canonical tokenizer is given, as in production: llguidance then lets forced text be spelled only as the tokenizer
    would, which the ids of the instances are."""

    name = "llguidance"

    def __init__(self, ranks, vocab_size, eos):
        from llguidance import LLMatcher, LLTokenizer

        special = {f"<|special_{i}|>": i for i in range(len(ranks), vocab_size)}
        self._matcher = LLMatcher
        self._tokenizer = LLTokenizer.from_tiktoken(
            encoder=ranks, special_tokens=special, pattern=PRE_TOKENS, eos_token=eos, n_vocab=vocab_size, slices=None
        )
        self.mask = np.zeros(vocab_size // 32, dtype=np.uint32)
        self._address, self._size = self.mask.ctypes.data, self.mask.nbytes

    def compile(self, schema):
        try:
            grammar = self._matcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
        except ValueError as error:  # the schemas true and false
            raise Refused(str(error)) from error
        matcher = self._matcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return matcher

    def start(self, grammar):
        # Keeps what the lexer has learnt, so that later instances find it warm.
        grammar.reset()
        return grammar

    def fill(self, matcher):
        matcher.unsafe_compute_mask_ptr(self._address, self._size)

    def accept(self, matcher, token):
        return matcher.consume_token(token)

    def done(self, matcher):
        return matcher.is_accepting()

    def empty_call(self, matcher):
        matcher.is_error()


def _stand_in(name, **members):
    module = types.ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    sys.modules[name] = module


class Xgrammar:
    """xgrammar imports torch and transformers for tensors, type hints and logits processors, none of which compiling and
    masking use. Small stand-ins replace those gigabytes; masks go through tvm-ffi's own tensor, made once."""

    name = "xgrammar"

    def __init__(self, ranks, vocab_size, eos):
        def array(value, dtype=None):
            return np.array(value, dtype=np.int32)

        def full(shape, value, dtype=None):
            return np.full(shape, value, dtype=np.int32)

        _stand_in(
            "torch", int32=np.int32, tensor=array, full=full, Tensor=np.ndarray, LongTensor=np.ndarray,
            FloatTensor=np.ndarray, device=object,
        )  # fmt: skip
        _stand_in(
            "transformers", PreTrainedTokenizerBase=object, PreTrainedTokenizerFast=object, LogitsProcessor=object
        )
        import xgrammar

        self._xgrammar = xgrammar
        info = xgrammar.TokenizerInfo(
            list(ranks), xgrammar.VocabType.RAW, vocab_size=vocab_size, stop_token_ids=[eos]
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self.mask = np.zeros(vocab_size // 32, dtype=np.uint32)
        self._tensor = tvm_ffi.from_dlpack(self.mask.view(np.int32).reshape(1, -1))

    def compile(self, schema):
        try:
            # strict_mode off: additionalProperties is what JSON Schema says it is.
            return self._compiler.compile_json_schema(
                schema, any_whitespace=False, separators=(",", ":"), strict_mode=False
            )
        except Exception as error:  # noqa: BLE001 - tvm-ffi raises many kinds
            raise Refused(str(error)) from error

    def start(self, grammar):
        return self._xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=False)._handle

    def fill(self, matcher):
        matcher.fill_next_token_bitmask(self._tensor, 0, False)

    def accept(self, matcher, token):
        return matcher.accept_token(token, False)

    def done(self, matcher):
        return matcher.is_completed()

    def empty_call(self, matcher):
        matcher.max_rollback_tokens()


ENGINES = {engine.name: engine for engine in (Llguidance, Xgrammar)}
