// SPDX-License-Identifier: Apache-2.0
#pragma once

// AnswerCollector: gathers the Updates of one request and lets a test wait for the last one. It
// also checks the generator's manners: usage adds up, nothing follows the end. Test code only.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "engine/generator.h"

namespace daybreak::engine {

class AnswerCollector {
 public:
  // The collector must outlive the request.
  UpdateFn fn() {
    return [this](const Update& update) { take(update); };
  }

  FinishReason wait() {
    if (finish_.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      ADD_FAILURE() << "no end within a minute";
      std::abort();  // the generator still holds a pointer to this object
    }
    return finish_.get();
  }
  bool finished_within(std::chrono::milliseconds time) {
    return finish_.wait_for(time) == std::future_status::ready;
  }

  // Below: after wait().
  const std::vector<TokenId>& ids() const { return ids_; }
  const std::vector<PromptLogprob>& prompt() const { return prompt_; }
  const std::string& error() const { return error_; }
  const Usage& usage() const { return usage_; }
  const RequestTimes& times() const { return times_; }

 private:
  void take(const Update& update) {
    EXPECT_FALSE(ended_) << "an update after the last one";
    EXPECT_EQ(update.error != nullptr, update.finish == FinishReason::kError);
    EXPECT_TRUE(update.prompt.empty() || ids_.empty()) << "the prompt after the first token";
    prompt_.insert(prompt_.end(), update.prompt.begin(), update.prompt.end());
    for (const GeneratedToken& token : update.tokens) {
      ids_.push_back(token.id);
    }
    EXPECT_EQ(update.usage.completion_tokens, ids_.size());
    usage_ = update.usage;
    times_ = update.times;
    if (update.error != nullptr) {
      error_ = update.error->message;
    }
    if (update.finish.has_value()) {
      ended_ = true;
      done_.set_value(*update.finish);
    }
  }

  std::vector<TokenId> ids_;
  std::vector<PromptLogprob> prompt_;
  std::string error_;
  Usage usage_;
  RequestTimes times_;
  bool ended_ = false;
  std::promise<FinishReason> done_;
  std::shared_future<FinishReason> finish_ = done_.get_future().share();
};

}  // namespace daybreak::engine
