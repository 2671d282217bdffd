// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of tokenizer_config.json that names special tokens.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"

namespace daybreak::tokenizer {

// One entry of "added_tokens_decoder".
struct SpecialName {
  TokenId id;
  std::string content;  // 1 to kMaxSpellingBytes bytes
  bool special;
};

// Returns the entries of "added_tokens_decoder", in the order of their ids as text. Errors: see
// SpecialTokens::parse; duplicate spellings are not looked for here.
Result<std::vector<SpecialName>> parse_special_names(std::string_view config_json,
                                                     TokenId first_id);

}  // namespace daybreak::tokenizer
