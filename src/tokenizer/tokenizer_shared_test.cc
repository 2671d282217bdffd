// SPDX-License-Identifier: Apache-2.0
// The real K3 vocabulary against ids and facts that come from elsewhere.

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "base/utf8.h"
#include "testing/paths.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/test_ids.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::tokenizer {
namespace {

using daybreak::testing::read_file;
using daybreak::testing::shared_path;
using nlohmann::json;
using Ids = std::vector<TokenId>;

class K3Tokenizer : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto dir = shared_path("tokenizer/kimi-k3");
    DAYBREAK_SHARED_OR_SKIP(dir);
    auto loaded = Tokenizer::load(dir);
    ASSERT_TRUE(loaded) << loaded.error().message;
    tokenizer = *std::move(loaded);
  }

  Ids encode(std::string_view text, AllowSpecial allow = AllowSpecial::kNo,
             Slicing slicing = Slicing::kOn) const {
    Ids ids;
    tokenizer->encode(text, allow, slicing, ids);
    return ids;
  }

  Ids encode_capped(std::string_view text, SliceCaps caps) const {
    Ids ids;
    tokenizer->encode_sliced(text, AllowSpecial::kNo, caps, ids);
    return ids;
  }

  std::shared_ptr<const Tokenizer> tokenizer;
};

std::string repeated(std::string_view unit, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) {
    text += unit;
  }
  return text;
}

std::string sha256_of_little_endian(const Ids& ids) {
  std::string bytes;
  for (const TokenId id : ids) {
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<char>(id >> shift));
    }
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::string hex;
  for (const unsigned char byte : digest) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

TEST_F(K3Tokenizer, GivesTheIdsOfAllGoldens) {
  // The long inputs are named, not stored.
  const std::map<std::string, std::string> long_inputs = {
      {"a*60000", repeated("a", 60000)},
      {"space*60000", repeated(" ", 60000)},
      {"abc def nl *51000", repeated("abc def\n", 51000)},
      {"mixed*8000", repeated("中英 hello\n", 8000)},
      {"han*30000", repeated("世界", 15000)},
      {"digits*100000", repeated("1234567890", 10000)}};
  std::istringstream lines(read_file(shared_path("tokenizer/goldens.jsonl")));
  std::size_t short_cases = 0;
  std::size_t long_cases = 0;
  for (std::string line; std::getline(lines, line);) {
    SCOPED_TRACE(line.substr(0, 100));
    const json golden = json::parse(line);
    if (golden.contains("text")) {
      ++short_cases;
      const auto text = golden["text"].get<std::string>();
      ASSERT_EQ(encode(text), golden["ids_ordinary"].get<Ids>());
      ASSERT_EQ(encode(text, AllowSpecial::kYes), golden["ids_allow_special"].get<Ids>());
      EXPECT_EQ(tokenizer->decode(encode(text)), text);
      EXPECT_EQ(tokenizer->decode(encode(text, AllowSpecial::kYes)), text);
    } else {
      ++long_cases;
      const std::string& text = long_inputs.at(golden["name"].get<std::string>());
      const Ids ids = encode(text);
      EXPECT_EQ(ids.size(), golden["count"].get<std::size_t>());
      ASSERT_EQ(sha256_of_little_endian(ids), golden["sha256_le_u32"].get<std::string>());
      EXPECT_EQ(tokenizer->decode(ids), text);
    }
  }
  EXPECT_EQ(short_cases, 76U);
  EXPECT_EQ(long_cases, 6U);
  std::cout << "PROOF tokenizer_goldens: " << short_cases + long_cases << "/82 texts\n";
}

// Spec k3-frontend.md sections 1.2, 1.7 and 1.8.
TEST_F(K3Tokenizer, GivesTheIdsOfTheSpecVectors) {
  const std::vector<std::pair<std::string, Ids>> vectors = {
      {"", {}},
      {"Hello, world!", {19180, 11, 2695, 0}},
      {"你好，世界！", {33845, 378, 2243, 856}},
      {"hello你好world", {22931, 33845, 23617}},
      {"a    b", {64, 274, 291}},
      {"hello   ", {22931, 274}},
      {"a\r\n\r\n b", {64, 2298, 291}},
      {"3.14159265", {18, 13, 18702, 43247, 4268}},
      {"1234567890", {6694, 12972, 16242, 15}},
      {"it's", {64072}},
      {"IT'S", {1380, 34480}},
      {"it’s", {277, 824}},
      {"〇一二", {91894, 35063}},
      {"カー", {26121, 5678}},
      {R"({"a": [1, 2.5, null, true]})",
       {8264, 64, 1289, 793, 16, 11, 220, 17, 13, 20, 11, 1704, 11, 1653, 24216}},
      {"Привет мир", {159025, 63694, 5993, 17898}},
      {"image 1024x768", {4017, 220, 8040, 19, 87, 27955}},
      {"<|open|>", {27, 91, 4454, 91, 29}},
      {"[EOS]", {58, 85521, 60}},
      {"<|kimi_image_placeholder|>", {27, 91, 74, 30223, 11947, 114136, 91, 29}},
      {"think", {39964}},
      {"response", {12092}},
      {"argument", {47185}},
      {"𠮷", {172, 254, 106, 115}},
      {"👩‍💻", {64390, 102, 67963, 66122, 119}},
      {"🚀🔥", {5885, 40101, 66957, 98}},
      {"Ⅷ", {28819, 100}},
      // Not in the spec; from tiktoken 0.14.0 with the pattern of section 1.3.
      {"“Hello,” 世界世世世界世界——I'm ChatGPT. CAN'T wait 'til 2026.世界世界",
       {1686, 19180, 4963,  220,  2243, 123421, 2243, 2243, 35086, 17172, 29338, 111021,
        13,   32330, 64833, 5161, 542,  3777,   220,  2975, 21,    13,    2243,  2243}},
      {"=\".hidden\"", {100649, 19172, 1}}};
  for (const auto& [text, ids] : vectors) {
    EXPECT_EQ(encode(text), ids) << text;
  }
  EXPECT_EQ(encode("<|open|>think<|sep|>", AllowSpecial::kYes), (Ids{163587, 39964, 163589}));
  EXPECT_EQ(encode("<|close|>think<|sep|>", AllowSpecial::kYes), (Ids{163588, 39964, 163589}));
}

TEST_F(K3Tokenizer, CutsLongTextAsTheReleasedTokenizer) {
  EXPECT_EQ(encode_capped("abcdefghij", {.max_run = 4}), (Ids{61858, 1183, 1050, 3694}));
  EXPECT_EQ(encode_capped("123456789012345678901234567890", {.max_run = 8}),
            (Ids{6694, 12972, 4447, 36625, 18697, 6794, 16242, 16349, 3587, 31344, 33208}));
  EXPECT_EQ(encode_capped(std::string(17, 'a'), {.max_chars = 6, .max_run = 4}),
            (Ids{36324, 7028, 36324, 7028, 36324, 64}));
}

// U+001C is whitespace for the slicer, but not for the pattern: with it the text has two runs of at
// most 25,000 characters and is not cut.
TEST_F(K3Tokenizer, UsesPythonWhitespaceForRuns) {
  const std::string text = std::string(24995, 'x') + "\x1c" + "tokenization";
  const Ids ids = encode(text);
  ASSERT_GE(ids.size(), 2U);
  EXPECT_EQ((Ids{ids.end() - 2, ids.end()}), (Ids{13416, 2919}));
}

// Fingerprints of fuzz_unicode.txt from spec tokenizer.md section 3.8, of the others from tiktoken
// 0.14.0 with the pattern of section 1.3 and a transcription of the released slicer.
TEST_F(K3Tokenizer, GivesTheFingerprintsOfTheCorpora) {
  struct Expected {
    const char* file;
    std::size_t whole_count;
    const char* whole;
    std::size_t sliced_count;
    const char* sliced;
  };
  const Expected table[] = {
      {"fuzz_unicode.txt", 1369921, "d9f81a248f2ecf5e", 1369921, "d9f81a248f2ecf5e"},
      {"english_1m.txt", 246285, "e3a3332117de8a73", 246288, "5c2156beb3e432e8"},
      {"chinese_1m.txt", 246519, "c270b5eb28b83f45", 246520, "1192436f18400d89"},
      {"json_1m.txt", 356762, "497a490b1a5c8470", 356764, "7a5f6662d762281a"}};
  std::size_t bytes = 0;
  std::size_t ids = 0;
  for (const Expected& expected : table) {
    SCOPED_TRACE(expected.file);
    const std::string text = read_file(shared_path(std::string("corpora/") + expected.file));
    const Ids whole = encode(text, AllowSpecial::kNo, Slicing::kOff);
    EXPECT_EQ(whole.size(), expected.whole_count);
    ASSERT_EQ(ids_fnv1a64(whole), expected.whole);
    const Ids sliced = encode(text);
    EXPECT_EQ(sliced.size(), expected.sliced_count);
    ASSERT_EQ(ids_fnv1a64(sliced), expected.sliced);
    EXPECT_TRUE(tokenizer->decode(sliced) == text);
    bytes += text.size();
    ids += whole.size() + sliced.size();
  }
  std::cout << "PROOF tokenizer_corpora: " << bytes << " bytes, " << ids
            << " ids, sliced and whole, all fingerprints equal\n";
}

TEST_F(K3Tokenizer, HasEverySpecialSlotUnderItsAbsoluteId) {
  ASSERT_EQ(tokenizer->vocab_size(), 163840U);
  for (TokenId id = 163584; id < 163840; ++id) {
    const std::string spelling(tokenizer->bytes_of(id));
    EXPECT_EQ(tokenizer->special(spelling), id);
    EXPECT_EQ(encode(spelling, AllowSpecial::kYes), Ids{id}) << spelling;
    EXPECT_GT(encode(spelling).size(), 1U) << spelling;
    EXPECT_EQ(tokenizer->decode(Ids{id}), spelling);
    EXPECT_TRUE(tokenizer->is_special(id));
    EXPECT_EQ(tokenizer->skip_special(id), id < 163587 || id > 163589);
  }
  EXPECT_EQ(tokenizer->bytes_of(163592), "<|reserved_token_163592|>");
  EXPECT_EQ(tokenizer->special("<|end_of_msg|>"), TokenId{163586});
  EXPECT_EQ(tokenizer->special("<|im_end|>"), std::nullopt);
  EXPECT_FALSE(tokenizer->is_special(163583));
  // A named slot has no reserved alias; a relative number is not a name.
  EXPECT_GT(encode("<|reserved_token_163839|>", AllowSpecial::kYes).size(), 1U);
  EXPECT_GT(encode("<|reserved_token_0|>", AllowSpecial::kYes).size(), 1U);
}

// The longest token is 256 spaces; without slicing a run is one piece of a million bytes.
TEST_F(K3Tokenizer, EncodesAMegabyteOfOneCharacterWithoutSlicing) {
  for (const char unit : {' ', 'a', '^', '\n', '\0', '1'}) {
    const std::string text(1'000'000, unit);
    EXPECT_TRUE(tokenizer->decode(encode(text, AllowSpecial::kYes, Slicing::kOff)) == text) << unit;
  }
}

// 476 tokens of K3 end or start inside a character; pairs of them are where shortcuts that start
// from whole characters go wrong.
TEST_F(K3Tokenizer, AnyCutOfIdsStreamsTheSameText) {
  std::vector<TokenId> partial;
  for (TokenId id = 0; id < 163584; ++id) {
    if (!is_valid_utf8(tokenizer->bytes_of(id))) {
      partial.push_back(id);
    }
  }
  EXPECT_EQ(partial.size(), 1172U);
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    Ids ids;
    const auto length = random() % 8;
    for (std::size_t i = 0; i < length; ++i) {
      ids.push_back(random() % 4 == 0 ? static_cast<TokenId>(random() % 163'900)
                                      : partial[random() % partial.size()]);
    }
    StreamDecoder decoder(*tokenizer);
    std::string streamed;
    for (const TokenId id : ids) {
      std::string out;
      decoder.push(id, out);
      ASSERT_TRUE(is_valid_utf8(out));
      streamed += out;
    }
    decoder.finish(streamed);
    ASSERT_EQ(streamed, tokenizer->decode(ids)) << ::testing::PrintToString(ids);
  }
}

}  // namespace
}  // namespace daybreak::tokenizer
