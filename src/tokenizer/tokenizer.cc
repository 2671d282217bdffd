// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/byte_pair.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/vocabulary.h"

namespace daybreak::tokenizer {

struct Tokenizer::Parts {
  Vocabulary vocabulary;
  SpecialTokens specials;
};

namespace {

// Returns the contents of a file, of which at most `max_bytes` are taken into memory.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return Error{Errc::kNotFound, path.string() + ": no such file"};
  }
  if (status.type() != std::filesystem::file_type::regular) {
    return Error{Errc::kIo, path.string() + ": expected a regular file"};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{Errc::kIo, path.string() + ": cannot open: " + std::strerror(errno)};
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > max_bytes) {
    return Error{Errc::kTooLarge, path.string() + ": at most " + std::to_string(max_bytes) +
                                      " bytes expected, found " + std::to_string(size)};
  }
  std::string contents(static_cast<std::size_t>(size), '\0');
  file.read(contents.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(file.gcount()) != size) {
    return Error{Errc::kIo, path.string() + ": cannot read: " + std::strerror(errno)};
  }
  return contents;
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Result<std::shared_ptr<const Tokenizer>> Tokenizer::load(const std::filesystem::path& model_dir) {
  DAYBREAK_TRY(const std::string ranks,
               read_file(model_dir / "tiktoken.model", VocabularyLimits{}.max_file_bytes));
  DAYBREAK_TRY(const std::string config,
               read_file(model_dir / "tokenizer_config.json", kMaxConfigBytes));
  auto tokenizer = parse(ranks, config);
  if (!tokenizer) {
    return std::move(tokenizer).error().in(model_dir.string());
  }
  return tokenizer;
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::parse(std::string_view tiktoken_model,
                                                          std::string_view tokenizer_config) {
  DAYBREAK_TRY(Vocabulary vocabulary, Vocabulary::parse(tiktoken_model));
  const auto first_special = static_cast<TokenId>(vocabulary.size());
  DAYBREAK_TRY(SpecialTokens specials, SpecialTokens::parse(tokenizer_config, first_special));
  auto parts = std::make_unique<const Parts>(std::move(vocabulary), std::move(specials));
  return std::shared_ptr<const Tokenizer>(std::make_shared<Tokenizer>(std::move(parts)));
}

void Tokenizer::encode(std::string_view utf8, AllowSpecial allow_special, Slicing slicing,
                       std::vector<TokenId>& out) const {
  if (slicing == Slicing::kOn) {
    return encode_sliced(utf8, allow_special, SliceCaps{}, out);
  }
  if (!is_valid_utf8(utf8)) {
    return encode_span(repair_utf8(utf8), allow_special, out);
  }
  encode_span(utf8, allow_special, out);
}

void Tokenizer::encode_sliced(std::string_view utf8, AllowSpecial allow_special,
                              const SliceCaps& caps, std::vector<TokenId>& out) const {
  std::string repaired;
  if (!is_valid_utf8(utf8)) {
    repaired = repair_utf8(utf8);
    utf8 = repaired;
  }
  for (Slicer slices(utf8, caps); !slices.done();) {
    encode_span(slices.next(), allow_special, out);
  }
}

// Encodes valid UTF-8 without slicing.
void Tokenizer::encode_span(std::string_view text, AllowSpecial allow_special,
                            std::vector<TokenId>& out) const {
  if (allow_special == AllowSpecial::kNo) {
    return encode_ordinary(text, out);
  }
  std::size_t begin = 0;
  while (const auto match = parts_->specials.next_match(text, begin)) {
    encode_ordinary(text.substr(begin, match->begin - begin), out);
    out.push_back(match->id);
    begin = match->end;
  }
  encode_ordinary(text.substr(begin), out);
}

void Tokenizer::encode_ordinary(std::string_view text, std::vector<TokenId>& out) const {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = piece_end(text, begin);
    encode_piece(parts_->vocabulary, text.substr(begin, end - begin), out);
    begin = end;
  }
}

std::string_view Tokenizer::bytes_of(TokenId id) const {
  if (id < parts_->vocabulary.size()) {
    return parts_->vocabulary.bytes_of(id);
  }
  return is_special(id) ? parts_->specials.spelling(id) : kReplacementCharacter;
}

std::size_t Tokenizer::vocab_size() const { return parts_->vocabulary.size() + kSpecialSlots; }

std::optional<TokenId> Tokenizer::special(std::string_view spelling) const {
  return parts_->specials.find(spelling);
}

bool Tokenizer::is_special(TokenId id) const { return parts_->specials.contains(id); }

bool Tokenizer::skip_special(TokenId id) const {
  return is_special(id) && parts_->specials.flagged_special(id);
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string bytes = decode_bytes(ids);
  return is_valid_utf8(bytes) ? bytes : repair_utf8(bytes);
}

std::string Tokenizer::decode_bytes(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) {
    bytes += bytes_of(id);
  }
  return bytes;
}

}  // namespace daybreak::tokenizer
