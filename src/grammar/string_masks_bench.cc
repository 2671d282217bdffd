// SPDX-License-Identifier: Apache-2.0
// Time of one string mask over K3's 163,840 ids: run with DAYBREAK_SHARED_DIR or
// DAYBREAK_SOURCE_DIR as the tests are. "first" is the time of a state that no one asked for yet,
// over the states of random texts of the language; "again" of one in the cache. Microseconds of
// processor time.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "base/rng.h"
#include "grammar/regex.h"
#include "grammar/string_masks.h"
#include "grammar/vocabulary_index.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::grammar {
namespace {

struct Case {
  const char* name;
  const char* pattern;
  std::uint32_t least = 0;
  std::uint32_t most = kNoMaxChars;
};

constexpr Case kCases[] = {
    {"free", ""},
    {"length_5_40", "", 5, 40},
    {"label", "^[a-z0-9-]{1,63}$"},
    {"word", "^[A-Za-z]+$"},
    {"identifier", "^[A-Za-z_][A-Za-z0-9_]*$"},
    {"printable", "^[ -~]*$"},
    {"dots", "^.{1,100}$"},
    {"not_angle", "^[^<>]+$"},
    {"non_space", "^\\S+$"},
    {"han", "^[\\u4e00-\\u9fa5]{2,10}$"},
    {"date", "^\\d{4}-\\d{2}-\\d{2}$"},
    {"uuid", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
    {"email", "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$"},
    {"uri", "^https?://[^\\s/?#]+(/[^\\s?#]*)?(\\?[^\\s#]*)?(#\\S*)?$"},
    {"enum", "^(red|green|blue|light green|dark blue|yellow|black|white|orange|purple)$"},
    {"keys", "^(?!(name|age|address|email|phone|created_at|updated_at|description)$)"},
    {"search", "foo|bar"},
    {"bounded", "^[a-z ]+$", 3, 50},
};

// Of processor time of this thread: other programs do not count.
double now_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

class Texts {
 public:
  explicit Texts(std::shared_ptr<const VocabularyIndex> index) : index_(std::move(index)) {}

  // Returns states along random texts, in order, each once.
  std::vector<StringState> states(const std::shared_ptr<const StringLanguage>& language) {
    Rng rng(1);
    std::vector<StringState> seen;
    for (int text = 0; text < 6; ++text) {
      StringState state;
      for (int tokens = 0; tokens < 12; ++tokens) {
        if (std::ranges::find(seen, state) == seen.end()) {
          seen.push_back(state);
        }
        const auto mask = index_->strings().find(language, StringCoding::kJson, state);
        const TokenId id = choose(*mask, rng);
        if (id == TokenTrie::kNoToken) {
          break;
        }
        for (const char byte : index_->token(id)) {
          (void)step(*language, StringCoding::kJson, state, static_cast<std::uint8_t>(byte));
        }
      }
    }
    return seen;
  }

 private:
  static TokenId choose(const StringMask& mask, Rng& rng) {
    if (!mask.row) {
      return mask.list.empty() ? TokenTrie::kNoToken
                               : mask.list[rng.below(static_cast<std::uint32_t>(mask.list.size()))];
    }
    for (;;) {
      const std::uint32_t id = rng.below(static_cast<std::uint32_t>(mask.row->size() * 32));
      if (((*mask.row)[id / 32] >> (id % 32) & 1) != 0) {
        return id;
      }
    }
  }

  std::shared_ptr<const VocabularyIndex> index_;
};

std::shared_ptr<const StringLanguage> make_language(const Case& c) {
  Budget budget(10'000'000);
  auto dfa = compile_regex(c.pattern, RegexMatch::kSearch, budget);
  return dfa ? *StringLanguage::make(std::make_shared<const Dfa>(*std::move(dfa)), c.least, c.most,
                                     budget)
             : nullptr;
}

void first_mask(benchmark::State& bench, const std::shared_ptr<const VocabularyIndex>& index,
                StringMasks& uncached, const Case& c) {
  std::vector<double> times;
  std::size_t states = 0;
  for (auto _ : bench) {
    const auto language = make_language(c);  // a new one: no table of it exists
    if (!language) {
      bench.SkipWithError("the pattern was refused");
      return;
    }
    const auto all = Texts(index).states(language);
    states = all.size();
    for (const StringState& state : all) {
      const double begin = now_us();
      benchmark::DoNotOptimize(uncached.find(language, StringCoding::kJson, state));
      times.push_back(now_us() - begin);
    }
  }
  std::ranges::sort(times);
  bench.counters["states"] = static_cast<double>(states);
  bench.counters["p50_us"] = times[times.size() / 2];
  bench.counters["p99_us"] = times[times.size() * 99 / 100];
  bench.counters["max_us"] = times.back();
}

void again(benchmark::State& bench, StringMasks& masks, const Case& c) {
  const auto language = make_language(c);
  for (auto _ : bench) {
    benchmark::DoNotOptimize(masks.find(language, StringCoding::kJson, {}));
  }
}

const bool kRegistered = [] {
  const char* source = std::getenv("DAYBREAK_SOURCE_DIR");
  const char* shared = std::getenv("DAYBREAK_SHARED_DIR");
  const std::filesystem::path root =
      shared != nullptr
          ? std::filesystem::path(shared)
          : std::filesystem::path(source == nullptr ? "." : source) / "../shared/data";
  auto tokenizer = tokenizer::Tokenizer::load(root / "tokenizer/kimi-k3");
  if (!tokenizer) {
    return false;
  }
  const double begin = now_us();
  const auto index = VocabularyIndex::make(**tokenizer, 163840);
  const double made_us = now_us() - begin;
  benchmark::RegisterBenchmark("string_masks/make_index_us", [made_us](benchmark::State& bench) {
    for (auto _ : bench) {
    }
    bench.counters["us"] = made_us;
  })->Iterations(1);
  const auto uncached = std::make_shared<StringMasks>(index->trie(), index->words(), 0);
  for (const Case& c : kCases) {
    benchmark::RegisterBenchmark(
        (std::string("string_masks/first/") + c.name).c_str(),
        [=](benchmark::State& bench) { first_mask(bench, index, *uncached, c); })
        ->Iterations(5)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("string_masks/again", [=](benchmark::State& bench) {
    again(bench, index->strings(), kCases[2]);
  });
  return true;
}();

}  // namespace
}  // namespace daybreak::grammar
