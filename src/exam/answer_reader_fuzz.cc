// SPDX-License-Identifier: Apache-2.0
// Any bytes as a stream of events: the reader ends with an answer or an error, and which does not
// depend on how the bytes arrive. The first byte of the input chooses the cuts.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "exam/answer_reader.h"

namespace {

using daybreak::Result;
using daybreak::exam::Answer;
using daybreak::exam::AnswerReader;

Result<Answer> read(std::string_view bytes, std::size_t piece) {
  AnswerReader reader;
  while (!bytes.empty()) {
    const std::string_view some = bytes.substr(0, piece);
    if (auto taken = reader.take(some); !taken) {
      return std::move(taken).error();
    }
    bytes.remove_prefix(some.size());
  }
  return std::move(reader).finish();
}

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = read(bytes, std::max<std::size_t>(bytes.size(), 1));
  const auto cut = read(bytes, data[0] % 32U + 1U);
  require(whole.has_value() == cut.has_value());
  if (whole) {
    require(whole->content == cut->content && whole->reasoning == cut->reasoning &&
            whole->calls == cut->calls && whole->ids == cut->ids &&
            whole->finish_reason == cut->finish_reason);
  } else {
    require(whole.error() == cut.error());
  }
  static_cast<void>(daybreak::exam::error_message(bytes));
  return 0;
}
