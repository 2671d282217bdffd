// SPDX-License-Identifier: Apache-2.0
#pragma once

// The structural special tokens of the K3 dialect, by spelling and by id. Ids always come from the
// model's own tokenizer files.

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::chat {

inline constexpr std::string_view kOpenMarker = "<|open|>";
inline constexpr std::string_view kCloseMarker = "<|close|>";
inline constexpr std::string_view kSepMarker = "<|sep|>";
inline constexpr std::string_view kEndOfMessageMarker = "<|end_of_msg|>";
inline constexpr std::string_view kMediaBeginMarker = "<|media_begin|>";
inline constexpr std::string_view kMediaContentMarker = "<|media_content|>";
inline constexpr std::string_view kMediaEndMarker = "<|media_end|>";
inline constexpr std::string_view kMediaPadMarker = "<|media_pad|>";

struct MarkerIds {
  TokenId open = 0;
  TokenId close = 0;
  TokenId sep = 0;
  TokenId end_of_msg = 0;
  std::optional<TokenId> eos;  // "[EOS]" and "[EOT]": never rendered, but a model that emits one
  std::optional<TokenId> eot;  // has ended its turn

  // Looks the spellings up. Errors: kNotFound naming the marker the vocabulary lacks.
  static Result<MarkerIds> from(const tokenizer::Tokenizer& tokenizer);

  // Returns every id that ends generation, end_of_msg first.
  [[nodiscard]] std::vector<TokenId> stop_ids() const;

  [[nodiscard]] bool is_stop(TokenId id) const {
    return id == end_of_msg || (eos && id == *eos) || (eot && id == *eot);
  }
};

}  // namespace daybreak::chat
