// SPDX-License-Identifier: Apache-2.0
#include "chat/required_field.h"

#include <string>
#include <utility>

namespace daybreak::chat {

Error missing_field(const Field& owner, std::string_view key, std::string_view what) {
  return {Errc::kInvalidArgument,
          owner.path_of(key) + ": expected " + std::string(what) + ", found nothing"};
}

Result<Field> required_field(const Field& owner, std::string_view key, std::string_view what) {
  if (auto field = owner.find(key)) {
    return *std::move(field);
  }
  return missing_field(owner, key, what);
}

}  // namespace daybreak::chat
