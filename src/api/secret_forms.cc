// SPDX-License-Identifier: Apache-2.0
#include "api/secret_forms.h"

#include <algorithm>
#include <array>

#include "api/text_scan.h"
#include "http/message.h"

namespace daybreak::api {
namespace {

// How issuers begin their secrets, and how much must follow.
struct SecretForm {
  std::string_view start;
  std::size_t least;
  bool dots = false;  // there may be some in it
};
constexpr std::array kSecretForms = {
    SecretForm{"xapp-", 10},       SecretForm{"xoxc-", 10},       SecretForm{"xoxd-", 10},
    SecretForm{"xoxe-", 10},       SecretForm{"xoxe.", 10, true}, SecretForm{"ya29.", 16, true},
    SecretForm{"SG.", 22, true},   SecretForm{"whsec_", 16},      SecretForm{"gsk_", 20},
    SecretForm{"nvapi-", 20},      SecretForm{"shpat_", 20},      SecretForm{"dckr_pat_", 16},
    SecretForm{"dop_v1_", 20},     SecretForm{"sk-", 16},         SecretForm{"pk-", 16},
    SecretForm{"rk-", 16},         SecretForm{"sk_", 16},         SecretForm{"pk_", 16},
    SecretForm{"rk_", 16},         SecretForm{"ghp_", 20},        SecretForm{"gho_", 20},
    SecretForm{"ghu_", 20},        SecretForm{"ghs_", 20},        SecretForm{"ghr_", 20},
    SecretForm{"github_pat_", 20}, SecretForm{"glpat-", 16},      SecretForm{"hf_", 20},
    SecretForm{"AKIA", 16},        SecretForm{"ASIA", 16},        SecretForm{"AIza", 30},
    SecretForm{"xoxa-", 10},       SecretForm{"xoxb-", 10},       SecretForm{"xoxp-", 10},
    SecretForm{"xoxr-", 10},       SecretForm{"xoxs-", 10},       SecretForm{"npm_", 20},
    SecretForm{"pypi-", 16}};

std::optional<std::size_t> private_key_length(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  if (!text.starts_with(kBegin)) {
    return std::nullopt;
  }
  const std::string_view title = text.substr(0, std::min<std::size_t>(text.size(), 64));
  if (title.find("PRIVATE KEY-----") == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t end = text.find(kEnd, kBegin.size());
  if (end == std::string_view::npos) {
    return text.size();  // cut, but still a key
  }
  const std::size_t close = text.find("-----", end + kEnd.size());
  return close == std::string_view::npos ? text.size() : close + 5;
}

// Of a token that may have dots in it, but for those that end a sentence.
std::size_t dotted_length(std::string_view text) {
  std::size_t size = run_length(text, is_bearer);
  while (size > 0 && text[size - 1] == '.') {
    --size;
  }
  return size;
}

// Whether base64 stands for what Basic sends, "user:password" (RFC 7617), and is no other word.
bool is_user_and_password(std::string_view base64) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  bool colon = false;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char c : base64.substr(0, base64.find('='))) {
    bits = (bits << 6U | static_cast<unsigned>(kDigits.find(c))) & 0xFFFFU;
    held += 6;
    if (held >= 8) {
      held -= 8;
      const unsigned byte = bits >> held & 0xFFU;
      colon = colon || byte == ':';
      if (byte < 0x20 || byte == 0x7F) {
        return false;
      }
    }
  }
  return colon;
}

// What follows the name of a scheme, however that is written (RFC 9110, 11.1).
std::optional<std::size_t> credentials_length(std::string_view text) {
  const auto follows = [text](std::string_view scheme) {
    return text.size() > scheme.size() && http::same_name(text.substr(0, scheme.size()), scheme);
  };
  constexpr std::string_view kBearer = "bearer ";
  constexpr std::string_view kBasic = "basic ";
  if (follows(kBearer)) {
    const std::size_t more = dotted_length(text.substr(kBearer.size()));
    return more >= 16 ? std::optional(kBearer.size() + more) : std::nullopt;
  }
  if (follows(kBasic)) {
    const std::size_t more = run_length(text.substr(kBasic.size()), is_base64);
    if (is_user_and_password(text.substr(kBasic.size(), more))) {
      return kBasic.size() + more;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> secret_length(std::string_view text) {
  if (const auto key = private_key_length(text)) {
    return key;
  }
  for (const SecretForm& form : kSecretForms) {
    if (text.starts_with(form.start)) {
      const std::string_view rest = text.substr(form.start.size());
      const std::size_t more = form.dots ? dotted_length(rest) : run_length(rest, is_token);
      if (more >= form.least) {
        return form.start.size() + more;
      }
    }
  }
  return credentials_length(text);
}

std::optional<std::size_t> web_token_length(std::string_view text) {
  if (!text.starts_with("eyJ")) {
    return std::nullopt;
  }
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t size = run_length(text.substr(at), is_token);
    at += size;
    if (size < (part == 2 ? 1 : 4)) {
      return std::nullopt;
    }
    if (part < 2 && (at >= text.size() || text[at++] != '.')) {
      return std::nullopt;
    }
  }
  return at;
}

std::optional<std::size_t> user_info_length(std::string_view text) {
  constexpr std::string_view kStart = "://";
  constexpr std::size_t kMost = 512;
  constexpr std::size_t kTokenBytes = 16;  // a user's name alone is shorter, mostly
  if (!text.starts_with(kStart)) {
    return std::nullopt;
  }
  const std::string_view authority = text.substr(kStart.size(), kMost);
  const std::string_view before =
      authority.substr(0, authority.find_first_of("/?# \t\r\n\"'<>`\\"));
  const std::size_t at = before.rfind('@');
  if (at == std::string_view::npos ||
      (before.substr(0, at).find(':') == std::string_view::npos && at < kTokenBytes)) {
    return std::nullopt;
  }
  return kStart.size() + at;
}

}  // namespace daybreak::api
