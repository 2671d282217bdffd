// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scope of a sequence as text (see BlockHasher): what beside its ids its state depends on, or
// who alone may go on from it. Two sequences share nothing unless these texts are equal.

#include <string>
#include <string_view>

namespace daybreak::cache {

struct ScopeParts {
  std::string_view isolation;    // whose it is: any text
  std::string_view lora_name;    // as clients call the adapter; empty: none
  std::string_view lora_digest;  // of what it computes; not empty with a name
};

// Returns a text that differs if a part does. Without an adapter it is `isolation`, unless that
// begins with the mark of an adapter.
// REQUIRES: name and digest have no U+001F.
[[nodiscard]] std::string make_scope(const ScopeParts& parts);

// Returns what make_scope() was given, in `scope`'s memory; of any other text something.
[[nodiscard]] ScopeParts split_scope(std::string_view scope);

}  // namespace daybreak::cache
