// SPDX-License-Identifier: Apache-2.0
#include "cli/generate_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace daybreak::cli {
namespace {

using Json = nlohmann::ordered_json;

Json logprobs_json(std::span<const engine::GeneratedToken> tokens) {
  Json list = Json::array();
  for (const engine::GeneratedToken& token : tokens) {
    Json top = Json::array();
    for (const engine::TokenLogprob& entry : token.top) {
      top.push_back({{"id", entry.id}, {"logprob", entry.logprob}});
    }
    list.push_back({{"id", token.id}, {"logprob", token.logprob}, {"top", std::move(top)}});
  }
  return list;
}

double rate(std::size_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
}

}  // namespace

GenerateOutput::GenerateOutput(const tokenizer::Tokenizer* tokenizer, OutputForm form)
    : tokenizer_(tokenizer), form_(form) {
  if (tokenizer != nullptr) {
    decoder_.emplace(*tokenizer);
  }
}

void GenerateOutput::prompt_progress(std::size_t done, std::size_t total) {
  progress_.show(done, total);
  if (done == total) {
    progress_.clear();
    prompt_done_ = Clock::steady().now();
  }
}

bool GenerateOutput::token(const engine::GeneratedToken& token, std::span<const TokenId> stop_ids) {
  tokens_.push_back(token);
  const bool stop = std::find(stop_ids.begin(), stop_ids.end(), token.id) != stop_ids.end();
  if (decoder_.has_value() && !stop) {
    decoder_->push(token.id, text_);
  } else if (!decoder_.has_value() && form_ == OutputForm::kText) {
    text_ = fmt::format("{}{}", tokens_.size() > 1 ? "," : "", token.id);
  }
  if (form_ != OutputForm::kText) {
    return true;
  }
  const bool written = std::fwrite(text_.data(), 1, text_.size(), stdout) == text_.size() &&
                       std::fflush(stdout) == 0;
  text_.clear();
  return written;
}

Status GenerateOutput::finish(std::span<const TokenId> prompt,
                              const engine::SessionAnswer& answer) {
  if (decoder_.has_value()) {
    decoder_->finish(text_);
  }
  write_speed(answer);
  if (form_ != OutputForm::kText) {
    return write_json(prompt, answer);
  }
  text_ += '\n';
  if (std::fwrite(text_.data(), 1, text_.size(), stdout) != text_.size() ||
      std::fflush(stdout) != 0) {
    return Error{Errc::kIo, fmt::format("standard output: {}", std::strerror(errno))};
  }
  return ok();
}

Status GenerateOutput::write_json(std::span<const TokenId> prompt,
                                  const engine::SessionAnswer& answer) const {
  Json ids = Json::array();
  for (const engine::GeneratedToken& token : tokens_) {
    ids.push_back(token.id);
  }
  Json object;
  object["prompt_ids"] = prompt;
  object["ids"] = std::move(ids);
  object["text"] = tokenizer_ == nullptr ? Json(nullptr) : Json(text_);
  object["finish_reason"] = engine::to_string(answer.finish);
  if (form_ == OutputForm::kJsonWithLogprobs) {
    object["logprobs"] = logprobs_json(tokens_);
  }
  const std::string line = object.dump() + "\n";
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    return Error{Errc::kIo, fmt::format("standard output: {}", std::strerror(errno))};
  }
  return ok();
}

void GenerateOutput::write_speed(const engine::SessionAnswer& answer) const {
  const Clock::TimePoint now = Clock::steady().now();
  const Clock::TimePoint read = prompt_done_.value_or(now);
  const double reading = seconds_between(started_, read);
  const double writing = seconds_between(read, now);
  fmt::print(stderr, "prompt: {} tokens, {:.1f} tok/s\n", answer.usage.prompt_tokens,
             rate(answer.usage.prompt_tokens, reading));
  // The first token comes with the prompt; every later one takes a step.
  if (tokens_.size() > 1) {
    fmt::print(stderr, "answer: {} tokens, {:.1f} tok/s\n", tokens_.size(),
               rate(tokens_.size() - 1, writing));
  }
}

void LogitsFile::write(std::span<const float> row) {
  static_assert(std::endian::native == std::endian::little);
  if (path_.empty()) {
    return;
  }
  std::FILE* file = std::fopen(path_.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(row.data(), sizeof(float), row.size(), file) == row.size();
  const bool closed = file == nullptr || std::fclose(file) == 0;
  if (!written || !closed) {
    failure_ = std::strerror(errno);
  }
}

Status LogitsFile::status() const {
  if (failure_.empty()) {
    return ok();
  }
  return Error{Errc::kIo, fmt::format("--logits-out {}: {}", path_, failure_)};
}

}  // namespace daybreak::cli
