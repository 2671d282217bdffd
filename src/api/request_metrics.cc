// SPDX-License-Identifier: Apache-2.0
#include "api/request_metrics.h"

#include <array>
#include <vector>

#include "engine/stats.h"

namespace daybreak::api {
namespace {

constexpr std::array kChoiceBounds = {1.0, 2.0, 5.0, 10.0, 20.0};

Histogram made(Metrics& metrics, const std::string& model_name, const char* name, const char* help,
               std::span<const double> bounds) {
  return metrics.histogram(name, help, std::vector<double>(bounds.begin(), bounds.end()),
                           {{"model_name", model_name}, {"engine", "0"}});
}

}  // namespace

RequestMetrics::RequestMetrics(Metrics& metrics, const std::string& model_name)
    : choices_(
          made(metrics, model_name, "vllm:request_params_n", "Choices asked for", kChoiceBounds)),
      max_tokens_(made(metrics, model_name, "vllm:request_params_max_tokens",
                       "Longest answer allowed, tokens", engine::kRequestTokenBounds)),
      longest_choice_(made(metrics, model_name, "vllm:request_max_num_generation_tokens",
                           "Tokens of the longest choice of a request",
                           engine::kRequestTokenBounds)) {}

void RequestMetrics::observe(std::size_t choices, std::size_t max_tokens,
                             std::size_t longest_choice) {
  choices_.observe(static_cast<double>(choices));
  max_tokens_.observe(static_cast<double>(max_tokens));
  longest_choice_.observe(static_cast<double>(longest_choice));
}

}  // namespace daybreak::api
