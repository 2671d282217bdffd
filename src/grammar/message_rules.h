// SPDX-License-Identifier: Apache-2.0
#pragma once

// MessageRules: what one assistant message must look like, free of any wire format. compile()
// turns it into a Grammar over the whole message, from the channel the prompt left open to
// end_of_msg, markers as token ids.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "grammar/formats.h"
#include "grammar/grammar.h"

namespace daybreak::grammar {

struct MessageMarkers {
  TokenId open = 0, close = 0, sep = 0, end_of_msg = 0;
  friend bool operator==(const MessageMarkers&, const MessageMarkers&) = default;
};

struct ToolRule {
  std::string name;
  std::string parameters;  // JSON Schema text; empty: any arguments
  bool strict = true;      // false: the call's envelope only
  friend bool operator==(const ToolRule&, const ToolRule&) = default;
};

struct MessageRules {
  // The channel that is open. kBare: no message at all, the answer is the body alone and has no
  // markers (raw completions).
  enum class Start : std::uint8_t { kThink, kResponse, kNone, kBare };
  enum class Body : std::uint8_t {
    kText,        // anything without markers
    kJsonObject,  // one JSON object
    kSchema,      // JSON of the schema `body`
    kRegex,       // text that the whole of the pattern `body` matches
    kChoice,      // one of `choices`
    kGrammar,     // text of the EBNF or Lark grammar `body`
  };
  enum class Tools : std::uint8_t { kNone, kOptional, kRequired };

  Start start = Start::kThink;
  Body body = Body::kText;
  std::string body_source;
  std::vector<std::string> choices;
  Tools use = Tools::kNone;
  std::vector<ToolRule> tools;  // callable ones only: for a named choice, just that one
  bool parallel = true;
  std::string partial;  // text of the open channel that the prompt holds already

  // False when nothing needs constraining: compile() need not be called.
  [[nodiscard]] bool constrains() const;
  friend bool operator==(const MessageRules&, const MessageRules&) = default;
};

struct CompileLimits {
  std::uint64_t steps = 4'000'000;
};

// Integers have no fraction. Errors: kInvalidArgument, kUnsupported, kTooLarge; the message is
// about the body, or starts with "tools[I].function.parameters: ", I being an index of rules.tools.
[[nodiscard]] Result<std::shared_ptr<const Grammar>> compile(const MessageRules& rules,
                                                             const MessageMarkers& markers,
                                                             const CompileLimits& limits = {});

// Whether one space may follow ',' and ':'. Other whitespace never may.
enum class JsonSpaces : bool { kNone, kOptional };

// How an integer may be spelled. 1.0 is one by JSON Schema's count, but many clients' parsers make
// a floating-point number of it, and its zeros have no end.
enum class Integers : bool { kPlain, kZeroFraction };

struct SchemaGrammarOptions {
  JsonSpaces spaces = JsonSpaces::kNone;
  Integers integers = Integers::kZeroFraction;
  Formats formats = Formats::kAssert;
  CompileLimits limits = {};
};

// Whether `text` is a JSON value of `schema`, as the automaton has it. Errors: those of
// compile_schema(), but a schema that nothing satisfies is no error: it takes no text.
[[nodiscard]] Result<bool> schema_accepts(std::string_view schema, std::string_view text,
                                          const SchemaGrammarOptions& options = {});

// A JSON value of `schema` alone, for `schema accept`, completions and tests.
[[nodiscard]] Result<std::shared_ptr<const Grammar>> compile_schema(
    std::string_view schema, const SchemaGrammarOptions& options = {});
// Bare text forms.
[[nodiscard]] Result<std::shared_ptr<const Grammar>> compile_regex_grammar(
    std::string_view pattern, const CompileLimits& limits = {});
[[nodiscard]] Result<std::shared_ptr<const Grammar>> compile_choice(
    std::span<const std::string> choices, const CompileLimits& limits = {});
[[nodiscard]] Result<std::shared_ptr<const Grammar>> compile_text_grammar(
    std::string_view text, const CompileLimits& limits = {});

}  // namespace daybreak::grammar
