// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text of a growing sequence of token ids. A token may end inside a UTF-8 sequence, so 1 to 3
// bytes can be held back until the next token completes them or proves them invalid.

#include <string>
#include <string_view>

#include "base/token.h"
#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::tokenizer {

// For any ids, the outputs of push(id)... finish() joined equal Tokenizer::decode(ids). Each output
// is valid UTF-8 on its own. A decoder starts fresh: it never repeats a tail of the prompt, even
// if the prompt ends inside a character. Not thread-safe.
// Source: spec k3-frontend.md section 1.7.
class StreamDecoder {
 public:
  // `tokenizer` must outlive the decoder.
  explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  // Appends to `out` what is certain after `id`: complete sequences, and U+FFFD at once for bytes
  // that cannot become valid. May append nothing.
  void push(TokenId id, std::string& out) { push_bytes(tokenizer_->bytes_of(id), out); }

  // The same for bytes that come from elsewhere in the same stream.
  void push_bytes(std::string_view bytes, std::string& out) { repairer_.push(bytes, out); }

  // Appends U+FFFD if a sequence is unfinished, and starts afresh.
  void finish(std::string& out) { repairer_.finish(out); }

  // Whether bytes are held back.
  bool pending() const { return repairer_.pending(); }

 private:
  const Tokenizer* tokenizer_;
  Utf8Repairer repairer_;
};

}  // namespace daybreak::tokenizer
