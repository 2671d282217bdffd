// SPDX-License-Identifier: Apache-2.0
#include "loadgen/trace.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "loadgen/agent_trace.h"
#include "loadgen/azure_trace.h"
#include "loadgen/mooncake_trace.h"

namespace daybreak::loadgen {
namespace {

class Limited final : public TraceSource {
 public:
  Limited(std::unique_ptr<TraceSource> source, std::size_t requests)
      : source_(std::move(source)), left_(requests) {}

  Result<std::optional<Conversation>> next() override {
    if (left_ == 0) {
      return std::optional<Conversation>();
    }
    DAYBREAK_TRY(std::optional<Conversation> conversation, source_->next());
    if (conversation) {
      conversation->turns.resize(std::min(conversation->turns.size(), left_));
      left_ -= conversation->turns.size();
    }
    return conversation;
  }

 private:
  std::unique_ptr<TraceSource> source_;
  std::size_t left_;
};

}  // namespace

Result<TraceFormat> format_of(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return Error{Errc::kNotFound, "--trace: expected a file or directory, found none at " + path};
  }
  if (std::filesystem::is_directory(status) || path.ends_with(".json")) {
    return TraceFormat::kAgent;
  }
  if (path.ends_with(".jsonl")) {
    return TraceFormat::kMooncake;
  }
  if (path.ends_with(".csv")) {
    return TraceFormat::kAzure;
  }
  return Error{Errc::kInvalidArgument,
               "--trace: expected a directory, .json, .jsonl or .csv, found " + path +
                   "; --trace-format tells what another name holds"};
}

Result<std::unique_ptr<TraceSource>> open_trace(const std::string& path, TraceFormat format) {
  switch (format) {
    case TraceFormat::kMooncake:
      return open_mooncake_trace(path);
    case TraceFormat::kAzure:
      return open_azure_trace(path);
    case TraceFormat::kAgent:
      break;
  }
  return open_agent_trace(path);
}

std::unique_ptr<TraceSource> limited(std::unique_ptr<TraceSource> source, std::size_t requests) {
  return std::make_unique<Limited>(std::move(source), requests);
}

Result<TraceSize> measure(TraceSource& source) {
  TraceSize size;
  for (;;) {
    DAYBREAK_TRY(const std::optional<Conversation> conversation, source.next());
    if (!conversation) {
      return size;
    }
    ++size.conversations;
    size.requests += conversation->turns.size();
    for (const Turn& turn : conversation->turns) {
      size.seconds = std::max(size.seconds, turn.at_seconds);
    }
  }
}

}  // namespace daybreak::loadgen
