// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <algorithm>
#include <cstring>

namespace daybreak {
namespace {

// What a lead byte promises: the sequence's length (0: not a lead byte) and the range of the second
// byte, where overlong forms, surrogates and values above U+10FFFF are excluded (Unicode table
// 3-7).
struct Lead {
  std::uint8_t length;
  unsigned char second_min;
  unsigned char second_max;
};

Lead classify_lead(unsigned char byte) {
  if (byte < 0x80) {
    return {1, 0, 0};
  }
  if (byte < 0xC2 || byte > 0xF4) {
    return {0, 0, 0};
  }
  if (byte < 0xE0) {
    return {2, 0x80, 0xBF};
  }
  if (byte < 0xF0) {
    return {3, static_cast<unsigned char>(byte == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(byte == 0xED ? 0x9F : 0xBF)};
  }
  return {4, static_cast<unsigned char>(byte == 0xF0 ? 0x90 : 0x80),
          static_cast<unsigned char>(byte == 0xF4 ? 0x8F : 0xBF)};
}

// Returns the first place at or after `at` that is not ASCII, or the size.
std::size_t skip_ascii(std::string_view text, std::size_t at) {
  while (at + 8 <= text.size()) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080U) != 0) {
      break;
    }
    at += 8;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) {
    ++at;
  }
  return at;
}

// Returns the end of the longest valid part that starts at `at`.
std::size_t skip_valid(std::string_view text, std::size_t at) {
  for (;;) {
    at = skip_ascii(text, at);
    if (at == text.size()) {
      return at;
    }
    const Utf8Step step = utf8_step(text, at);
    if (step.kind != Utf8Step::Kind::kValid) {
      return at;
    }
    at += step.length;
  }
}

}  // namespace

Utf8Step utf8_step(std::string_view text, std::size_t at) {
  using Kind = Utf8Step::Kind;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const Lead lead = classify_lead(byte(0));
  if (lead.length == 0) {
    return {Kind::kInvalid, 1, 0};
  }
  const std::size_t available = std::min<std::size_t>(lead.length, text.size() - at);
  for (std::uint8_t i = 1; i < available; ++i) {
    const unsigned char low = i == 1 ? lead.second_min : 0x80;
    const unsigned char high = i == 1 ? lead.second_max : 0xBF;
    if (byte(i) < low || byte(i) > high) {
      return {Kind::kInvalid, i, 0};
    }
  }
  if (available < lead.length) {
    return {Kind::kIncomplete, static_cast<std::uint8_t>(available), 0};
  }
  return {Kind::kValid, lead.length, valid_code_point(text, at).value};
}

bool is_valid_utf8(std::string_view text) { return skip_valid(text, 0) == text.size(); }

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  Utf8Repairer repairer;
  repairer.push(text, out);
  repairer.finish(out);
  return out;
}

void append_utf8(std::uint32_t code_point, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

void Utf8Repairer::push(std::string_view bytes, std::string& out) {
  // A held sequence takes bytes one at a time until it is decided; at most three are needed.
  while (held_size_ != 0 && !bytes.empty()) {
    held_[held_size_++] = bytes.front();
    const std::string_view held(held_.data(), held_size_);
    const Utf8Step step = utf8_step(held, 0);
    if (step.kind == Utf8Step::Kind::kInvalid) {
      // The new byte is not part of the bad sequence; it starts over below.
      out += kReplacementCharacter;
      held_size_ = 0;
      break;
    }
    bytes.remove_prefix(1);
    if (step.kind == Utf8Step::Kind::kValid) {
      out += held;
      held_size_ = 0;
    }
  }
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t valid_end = skip_valid(bytes, at);
    out += bytes.substr(at, valid_end - at);
    at = valid_end;
    if (at == bytes.size()) {
      return;
    }
    const Utf8Step step = utf8_step(bytes, at);
    if (step.kind == Utf8Step::Kind::kIncomplete) {
      std::copy_n(bytes.data() + at, step.length, held_.data());
      held_size_ = step.length;
      return;
    }
    out += kReplacementCharacter;
    at += step.length;
  }
}

void Utf8Repairer::finish(std::string& out) {
  if (held_size_ != 0) {
    out += kReplacementCharacter;
    held_size_ = 0;
  }
}

}  // namespace daybreak
