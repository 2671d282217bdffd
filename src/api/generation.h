// SPDX-License-Identifier: Apache-2.0
#pragma once

// Generation: all answers to one request, from submission to the last token. Leaving early is
// always safe: the destructor cancels whatever the generator is still working on.

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "api/answers.h"
#include "api/choice.h"
#include "api/context.h"
#include "api/prepare.h"

namespace daybreak::api {

struct ChoiceDelta {
  std::size_t choice = 0;
  Delta delta;
};

// Every function runs on the connection's strand.
class Generation final : public Answers<Choice, ChoiceDelta> {
 public:
  Generation(Context& context, const PreparedChat& chat,
             const boost::asio::any_io_executor& strand);

  // Hands every choice to the generator, or none. Errors: those of Generator::submit().
  Status submit();

  [[nodiscard]] chat::TokenUsage usage() const;
  // What is to be paid: as usage(), the prompt only if an answer to it has started.
  [[nodiscard]] chat::TokenUsage billed_usage() const;
  [[nodiscard]] std::vector<chat::CompletionChoice> completions() const;
  // For the content log: the choices so far, without log-probabilities, whose texts are pieces.
  [[nodiscard]] std::string choices_json(std::string_view unfinished) const;

 private:
  Status consume(const Batch& batch, std::vector<ChoiceDelta>& out) override;

  const PreparedChat& chat_;
  std::size_t cached_tokens_ = 0;
};

}  // namespace daybreak::api
