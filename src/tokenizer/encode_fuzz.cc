// SPDX-License-Identifier: Apache-2.0
// Any bytes as text: the encoder against the plain definition on the test vocabulary, and back.
// The first byte of the input chooses the slicing caps.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "tokenizer/plain_encoder.h"
#include "tokenizer/slicer.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::tokenizer {
namespace {

std::string read_test_file(const std::string& name) {
  const char* root = std::getenv("DAYBREAK_SOURCE_DIR");
  std::ifstream file(std::string(root == nullptr ? "." : root) + "/testdata/tokenizer/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the value or ends the process: the fuzzer's way to report a finding.
template <class T>
T require(Result<T> result) {
  if (!result) {
    std::abort();
  }
  return *std::move(result);
}

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

struct Fixture {
  std::string ranks = read_test_file("tiktoken.model");
  std::string config = read_test_file("tokenizer_config.json");
  Vocabulary vocabulary = require(Vocabulary::parse(ranks));
  SpecialTokens specials =
      require(SpecialTokens::parse(config, static_cast<TokenId>(vocabulary.size())));
  std::shared_ptr<const Tokenizer> tokenizer = require(Tokenizer::parse(ranks, config));
};

void check_encoding(const Fixture& fixture, const SliceCaps& caps, const std::string& bytes) {
  const std::string text = repair_utf8(bytes);

  std::vector<TokenId> ids;
  fixture.tokenizer->encode(bytes, AllowSpecial::kYes, Slicing::kOff, ids);
  require(ids == plain_encode(fixture.vocabulary, fixture.specials, text));
  require(fixture.tokenizer->decode(ids) == text);

  std::vector<TokenId> ordinary;
  fixture.tokenizer->encode(bytes, AllowSpecial::kNo, Slicing::kOn, ordinary);
  std::vector<TokenId> expected;
  plain_encode_ordinary(fixture.vocabulary, text, expected);
  require(ordinary == expected);

  std::vector<TokenId> sliced;
  fixture.tokenizer->encode_sliced(bytes, AllowSpecial::kYes, caps, sliced);
  expected.clear();
  for (Slicer slicer(text, caps); !slicer.done();) {
    const auto part = plain_encode(fixture.vocabulary, fixture.specials, slicer.next());
    expected.insert(expected.end(), part.begin(), part.end());
  }
  require(sliced == expected);
}

// The input read as ids, two bytes each.
void check_decoding(const Fixture& fixture, std::span<const std::uint8_t> data) {
  std::vector<TokenId> any;
  for (std::size_t i = 0; i + 1 < data.size(); i += 2) {
    any.push_back(data[i] | TokenId{data[i + 1]} << 8);
  }
  StreamDecoder decoder(*fixture.tokenizer);
  std::string streamed;
  for (const TokenId id : any) {
    decoder.push(id, streamed);
    require(is_valid_utf8(streamed));
  }
  decoder.finish(streamed);
  require(streamed == fixture.tokenizer->decode(any));
}

}  // namespace
}  // namespace daybreak::tokenizer

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace daybreak::tokenizer;  // NOLINT
  static const Fixture fixture;
  constexpr std::size_t kMaxBytes = 600;  // the definition is slow
  if (size == 0 || size > kMaxBytes) {
    return 0;
  }
  const SliceCaps caps{.max_chars = 1 + data[0] % 64U, .max_run = 1 + data[0] / 64U * 5U};
  check_encoding(fixture, caps, std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  check_decoding(fixture, {data + 1, size - 1});
  return 0;
}
