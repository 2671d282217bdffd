// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tests of whole engines with real models share: loading one, and asking several requests at
// once. Test code only.

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/model.h"
#include "testing/paths.h"

namespace daybreak::engine {

// Ids and the bits of their log-probabilities.
struct Answer {
  std::vector<TokenLogprob> tokens;
  std::size_t cached = 0;
  bool done = false;
};

// `path` from the root of the sources. Null with a failure of the test if it cannot be loaded.
inline std::shared_ptr<const model::Model> load_model(const std::string& path) {
  auto loaded = model::Model::load(testing::source_path(path));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? std::shared_ptr<const model::Model>(*std::move(loaded)) : nullptr;
}

// Submits all and waits for all; request `cancelled` is cancelled at its third token.
inline std::vector<Answer> ask_all(Engine& engine, const std::vector<GenerateRequest>& requests,
                                   std::optional<std::size_t> cancelled = {}) {
  std::vector<Answer> answers(requests.size());
  std::vector<RequestId> ids(requests.size());
  std::mutex mutex;
  std::condition_variable changed;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::lock_guard submitting(mutex);  // so that the callback finds the id
    ids[i] = *engine.submit(requests[i], [&, i](const Update& update) {
      const std::lock_guard lock(mutex);
      for (const GeneratedToken& token : update.tokens) {
        answers[i].tokens.push_back({token.id, token.logprob});
      }
      if (i == cancelled && answers[i].tokens.size() == 3) {
        engine.cancel(ids[i]);
      }
      answers[i].cached = update.usage.cached_tokens;
      answers[i].done = update.finish.has_value();
      changed.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return std::ranges::all_of(answers, &Answer::done); });
  return answers;
}

}  // namespace daybreak::engine
