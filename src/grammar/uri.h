// SPDX-License-Identifier: Apache-2.0
#pragma once

// URI references as schemas use them in $id and $ref: RFC 3986 section 5.2, without normalisation
// (two spellings of one URI are two URIs, as JSON Schema has it).

#include <optional>
#include <string>
#include <string_view>

namespace daybreak::grammar {

// A URI reference in its five parts; the absent and the empty are told apart where that matters.
struct Uri {
  std::optional<std::string_view> scheme, authority;
  std::string_view path;
  std::optional<std::string_view> query, fragment;
};

// Splits a reference; every text has a reading. The parts point into `text`.
[[nodiscard]] Uri split_uri(std::string_view text);

// Returns `reference` resolved against `base`, without its fragment. `base` may itself be relative
// (a document without a URI has the base "").
[[nodiscard]] std::string resolve_uri(std::string_view base, std::string_view reference);

// Returns `text` with %HH replaced by bytes, or nothing if that is not valid UTF-8 or an escape is
// broken.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

}  // namespace daybreak::grammar
