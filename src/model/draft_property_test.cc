// SPDX-License-Identifier: Apache-2.0
// Guesses that turn out right give the bits of ids that were fed as they are; wrong ones leave no
// trace.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "model/model_test_run.h"

namespace daybreak::model {
namespace {

using testing::Ids;
using testing::load_checkpoint;
using testing::Logits;
using testing::random_ids;
using testing::Rig;
using testing::same_bits;

struct DraftBitsKey {
  static constexpr const char* kKey = "draft_bits";
};
using DraftBits = testing::BitsTest<DraftBitsKey>;

const std::vector<std::string> kCheckpoints = {"k3-all-on", "softplus-low-rank", "kimi-linear",
                                               "odd-sizes"};
constexpr std::size_t kMost = 7;

// A sequence whose true ids are known, fed with guesses of which some are right.
class Drafted {
 public:
  Drafted(Rig& rig, const Model& model, const Ids& truth, const Logits& rows)
      : rig_(rig), model_(model), truth_(truth), rows_(rows), state_(rig.fresh()) {
    EXPECT_TRUE(state_->prepare_drafts(kMost));
  }
  [[nodiscard]] bool done() const { return state_->position() == truth_.size(); }
  [[nodiscard]] SequenceState& state() { return *state_; }

  // Continues with a sequence that starts from what this one has so far.
  void go_on_from_a_checkpoint() {
    const auto checkpoint = state_->checkpoint();
    ASSERT_TRUE(checkpoint);
    const auto pages = state_->share(0, state_->position() / kPagePositions);
    state_ = *rig_.pool().acquire_from(**checkpoint, pages, 0);
    ASSERT_TRUE(state_->prepare_drafts(kMost));
  }

  // Feeds `plain` true ids and `guesses` more, of which the first `right` are true ones.
  void step(std::size_t plain, std::size_t guesses, std::size_t right) {
    const std::size_t at = state_->position();
    plain = std::min(plain, truth_.size() - at);
    right = std::min({right, guesses, truth_.size() - at - plain});
    Ids ids(truth_.begin() + static_cast<std::ptrdiff_t>(at),
            truth_.begin() + static_cast<std::ptrdiff_t>(at + plain + right));
    for (std::size_t i = right; i < guesses; ++i) {
      const std::size_t place = at + ids.size();
      const TokenId other = place < truth_.size() ? truth_[place] : 0;
      ids.push_back(static_cast<TokenId>((other + 1 + i) % model_.config().vocab_size));
    }
    const std::size_t vocab = model_.config().vocab_size;
    Logits logits(ids.size() * vocab);
    std::array chunks = {Chunk{.state = state_.get(),
                               .ids = ids,
                               .rows = LogitRows::kAll,
                               .logits = logits,
                               .draft_ids = guesses}};
    ASSERT_TRUE(rig_.forward(chunks));
    ASSERT_EQ(state_->position(), at + plain) << "guesses count already";
    state_->accept(right);
    ASSERT_EQ(state_->position(), at + plain + right);
    ASSERT_TRUE(same_bits(std::span(logits).first((plain + right) * vocab),
                          std::span(rows_).subspan(at * vocab, (plain + right) * vocab)))
        << "at " << at << ": " << plain << " ids, " << guesses << " guesses, " << right << " right";
  }

 private:
  Rig& rig_;
  const Model& model_;
  const Ids& truth_;
  const Logits& rows_;
  std::unique_ptr<SequenceState> state_;
};

TEST_F(DraftBits, AreThoseOfPlainIdsForEveryNumberOfGuessesAndOfRightOnes) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    Rig rig(*model);
    const Ids truth = random_ids(*model, 190, 3);
    const auto plain = rig.fresh();
    const Logits rows = rig.append(*plain, truth);
    Drafted drafted(rig, *model, truth, rows);
    for (std::size_t i = 0; !drafted.done(); ++i) {
      const std::size_t guesses = i % (kMost + 1);
      drafted.step(1, guesses, i / (kMost + 1) % (guesses + 1));
    }
    EXPECT_EQ(drafted.state().save(), plain->save()) << "something of a wrong guess is left";
  }
}

TEST_F(DraftBits, AreThoseOfPlainIdsAfterAnyHistory) {
  std::mt19937 rng(5);
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    Rig rig(*model, 16, 2);
    const Ids truth = random_ids(*model, 300, 4);
    const auto plain = rig.fresh();
    const Logits rows = rig.append(*plain, truth);
    for (int round = 0; round < 6; ++round) {
      Drafted drafted(rig, *model, truth, rows);
      while (!drafted.done()) {
        const bool guess = rng() % 4 > 0;  // else a piece of a prompt, longer than one pass
        const std::size_t guesses = guess ? rng() % (kMost + 1) : 0;
        drafted.step(guess ? 1 + rng() % 3 : 1 + rng() % 40, guesses, rng() % (guesses + 1));
        if (HasFatalFailure()) {
          return;
        }
        if (rng() % 8 == 0) {  // reading the state does not change what comes
          ASSERT_FALSE(drafted.state().save().empty());
        }
        if (drafted.state().position() % kPagePositions == 0) {
          drafted.go_on_from_a_checkpoint();
        }
      }
      ASSERT_EQ(drafted.state().save(), plain->save());
    }
  }
}

TEST_F(DraftBits, OfOneSequenceBesideOthersInTheSameStep) {
  const auto model = load_checkpoint("k3-all-on");
  Rig rig(*model, 8);  // so that chunks are cut, but not this one
  const std::size_t vocab = model->config().vocab_size;
  const Ids ids = random_ids(*model, 20, 6);
  const Logits rows = rig.run(ids);
  const auto guessing = rig.fresh();
  const auto reading = rig.fresh();
  ASSERT_TRUE(guessing->prepare_drafts(4));
  Logits both(10 * vocab);
  std::array chunks = {Chunk{.state = reading.get(),
                             .ids = std::span(ids).first(5),
                             .rows = LogitRows::kAll,
                             .logits = std::span(both).first(5 * vocab)},
                       Chunk{.state = guessing.get(),
                             .ids = std::span(ids).first(5),
                             .rows = LogitRows::kAll,
                             .logits = std::span(both).subspan(5 * vocab),
                             .draft_ids = 4}};
  ASSERT_TRUE(rig.forward(chunks));
  EXPECT_TRUE(same_bits(std::span(both).first(5 * vocab), std::span(rows).first(5 * vocab)));
  EXPECT_TRUE(same_bits(std::span(both).subspan(5 * vocab), std::span(rows).first(5 * vocab)));
  guessing->accept(4);
  EXPECT_EQ(guessing->save(), reading->save());
}

class DraftRules : public ::testing::Test {
 protected:
  // The error of feeding `ids` ids of which `drafts` are guesses.
  std::string refused(std::size_t ids, std::size_t drafts) {
    Logits logits(model_->config().vocab_size);
    const Ids some = random_ids(*model_, ids, 1);
    std::array chunks = {
        Chunk{.state = state_.get(), .ids = some, .logits = logits, .draft_ids = drafts}};
    const Status status = rig_.forward(chunks);
    return status ? "" : status.error().message;
  }

  std::unique_ptr<Model> model_ = load_checkpoint("k3-all-on");
  Rig rig_{*model_, 6};
  std::unique_ptr<SequenceState> state_ = rig_.fresh();
};

TEST_F(DraftRules, MoreGuessesThanPreparedForAreRefused) {
  EXPECT_EQ(refused(2, 1), "chunk 0: expected at most 0 drafted ids, found 1");
  ASSERT_TRUE(state_->prepare_drafts(3));
  EXPECT_EQ(refused(5, 4), "chunk 0: expected at most 3 drafted ids, found 4");
  EXPECT_EQ(refused(3, 3), "chunk 0: expected at most 2 drafted ids, found 3");
  EXPECT_EQ(refused(7, 3), "chunk 0: expected at most 6 ids with drafted ones among them, found 7");
  EXPECT_EQ(state_->position(), 0U);
  EXPECT_EQ(refused(4, 3), "");
}

TEST_F(DraftRules, OpenGuessesAreRefusedUntilTheyAreAccepted) {
  ASSERT_TRUE(state_->prepare_drafts(3));
  EXPECT_EQ(refused(4, 3), "");
  EXPECT_EQ(refused(1, 0),
            "chunk 0: 3 drafted ids of its sequence are neither accepted nor refused");
  state_->accept(0);
  EXPECT_EQ(refused(1, 0), "");
  EXPECT_EQ(state_->position(), 2U);
}

TEST_F(DraftRules, ARestoredStateHasNoGuesses) {
  const auto empty = state_->save();
  ASSERT_TRUE(state_->prepare_drafts(3));
  EXPECT_EQ(refused(4, 3), "");
  state_->accept(2);
  ASSERT_TRUE(state_->restore(empty));
  EXPECT_EQ(state_->save(), empty);
}

}  // namespace
}  // namespace daybreak::model
