// SPDX-License-Identifier: Apache-2.0
#include "chat/markers.h"

#include <array>
#include <string>
#include <utility>

namespace daybreak::chat {

Result<MarkerIds> MarkerIds::from(const tokenizer::Tokenizer& tokenizer) {
  MarkerIds ids;
  const std::array<std::pair<std::string_view, TokenId*>, 4> wanted = {{
      {kOpenMarker, &ids.open},
      {kCloseMarker, &ids.close},
      {kSepMarker, &ids.sep},
      {kEndOfMessageMarker, &ids.end_of_msg},
  }};
  for (const auto& [spelling, id] : wanted) {
    const auto found = tokenizer.special(spelling);
    if (!found) {
      return Error{Errc::kNotFound, "tokenizer_config.json: expected a special token '" +
                                        std::string(spelling) + "', found none"};
    }
    *id = *found;
  }
  ids.eos = tokenizer.special("[EOS]");
  ids.eot = tokenizer.special("[EOT]");
  return ids;
}

std::vector<TokenId> MarkerIds::stop_ids() const {
  std::vector<TokenId> ids{end_of_msg};
  for (const std::optional<TokenId>& extra : {eos, eot}) {
    if (extra) {
      ids.push_back(*extra);
    }
  }
  return ids;
}

}  // namespace daybreak::chat
