// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text to token ids and back, exactly as Kimi K3's own tokenizer does it: byte-level BPE over the
// ranks of tiktoken.model, followed by a block of 256 special tokens named by
// tokenizer_config.json. Every id comes from those two files.
//
// Source: spec k3-frontend.md section 1.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "tokenizer/slicer.h"

namespace daybreak::tokenizer {

// Whether the spellings of special tokens become their ids. There is no default: text written by a
// user must be encoded with kNo, otherwise it forges structure.
enum class AllowSpecial : bool { kNo, kYes };

// Whether long inputs are cut as the released tokenizer cuts them (see slicer.h). kOff encodes the
// text in one go, which gives other ids for texts above the caps.
enum class Slicing : bool { kOff, kOn };

// An immutable vocabulary with its encoder and decoder. Thread-safe: all members are const and
// share no mutable state.
class Tokenizer {
 public:
  // Reads tiktoken.model and tokenizer_config.json in `model_dir`. The result is shared by the
  // chat layer and the engine, which end in any order.
  // Errors: kNotFound (a file is missing), kIo, kTooLarge, kCorrupt; the message names the file
  // and, for tiktoken.model, the line.
  static Result<std::shared_ptr<const Tokenizer>> load(const std::filesystem::path& model_dir);

  // The same from the contents of the two files. Errors: kTooLarge, kCorrupt.
  static Result<std::shared_ptr<const Tokenizer>> parse(std::string_view tiktoken_model,
                                                        std::string_view tokenizer_config);

  struct Parts;
  // For load and parse, which alone can make the argument.
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Appends the ids of `utf8` to `out`. No BOS or EOS is added. Two calls never merge across their
  // border, so a prompt of segments is the concatenation of one call per segment.
  // Bytes that are not UTF-8 are replaced by U+FFFD, one per maximal invalid subpart, before
  // anything else happens. Time O(n log n).
  void encode(std::string_view utf8, AllowSpecial allow_special, Slicing slicing,
              std::vector<TokenId>& out) const;

  // As encode with Slicing::kOn, with other caps than the released ones.
  void encode_sliced(std::string_view utf8, AllowSpecial allow_special, const SliceCaps& caps,
                     std::vector<TokenId>& out) const;

  // Returns the bytes a token stands for, its spelling for a special token. They may be a part of
  // a UTF-8 sequence. An id that the vocabulary does not have gives U+FFFD: visible, never dropped.
  // The view lives as long as the tokenizer.
  std::string_view bytes_of(TokenId id) const;

  // Number of ids: all ranks plus the 256 slots of the special block.
  std::size_t vocab_size() const;

  // Returns the id whose spelling is exactly `spelling`, of any of the 256 slots.
  std::optional<TokenId> special(std::string_view spelling) const;

  // Whether `id` lies in the special block: it steers the model and is not text. This holds for
  // markers such as <|open|> too, which their file calls special:false.
  bool is_special(TokenId id) const;

  // Whether the file says special:true, that is, whether skip_special_tokens=true of the original
  // library leaves `id` out. Unnamed slots are special:true. False for ranks.
  bool skip_special(TokenId id) const;

  // Returns the text of `ids`: their bytes joined, nothing inserted between them, then every
  // maximal invalid subpart replaced by U+FFFD. Always valid UTF-8.
  std::string decode(std::span<const TokenId> ids) const;

  // Returns the joined bytes themselves, which need not be UTF-8.
  std::string decode_bytes(std::span<const TokenId> ids) const;

 private:
  void encode_span(std::string_view text, AllowSpecial allow_special,
                   std::vector<TokenId>& out) const;
  void encode_ordinary(std::string_view text, std::vector<TokenId>& out) const;

  std::unique_ptr<const Parts> parts_;
};

}  // namespace daybreak::tokenizer
