// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "model/model_test_run.h"
#include "testing/paths.h"

namespace daybreak::model {
namespace {

using testing::Ids;
using testing::load_checkpoint;
using testing::Logits;
using testing::random_ids;
using testing::Rig;
using testing::same_bits;

// A private copy of a checkpoint whose bytes a test may damage.
class DamagedCheckpoint {
 public:
  explicit DamagedCheckpoint(const std::string& name)
      : dir_(std::filesystem::path(::testing::TempDir()) /
             ("damaged-" + name + "-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(dir_);
    std::filesystem::copy(daybreak::testing::source_path("testdata/checkpoints/" + name), dir_,
                          std::filesystem::copy_options::recursive);
    std::filesystem::permissions(file(), std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
    bytes_ = daybreak::testing::read_file(file());
  }
  ~DamagedCheckpoint() { std::filesystem::remove_all(dir_); }

  // Replaces `size` bytes of a tensor, from byte `offset` of its data, by 0xFF.
  void poison(const std::string& tensor, std::size_t offset, std::size_t size) {
    std::uint64_t header_size = 0;
    std::memcpy(&header_size, bytes_.data(), sizeof header_size);
    simdjson::dom::parser parser;
    const simdjson::dom::element header =
        parser.parse(simdjson::padded_string(std::string_view(bytes_).substr(8, header_size)));
    const std::uint64_t begin = header[tensor]["data_offsets"].at(0).get_uint64();
    std::memset(bytes_.data() + 8 + header_size + begin + offset, 0xff, size);
    write();
  }

  // Renames a tensor in the header; both names have the same length.
  void rename(const std::string& from, const std::string& to) {
    const std::size_t at = bytes_.find('"' + from + '"');
    ASSERT_NE(at, std::string::npos) << from;
    bytes_.replace(at + 1, from.size(), to);
    write();
  }

  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }

 private:
  [[nodiscard]] std::filesystem::path file() const { return dir_ / "model.safetensors"; }
  void write() {
    std::ofstream(file(), std::ios::binary)
        .write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  }

  std::filesystem::path dir_;
  std::string bytes_;
};

class ForwardErrors : public ::testing::Test {
 protected:
  ForwardErrors() : model_(load_checkpoint("k3-all-on")), rig_(*model_), state_(rig_.fresh()) {
    (void)rig_.append(*state_, random_ids(*model_, 3, 1));
    before_ = state_->save();
  }

  // Runs the chunks, expects this error and an untouched state.
  void expect_error(std::span<Chunk> chunks, Errc code, const std::string& message) {
    const Status status = rig_.forward(chunks);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, code);
    EXPECT_EQ(status.error().message, message);
    EXPECT_EQ(state_->save(), before_);
  }
  [[nodiscard]] std::size_t vocab() const { return model_->config().vocab_size; }

  std::unique_ptr<Model> model_;
  Rig rig_;
  std::unique_ptr<SequenceState> state_;
  std::vector<std::byte> before_;
};

TEST_F(ForwardErrors, NoChunks) {
  expect_error({}, Errc::kInvalidArgument, "forward: expected at least one chunk, found none");
}

TEST_F(ForwardErrors, NoIds) {
  Logits logits(vocab());
  std::array chunks = {Chunk{.state = state_.get(), .ids = {}, .logits = logits}};
  expect_error(chunks, Errc::kInvalidArgument, "chunk 0: has no token ids");
}

TEST_F(ForwardErrors, NoState) {
  Logits logits(vocab());
  const Ids ids = {1};
  std::array chunks = {Chunk{.state = nullptr, .ids = ids, .logits = logits}};
  expect_error(chunks, Errc::kInvalidArgument, "chunk 0: has no sequence state");
}

TEST_F(ForwardErrors, IdOnePastTheVocabularyButNotTheLastOne) {
  Logits logits(vocab());
  Ids ids = {1, static_cast<TokenId>(vocab())};
  std::array chunks = {Chunk{.state = state_.get(), .ids = ids, .logits = logits}};
  expect_error(chunks, Errc::kInvalidArgument,
               "chunk 0: token id 96 at 1 is outside the vocabulary of 96");
  ids[1] = static_cast<TokenId>(vocab() - 1);
  EXPECT_TRUE(rig_.forward(chunks));
}

TEST_F(ForwardErrors, ErrorInALaterChunkLeavesTheEarlierOnesAlone) {
  Logits logits(2 * vocab());
  const Ids good = {1};
  const Ids bad = {4'000'000'000u};
  const auto other = rig_.fresh();
  std::array chunks = {
      Chunk{.state = state_.get(), .ids = good, .logits = std::span(logits).first(vocab())},
      Chunk{.state = other.get(), .ids = bad, .logits = std::span(logits).last(vocab())}};
  expect_error(chunks, Errc::kInvalidArgument,
               "chunk 1: token id 4000000000 at 0 is outside the vocabulary of 96");
}

TEST_F(ForwardErrors, OneStateTwice) {
  Logits logits(2 * vocab());
  const Ids ids = {1};
  std::array chunks = {
      Chunk{.state = state_.get(), .ids = ids, .logits = std::span(logits).first(vocab())},
      Chunk{.state = state_.get(), .ids = ids, .logits = std::span(logits).last(vocab())}};
  expect_error(chunks, Errc::kInvalidArgument, "chunk 1: has the same sequence state as chunk 0");
}

TEST_F(ForwardErrors, LogitsOfTheWrongSize) {
  const Ids ids = {1, 2};
  Logits logits(2 * vocab());
  std::array chunks = {Chunk{.state = state_.get(), .ids = ids, .logits = logits}};
  expect_error(chunks, Errc::kInvalidArgument, "chunk 0: expected room for 96 logits, found 192");
  chunks[0].rows = LogitRows::kNone;
  expect_error(chunks, Errc::kInvalidArgument, "chunk 0: expected room for 0 logits, found 192");
  chunks[0].rows = LogitRows::kAll;
  EXPECT_TRUE(rig_.forward(chunks));
}

TEST_F(ForwardErrors, StateOfAnotherModel) {
  const auto other = load_checkpoint("all-mla");
  StatePool pool(other->config(), {.slots = 1, .max_positions = 64});
  const auto foreign = *pool.acquire();
  Logits logits(vocab());
  const Ids ids = {1};
  std::array chunks = {Chunk{.state = foreign.get(), .ids = ids, .logits = logits}};
  expect_error(chunks, Errc::kInvalidArgument,
               "chunk 0: its sequence state was made for another model");
}

TEST(ForwardBounds, SequenceMayFillItsLastPositionAndNotOneMore) {
  const auto model = load_checkpoint("k3-all-on");
  StatePool pool(model->config(), {.slots = 1, .max_positions = 64});
  Workspace workspace(model->config());
  ThreadTeam team(1);
  const auto state = *pool.acquire();
  Logits logits(model->config().vocab_size);
  const Ids full = random_ids(*model, 64, 1);
  std::array chunks = {Chunk{.state = state.get(), .ids = full, .logits = logits}};
  ASSERT_TRUE(model->forward(chunks, workspace, team));
  const Ids one = {1};
  chunks[0].ids = one;
  const Status status = model->forward(chunks, workspace, team);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Errc::kTooLarge);
  EXPECT_EQ(status.error().message, "chunk 0: a sequence of 65 tokens exceeds the limit of 64");
  EXPECT_EQ(state->position(), 64u);
}

// A NaN weight must end in an error, never in a plausible token, and only for whom it touches.
TEST(ForwardNonFinite, FailsTheSequenceThatMeetsADamagedEmbeddingOnly) {
  DamagedCheckpoint damaged("k3-all-on");
  const auto whole = load_checkpoint("k3-all-on");
  const std::size_t row = whole->config().hidden_size * 2;  // bf16
  damaged.poison("language_model.model.embed_tokens.weight", 7 * row, row);
  auto loaded = Model::load(damaged.dir());
  ASSERT_TRUE(loaded) << loaded.error().message;
  Rig rig(**loaded);
  const auto good = rig.fresh();
  const auto bad = rig.fresh();
  const Ids good_ids = {1, 2, 3};
  const Ids bad_ids = {1, 7, 3};
  const std::size_t vocab = whole->config().vocab_size;
  Logits good_logits(vocab);
  Logits bad_logits(vocab);
  std::array chunks = {
      Chunk{.state = good.get(), .ids = good_ids, .logits = good_logits},
      Chunk{.state = bad.get(), .ids = bad_ids, .logits = bad_logits},
  };
  const Status status = rig.forward(chunks);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Errc::kCorrupt);
  EXPECT_EQ(status.error().message, "chunk 1: the logits at position 2 are not finite");
  EXPECT_FALSE(chunks[0].failed);
  EXPECT_TRUE(chunks[1].failed);
  Logits expected = Rig(*whole).run(good_ids);
  EXPECT_TRUE(same_bits(good_logits, std::span(expected).last(vocab)));
}

TEST(ModelLoad, NamesAMissingTensorAndItsFile) {
  DamagedCheckpoint damaged("k3-all-on");
  damaged.rename("language_model.model.layers.1.self_attn.o_proj.weight",
                 "language_model.model.layers.1.self_attn.x_proj.weight");
  const auto loaded = Model::load(damaged.dir());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Errc::kNotFound);
  EXPECT_NE(loaded.error().message.find("language_model.model.layers.1.self_attn.o_proj.weight"),
            std::string::npos)
      << loaded.error().message;
}

TEST(ModelLoad, NamesEightProblemsAndCountsTheRest) {
  DamagedCheckpoint damaged("k3-all-on");
  int renamed = 0;
  for (const char* expert : {"0", "1", "2", "3"}) {
    for (const char* matrix : {"w1", "w2", "w3"}) {
      if (renamed++ < 10) {
        const std::string stem = std::string("language_model.model.layers.1.block_sparse_moe.") +
                                 "experts." + expert + "." + matrix + ".weight_";
        damaged.rename(stem + "packed", stem + "wanted");
      }
    }
  }
  const auto loaded = Model::load(damaged.dir());
  ASSERT_FALSE(loaded);
  const std::string& message = loaded.error().message;
  EXPECT_NE(message.find("experts.0.w1.weight"), std::string::npos) << message;
  EXPECT_NE(message.find("experts.2.w3.weight"), std::string::npos) << "the eighth";
  EXPECT_EQ(message.find("experts.2.w2.weight"), std::string::npos) << "the ninth";
  EXPECT_NE(message.find("; and 2 more problems"), std::string::npos) << message;
}

// Each of these makes the model compute something else with all the tensors it asks for in place.
TEST(ModelLoad, RefusesAConfigThatLeavesTensorsOver) {
  struct Row {
    const char* key;
    const char* left_over;
  };
  for (const Row& row :
       {Row{"attn_res_block_size", "_res_"}, Row{"latent_moe_use_norm", "_norm"},
        Row{"mla_use_output_gate", "g_proj"}, Row{"num_shared_experts", "shared"}}) {
    SCOPED_TRACE(row.key);
    DamagedCheckpoint damaged("k3-all-on");
    const std::filesystem::path path = damaged.dir() / "config.json";
    std::string text = daybreak::testing::read_file(path);
    const std::size_t at = text.find("\"" + std::string(row.key) + "\"");
    ASSERT_NE(at, std::string::npos);
    text[at + 1] = 'X';  // an unknown key is ignored
    std::filesystem::remove(path);
    std::ofstream(path) << text;
    const auto loaded = Model::load(damaged.dir());
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::kCorrupt);
    const std::string& message = loaded.error().message;
    EXPECT_NE(message.find(row.left_over), std::string::npos) << message;
    EXPECT_NE(message.find("': nothing in config.json asks for it"), std::string::npos) << message;
  }
}

TEST(ModelLoad, ReportsEveryLayerAndEveryPage) {
  std::vector<std::size_t> layers;
  std::uint64_t read = 0;
  std::uint64_t total = 1;
  const auto model =
      Model::load(daybreak::testing::source_path("testdata/checkpoints/k3-all-on"),
                  {.on_bind = [&](std::size_t done, std::size_t) { layers.push_back(done); },
                   .on_read =
                       [&](const ReadProgress& progress) {
                         read = progress.done_bytes;
                         total = progress.total_bytes;
                         return true;
                       }});
  ASSERT_TRUE(model);
  EXPECT_EQ(layers.size(), (*model)->config().layers);
  EXPECT_EQ(read, total);
}

TEST(ModelLoad, WeightsFingerprintTellsModelsApart) {
  const auto model = load_checkpoint("k3-all-on");
  EXPECT_EQ(model->weights_fingerprint(), load_checkpoint("k3-all-on")->weights_fingerprint());
  DamagedCheckpoint damaged("k3-all-on");
  const std::size_t row = model->config().hidden_size * 2;
  damaged.poison("language_model.lm_head.weight", (model->config().vocab_size - 1) * row, row);
  auto other = Model::load(damaged.dir());
  ASSERT_TRUE(other);
  EXPECT_NE((*other)->weights_fingerprint(), model->weights_fingerprint());
}

}  // namespace
}  // namespace daybreak::model
