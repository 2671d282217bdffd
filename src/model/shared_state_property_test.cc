// SPDX-License-Identifier: Apache-2.0
// A sequence that starts from shared pages and a checkpoint gives the bits of one that has computed
// its beginning itself, whatever happens to the others.

#include "model/shared_state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/hash.h"
#include "model/model_test_run.h"

namespace daybreak::model {
namespace {

using testing::Ids;
using testing::load_checkpoint;
using testing::Logits;
using testing::random_ids;
using testing::Rig;
using testing::same_bits;

struct SharedBitsKey {
  static constexpr const char* kKey = "shared_state_bits";
};
using SharedBits = testing::BitsTest<SharedBitsKey>;

const std::vector<std::string> kCheckpoints = {"k3-all-on", "softplus-low-rank", "kimi-linear",
                                               "odd-sizes"};

// What the first `tokens` ids leave behind.
struct Beginning {
  std::shared_ptr<const StateCheckpoint> checkpoint;
  std::vector<SharedPagePtr> pages;

  [[nodiscard]] std::unique_ptr<SequenceState> go_on(Rig& rig) const {
    return *rig.pool().acquire_from(*checkpoint, pages, 0);
  }
};

Beginning leave(SequenceState& state) {
  const auto pages = state.share(0, state.position() / kPagePositions);
  return {*state.checkpoint(), {pages.begin(), pages.end()}};
}

std::span<const float> from(const Logits& logits, const Model& model, std::size_t token) {
  return std::span(logits).subspan(token * model.config().vocab_size);
}

std::uint64_t hash_of(const Beginning& beginning) {
  std::uint64_t hash = fnv1a64(std::as_bytes(beginning.checkpoint->floats()));
  for (const SharedPagePtr& page : beginning.pages) {
    hash = fnv1a64(
        std::as_bytes(std::span(page->loan().data, page->arena()->layout().page_floats())), hash);
  }
  return hash;
}

TEST_F(SharedBits, AtEveryBoundaryAndHoweverTheRestIsCut) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    Rig rig(*model);
    const Ids ids = random_ids(*model, 270, 11);
    const Logits expected = rig.run(ids);
    for (const std::size_t boundary : {64U, 128U, 192U, 256U}) {
      const auto donor = rig.fresh();
      rig.append(*donor, std::span(ids).first(boundary));
      const Beginning beginning = leave(*donor);
      for (const std::size_t cut : {1U, 5U, 14U}) {
        const auto state = beginning.go_on(rig);
        ASSERT_EQ(state->position(), boundary);
        const auto rest = std::span(ids).subspan(boundary);
        Logits got = rig.append(*state, rest.first(cut));
        const Logits more = cut < rest.size() ? rig.append(*state, rest.subspan(cut)) : Logits{};
        got.insert(got.end(), more.begin(), more.end());
        ASSERT_TRUE(same_bits(got, from(expected, *model, boundary))) << boundary << " " << cut;
      }
    }
  }
}

TEST_F(SharedBits, WhateverItsDonorAndItsSiblingsDo) {
  for (const std::string& name : kCheckpoints) {
    SCOPED_TRACE(name);
    const auto model = load_checkpoint(name);
    Rig rig(*model);
    const Ids one = random_ids(*model, 200, 12);
    Ids two = one;
    std::ranges::copy(random_ids(*model, 72, 13), two.begin() + 128);
    const Logits expected_one = rig.run(one);
    const Logits expected_two = rig.run(two);

    auto donor = rig.fresh();
    rig.append(*donor, std::span(one).first(128));
    const Beginning beginning = leave(*donor);
    const std::uint64_t before = hash_of(beginning);
    const auto sibling = beginning.go_on(rig);
    const auto late = [&] {
      rig.append(*donor, std::span(one).subspan(128, 40));  // the donor goes on
      rig.append(*sibling, std::span(two).subspan(128, 30));
      donor.reset();  // and leaves
      return beginning.go_on(rig);
    }();
    EXPECT_EQ(hash_of(beginning), before) << "written after it was shared";
    ASSERT_TRUE(
        same_bits(rig.append(*late, std::span(one).subspan(128)), from(expected_one, *model, 128)));
    ASSERT_TRUE(same_bits(rig.append(*sibling, std::span(two).subspan(158)),
                          from(expected_two, *model, 158)));
  }
}

TEST_F(SharedBits, OfCheckpointsOfAChainOfSequences) {
  const auto model = load_checkpoint("k3-all-on");
  Rig rig(*model);
  const Ids ids = random_ids(*model, 330, 14);
  const Logits expected = rig.run(ids);
  Beginning last;
  {
    const auto first = rig.fresh();
    rig.append(*first, std::span(ids).first(64));
    last = leave(*first);
  }
  for (std::size_t at = 64; at < 320; at += 64) {  // each goes on from the one before
    const auto next = last.go_on(rig);
    ASSERT_TRUE(same_bits(rig.append(*next, std::span(ids).subspan(at, 64)),
                          from(expected, *model, at).first(64 * model->config().vocab_size)));
    last = leave(*next);
  }
  ASSERT_TRUE(same_bits(rig.append(*last.go_on(rig), std::span(ids).subspan(320)),
                        from(expected, *model, 320)));
}

}  // namespace
}  // namespace daybreak::model
