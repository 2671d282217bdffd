// SPDX-License-Identifier: Apache-2.0
// Bytes of text per second of one thread, without any cache of words: run with
// DAYBREAK_SHARED_DIR and DAYBREAK_SOURCE_DIR as the tests are. Without the shared data, the test
// vocabulary on its own goldens.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tokenizer/tokenizer.h"

namespace daybreak::tokenizer {
namespace {

std::string directory(const char* variable, const char* fallback) {
  const char* value = std::getenv(variable);
  return value == nullptr ? fallback : value;
}

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void encode_text(benchmark::State& state, const Tokenizer& tokenizer, const std::string& text) {
  std::vector<TokenId> ids;
  for (auto _ : state) {
    ids.clear();
    tokenizer.encode(text, AllowSpecial::kNo, Slicing::kOn, ids);
    benchmark::DoNotOptimize(ids.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.counters["tokens"] = static_cast<double>(ids.size());
}

void decode_text(benchmark::State& state, const Tokenizer& tokenizer, const std::string& text) {
  std::vector<TokenId> ids;
  tokenizer.encode(text, AllowSpecial::kNo, Slicing::kOn, ids);
  for (auto _ : state) {
    benchmark::DoNotOptimize(tokenizer.decode(ids));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

// Registers the cases that the files at hand allow.
const bool kRegistered = [] {
  const std::filesystem::path source = directory("DAYBREAK_SOURCE_DIR", ".");
  const std::filesystem::path shared =
      directory("DAYBREAK_SHARED_DIR", (source / "../shared/data").c_str());
  const bool has_shared = std::filesystem::exists(shared / "tokenizer/kimi-k3");
  auto loaded =
      Tokenizer::load(has_shared ? shared / "tokenizer/kimi-k3" : source / "testdata/tokenizer");
  if (!loaded) {
    return false;
  }
  const std::shared_ptr<const Tokenizer> tokenizer = *std::move(loaded);
  const auto add = [&](const std::string& name, std::string text) {
    benchmark::RegisterBenchmark(("encode/" + name).c_str(), [=](benchmark::State& state) {
      encode_text(state, *tokenizer, text);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("decode/" + name).c_str(), [=](benchmark::State& state) {
      decode_text(state, *tokenizer, text);
    })->Unit(benchmark::kMillisecond);
  };
  if (has_shared) {
    for (const char* name : {"english_1m", "chinese_1m", "json_1m", "fuzz_unicode"}) {
      add(name, contents_of(shared / "corpora" / (std::string(name) + ".txt")));
    }
  } else {
    add("goldens", contents_of(source / "golden/tokenizer/small.jsonl"));
  }
  add("one_character", std::string(1'000'000, 'a'));
  add("spaces", std::string(1'000'000, ' '));
  return true;
}();

}  // namespace
}  // namespace daybreak::tokenizer
