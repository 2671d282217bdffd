// SPDX-License-Identifier: Apache-2.0
#pragma once

// What `daybreak generate` writes: text as it comes or one JSON object on stdout, speed and
// progress on stderr, the prompt's logits to a file.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/progress.h"
#include "engine/session.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {

enum class OutputForm : std::uint8_t { kText, kJson, kJsonWithLogprobs };

class GenerateOutput {
 public:
  // Without a tokenizer, ids are written instead of text and the JSON's "text" is null.
  GenerateOutput(const tokenizer::Tokenizer* tokenizer, OutputForm form);

  void prompt_progress(std::size_t done, std::size_t total);

  // Takes a token, and writes it in text form; a stop id ends the answer and is not part of the
  // text. Returns false when stdout takes no more.
  bool token(const engine::GeneratedToken& token, std::span<const TokenId> stop_ids);

  // Writes what is left and the speed. Errors: kIo when stdout took not everything.
  Status finish(std::span<const TokenId> prompt, const engine::SessionAnswer& answer);

 private:
  Status write_json(std::span<const TokenId> prompt, const engine::SessionAnswer& answer) const;
  void write_speed(const engine::SessionAnswer& answer) const;

  const tokenizer::Tokenizer* tokenizer_;
  const OutputForm form_;
  std::optional<tokenizer::StreamDecoder> decoder_;
  std::vector<engine::GeneratedToken> tokens_;
  std::string text_;  // JSON form: all of it; text form: not yet written
  Progress progress_{"reading prompt"};
  Clock::TimePoint started_ = Clock::steady().now();
  std::optional<Clock::TimePoint> prompt_done_;
};

// Writes one row of logits as raw little-endian float32.
class LogitsFile {
 public:
  explicit LogitsFile(std::string path) : path_(std::move(path)) {}  // empty: write nothing
  void write(std::span<const float> row);
  // Errors: kIo naming the file.
  [[nodiscard]] Status status() const;

 private:
  std::string path_;
  std::string failure_;
};

}  // namespace daybreak::cli
