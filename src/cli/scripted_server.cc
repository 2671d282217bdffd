// SPDX-License-Identifier: Apache-2.0
#include "cli/scripted_server.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "cli/model_path.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {
namespace {

constexpr std::size_t kLetters = 26;
using LetterIds = std::array<TokenId, kLetters>;

// Letters come again after so many.
constexpr std::size_t kPeriod = 64;

std::size_t letter_index(std::uint64_t seed, std::size_t position) {
  return static_cast<std::size_t>(mix64(seed * kPeriod + position % kPeriod) % kLetters);
}

Result<LetterIds> letter_ids(const tokenizer::Tokenizer& tokenizer) {
  LetterIds out{};
  for (std::size_t i = 0; i < kLetters; ++i) {
    const char letter = static_cast<char>('a' + i);
    std::vector<TokenId> ids;
    tokenizer.encode({&letter, 1}, tokenizer::AllowSpecial::kNo, tokenizer::Slicing::kOn, ids);
    if (ids.size() != 1) {
      return Error{Errc::kCorrupt, fmt::format("tokenizer: expected one id for '{}', found {}",
                                               letter, ids.size())};
    }
    out[i] = ids[0];
  }
  return out;
}

engine::ScriptedEngine::ScriptFn letters(const LetterIds& ids,
                                         std::chrono::microseconds token_interval) {
  return [ids, token_interval](const engine::GenerateRequest& request) {
    engine::Script script;
    script.delay_per_token = token_interval;
    script.length = request.max_tokens;
    for (std::size_t i = 0; i < kPeriod; ++i) {
      script.ids.push_back(ids[letter_index(request.sampling.seed, i)]);
    }
    return script;
  };
}

// Passes everything on, and writes down when each token came.
class StampedGenerator final : public engine::Generator {
 public:
  StampedGenerator(engine::Generator& inner, std::span<std::atomic<std::int64_t>> stamps,
                   std::size_t stamps_per_answer)
      : inner_(inner), stamps_(stamps), stamps_per_answer_(stamps_per_answer) {}

  Result<engine::RequestId> submit(engine::GenerateRequest request,
                                   engine::UpdateFn on_update) override {
    const std::uint64_t seed = request.sampling.seed;
    return inner_.submit(std::move(request),
                         [this, seed, told = std::move(on_update)](const engine::Update& update) {
                           stamp(seed, update);
                           told(update);
                         });
  }
  void cancel(engine::RequestId id) override { inner_.cancel(id); }
  void complete(engine::RequestId id) override { inner_.complete(id); }
  engine::Stats stats() const override { return inner_.stats(); }
  std::size_t vocab_size() const override { return inner_.vocab_size(); }
  std::size_t context_tokens() const override { return inner_.context_tokens(); }
  std::size_t queue_capacity() const override { return inner_.queue_capacity(); }
  void drain() override { inner_.drain(); }
  std::size_t stop(std::chrono::milliseconds deadline) override { return inner_.stop(deadline); }

 private:
  void stamp(std::uint64_t seed, const engine::Update& update) const {
    if (seed >= stamps_.size()) {
      return;
    }
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    const std::size_t first = update.usage.completion_tokens - update.tokens.size();
    for (std::size_t i = first; i < update.usage.completion_tokens; ++i) {
      const std::size_t at = seed * stamps_per_answer_ + i;
      if (i < stamps_per_answer_ && at < stamps_.size()) {
        stamps_[at].store(now, std::memory_order_release);
      }
    }
  }

  engine::Generator& inner_;
  const std::span<std::atomic<std::int64_t>> stamps_;
  const std::size_t stamps_per_answer_;
};

}  // namespace

char scripted_letter(std::uint64_t seed, std::size_t position) {
  return static_cast<char>('a' + letter_index(seed, position));
}

Result<std::unique_ptr<ScriptedServer>> ScriptedServer::start(ScriptedServerOptions options) {
  DAYBREAK_TRY(const auto directory, resolve_model(options.model));
  DAYBREAK_TRY(std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
               tokenizer::Tokenizer::load(directory));
  DAYBREAK_TRY(const LetterIds ids, letter_ids(*tokenizer));
  std::unique_ptr<ScriptedServer> made(new ScriptedServer);
  made->engine_ = std::make_unique<engine::ScriptedEngine>(
      letters(ids, options.token_interval),
      engine::ScriptedEngineOptions{.vocab_size = tokenizer->vocab_size(),
                                    .max_sequences = options.sequences,
                                    .max_queue = options.sequences,
                                    .keep_requests = false});
  made->stamped_ =
      std::make_unique<StampedGenerator>(*made->engine_, options.stamps, options.stamps_per_answer);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  DAYBREAK_TRY(made->service_,
               api::Service::create(
                   {.model_names = {"scripted"},
                    .version = options.version,
                    .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
                    .limits = {}},
                   std::move(tokenizer), *made->stamped_, made->metrics_, made->log_));
  made->service_->attach(options.http);
  DAYBREAK_TRY(made->server_,
               http::Server::start(std::move(options.http), made->service_->router()));
  return made;
}

ScriptedServer::~ScriptedServer() {
  if (server_ == nullptr) {
    return;
  }
  service_->start_draining();
  stamped_->stop(std::chrono::milliseconds(0));
  server_->stop();
  service_->stop_workers();
  server_.reset();
}

}  // namespace daybreak::cli
