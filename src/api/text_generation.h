// SPDX-License-Identifier: Apache-2.0
#pragma once

// TextGeneration: all raw texts of one completion request, from submission to the last token.
// Leaving early is always safe: the destructor cancels whatever the generator is still working on.

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "api/answers.h"
#include "api/context.h"
#include "api/prepare_completion.h"
#include "api/text_choice.h"
#include "chat/response_json.h"

namespace daybreak::api {

struct TextChoiceDelta {
  std::size_t choice = 0;
  TextDelta delta;
};

// Every function runs on the connection's strand.
class TextGeneration final : public Answers<TextChoice, TextChoiceDelta> {
 public:
  // `completion` must outlive this.
  TextGeneration(Context& context, const PreparedCompletion& completion,
                 const boost::asio::any_io_executor& strand);

  // Hands every choice to the generator, or none. Errors: those of Generator::submit().
  Status submit();

  [[nodiscard]] chat::TokenUsage usage() const;
  // What is to be paid: as usage(), of the prompts those to which an answer has started.
  [[nodiscard]] chat::TokenUsage billed_usage() const;
  [[nodiscard]] const PreparedCompletion& completion() const { return completion_; }
  [[nodiscard]] const TextAnswer& answer(std::size_t choice) const {
    return choices_[choice].answer();
  }
  // For the content log: the choices so far, without log-probabilities, whose texts are pieces.
  [[nodiscard]] std::string choices_json(std::string_view unfinished) const;

 private:
  Status consume(const Batch& batch, std::vector<TextChoiceDelta>& out) override;

  const PreparedCompletion& completion_;
  std::vector<std::size_t> cached_tokens_;  // of each prompt
};

}  // namespace daybreak::api
