// SPDX-License-Identifier: Apache-2.0
#pragma once

// UTF-8: validation, repair and code points. Invalid input is repaired as the Unicode standard
// recommends (section 3.9, U+FFFD substitution of maximal subparts), which is what browsers and
// Python's errors="replace" do.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak {

// U+FFFD REPLACEMENT CHARACTER in UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// What the bytes at one place of a text are.
struct Utf8Step {
  enum class Kind : std::uint8_t {
    kValid,       // one code point
    kInvalid,     // a maximal subpart that no further byte can make valid
    kIncomplete,  // a proper prefix of a valid sequence that reaches the end of the text
  };
  Kind kind;
  std::uint8_t length;       // bytes it covers, 1 to 4
  std::uint32_t code_point;  // if kValid
};

// Classifies the bytes at `text[at]`. REQUIRES: at < text.size().
[[nodiscard]] Utf8Step utf8_step(std::string_view text, std::size_t at);

// Whether `text` is valid UTF-8 (surrogates, overlong forms and values above U+10FFFF are not).
[[nodiscard]] bool is_valid_utf8(std::string_view text);

// Returns `text` with each maximal invalid subpart, and an incomplete end, replaced by U+FFFD.
[[nodiscard]] std::string repair_utf8(std::string_view text);

// Appends the UTF-8 form of a code point. REQUIRES: code_point <= 0x10FFFF, not a surrogate.
void append_utf8(std::uint32_t code_point, std::string& out);

// A code point and the bytes it takes.
struct CodePoint {
  std::uint32_t value;
  std::uint32_t length;
};

// Reads the code point at `text[at]` without checks, for loops over text known to be valid.
// REQUIRES: `text` is valid UTF-8 and `at` is the first byte of a sequence.
[[nodiscard]] inline CodePoint valid_code_point(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[at + i])};
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1};
  }
  if (lead < 0xE0) {
    return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  }
  if (lead < 0xF0) {
    return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  }
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
          4};
}

// repair_utf8 for a text that arrives in parts: the outputs joined are repair_utf8 of the parts
// joined, and every output is valid UTF-8. Holds back at most 3 bytes. Not thread-safe.
class Utf8Repairer {
 public:
  // Appends what is certain: complete sequences, and U+FFFD at once for bytes that cannot become
  // valid.
  void push(std::string_view bytes, std::string& out);

  // Appends U+FFFD if a sequence is unfinished, and starts afresh.
  void finish(std::string& out);

  [[nodiscard]] bool pending() const { return held_size_ != 0; }

 private:
  std::array<char, 4> held_{};  // an incomplete sequence
  std::size_t held_size_ = 0;
};

}  // namespace daybreak
