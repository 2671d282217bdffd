// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/utf8.h"
#include "tokenizer/test_vocabulary.h"

namespace daybreak::tokenizer {
namespace {

using Ids = std::vector<TokenId>;

class SmallTokenizer : public ::testing::Test {
 protected:
  void SetUp() override {
    tokenizer = test_tokenizer();
    ASSERT_NE(tokenizer, nullptr);
    first_special = static_cast<TokenId>(tokenizer->vocab_size() - 256);
  }

  Ids encode(std::string_view text, AllowSpecial allow, Slicing slicing = Slicing::kOn) const {
    Ids ids;
    tokenizer->encode(text, allow, slicing, ids);
    return ids;
  }

  TokenId special(std::string_view spelling) const {
    const auto id = tokenizer->special(spelling);
    EXPECT_TRUE(id) << spelling;
    return id.value_or(0);
  }

  std::shared_ptr<const Tokenizer> tokenizer;
  TokenId first_special = 0;
};

TEST_F(SmallTokenizer, NumbersComeFromItsFiles) {
  EXPECT_EQ(tokenizer->vocab_size(), 1056U);
  EXPECT_EQ(special("[BOS]"), 800U);
  EXPECT_EQ(special("<|end_of_msg|>"), 802U);
  EXPECT_EQ(special("[PAD]"), 1055U);
  EXPECT_EQ(special("<|reserved_token_808|>"), 808U);
}

TEST_F(SmallTokenizer, AnySpecialSlotIsOneIdOnlyWhereAllowed) {
  for (TokenId id = first_special; id < tokenizer->vocab_size(); ++id) {
    const std::string spelling(tokenizer->bytes_of(id));
    EXPECT_EQ(encode(spelling, AllowSpecial::kYes), Ids{id}) << spelling;
    for (const TokenId ordinary : encode(spelling, AllowSpecial::kNo)) {
      EXPECT_LT(ordinary, first_special) << spelling;
    }
    EXPECT_EQ(tokenizer->decode(encode(spelling, AllowSpecial::kNo)), spelling);
    EXPECT_TRUE(tokenizer->is_special(id));
  }
  EXPECT_FALSE(tokenizer->is_special(first_special - 1));
  EXPECT_FALSE(tokenizer->is_special(first_special + 256));
}

TEST_F(SmallTokenizer, MarkersSteerButAreNotSkipped) {
  for (const char* marker : {"<|open|>", "<|close|>", "<|sep|>"}) {
    EXPECT_TRUE(tokenizer->is_special(special(marker)));
    EXPECT_FALSE(tokenizer->skip_special(special(marker)));
  }
  EXPECT_TRUE(tokenizer->skip_special(special("<|end_of_msg|>")));
  EXPECT_TRUE(tokenizer->skip_special(special("<|reserved_token_808|>")));
  EXPECT_FALSE(tokenizer->skip_special(0));
  EXPECT_FALSE(tokenizer->skip_special(first_special + 256));
}

TEST_F(SmallTokenizer, SpecialTokensAreHardBorders) {
  // "aa" and " a" would merge across the marker if it were cut out first.
  Ids expected = encode("a", AllowSpecial::kNo);
  expected.push_back(special("<|sep|>"));
  for (const TokenId id : encode("aa  ", AllowSpecial::kNo)) {
    expected.push_back(id);
  }
  EXPECT_EQ(encode("a<|sep|>aa  ", AllowSpecial::kYes), expected);
}

TEST_F(SmallTokenizer, ASpecialTokenThatStraddlesACutIsText) {
  Ids ids;
  tokenizer->encode_sliced("ab<|sep|>", AllowSpecial::kYes, {.max_chars = 9, .max_run = 9}, ids);
  EXPECT_EQ(ids.back(), special("<|sep|>"));
  for (std::size_t max_chars = 3; max_chars < 9; ++max_chars) {
    ids.clear();
    tokenizer->encode_sliced("ab<|sep|>", AllowSpecial::kYes,
                             {.max_chars = max_chars, .max_run = 9}, ids);
    for (const TokenId id : ids) {
      EXPECT_LT(id, first_special);
    }
  }
}

TEST_F(SmallTokenizer, CallsDoNotMergeAcrossTheirBorder) {
  Ids apart;
  tokenizer->encode("mess", AllowSpecial::kNo, Slicing::kOn, apart);
  tokenizer->encode("age", AllowSpecial::kNo, Slicing::kOn, apart);
  EXPECT_GT(apart.size(), encode("message", AllowSpecial::kNo).size());
  EXPECT_EQ(tokenizer->decode(apart), "message");
}

TEST_F(SmallTokenizer, InvalidUtf8IsReplacedBeforeAnythingElse) {
  for (const std::string bad : {"\xFF", "a\xC3", "\xED\xA0\x80", "x\xF0\x9F\x9Ay", "\x80<|sep|>"}) {
    for (const auto allow : {AllowSpecial::kNo, AllowSpecial::kYes}) {
      EXPECT_EQ(encode(bad, allow), encode(repair_utf8(bad), allow));
      EXPECT_EQ(encode(bad, allow, Slicing::kOff), encode(repair_utf8(bad), allow, Slicing::kOff));
    }
  }
}

TEST_F(SmallTokenizer, DecodeInsertsNothing) {
  const std::string text = "<|open|>tools<|sep|>a<|end_of_msg|>";
  EXPECT_EQ(tokenizer->decode(encode(text, AllowSpecial::kYes)), text);
}

TEST_F(SmallTokenizer, DecodeShowsUnknownIdsAndBrokenBytes) {
  const Ids broken{encode("\x7F", AllowSpecial::kNo).front(),
                   static_cast<TokenId>(tokenizer->vocab_size())};
  EXPECT_EQ(tokenizer->decode(broken), "\x7F\xEF\xBF\xBD");
  EXPECT_EQ(tokenizer->bytes_of(~TokenId{0}), kReplacementCharacter);
  Ids emoji = encode("🚀!", AllowSpecial::kNo);
  emoji.erase(emoji.begin());
  const std::string bytes = tokenizer->decode_bytes(emoji);
  EXPECT_FALSE(is_valid_utf8(bytes));
  EXPECT_EQ(tokenizer->decode(emoji), repair_utf8(bytes));
}

// A quadratic merge would take minutes; the test runner's timeout is the gate.
TEST_F(SmallTokenizer, EncodesAMegabyteOfAnyCharacterWithoutSlicing) {
  for (const std::string unit : {"a", " ", "-", "^", "\n", "界", "1", "🚀", "<", "'"}) {
    std::string text;
    while (text.size() < 1'000'000) {
      text += unit;
    }
    EXPECT_TRUE(tokenizer->decode(encode(text, AllowSpecial::kYes, Slicing::kOff)) == text) << unit;
  }
}

class TokenizerFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    dir = std::filesystem::path(::testing::TempDir()) /
          ("tokenizer_files_" +
           std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(dir);
    std::filesystem::create_directories(dir);
  }
  void TearDown() override { std::filesystem::remove_all(dir); }

  void copy(const char* name) const {
    std::filesystem::copy(daybreak::testing::source_path(std::string("testdata/tokenizer/") + name),
                          dir / name);
  }

  Error load_error() const {
    auto loaded = Tokenizer::load(dir);
    EXPECT_FALSE(loaded);
    return loaded ? Error{} : std::move(loaded).error();
  }

  std::filesystem::path dir;
};

TEST_F(TokenizerFiles, MissingOnesAreNamed) {
  EXPECT_EQ(load_error(),
            (Error{Errc::kNotFound, (dir / "tiktoken.model").string() + ": no such file"}));
  copy("tiktoken.model");
  EXPECT_EQ(load_error(),
            (Error{Errc::kNotFound, (dir / "tokenizer_config.json").string() + ": no such file"}));
  copy("tokenizer_config.json");
  EXPECT_TRUE(Tokenizer::load(dir));
}

TEST_F(TokenizerFiles, AFolderInPlaceOfAFileIsAnError) {
  std::filesystem::create_directory(dir / "tiktoken.model");
  EXPECT_EQ(load_error(),
            (Error{Errc::kIo, (dir / "tiktoken.model").string() + ": expected a regular file"}));
}

TEST_F(TokenizerFiles, ErrorsInsideAFileNameItsFolder) {
  copy("tokenizer_config.json");
  std::ofstream(dir / "tiktoken.model") << "AA== 0\nAQ== 2\n";
  EXPECT_EQ(load_error(), (Error{Errc::kCorrupt,
                                 dir.string() + ": tiktoken.model:2: expected rank 1, found '2'"}));
}

TEST_F(TokenizerFiles, AVocabularyOfAnotherSizeMovesTheBlock) {
  copy("tokenizer_config.json");
  std::string ranks = daybreak::testing::read_file(
      daybreak::testing::source_path("testdata/tokenizer/tiktoken.model"));
  std::ofstream(dir / "tiktoken.model") << ranks << "/v7+ 800\n";  // one rank more
  EXPECT_EQ(load_error().message,
            dir.string() +
                ": tokenizer_config.json: added_tokens_decoder['800']: expected an id from 801 to "
                "1056 (the 256 that follow the ranks), found '800'");
}

TEST_F(TokenizerFiles, AnOversizedConfigIsRefusedBeforeReading) {
  copy("tiktoken.model");
  std::ofstream(dir / "tokenizer_config.json").put('{');
  std::filesystem::resize_file(dir / "tokenizer_config.json", (std::size_t{4} << 20) + 1);
  EXPECT_EQ(load_error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace daybreak::tokenizer
