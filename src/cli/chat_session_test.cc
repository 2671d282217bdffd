// SPDX-License-Identifier: Apache-2.0
#include "cli/chat_session.h"

#include <gtest/gtest.h>

#include "engine/model_runner.h"
#include "testing/paths.h"

namespace daybreak::cli {
namespace {

// The bundled model with everything a session needs.
struct Bundled {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer =
      *tokenizer::Tokenizer::load(testing::source_path("models/nano"));
  chat::MarkerIds markers = *chat::MarkerIds::from(*tokenizer);
  std::shared_ptr<const model::Model> model =
      *model::Model::load(testing::source_path("models/nano"));
  std::unique_ptr<engine::ModelRunner> runner(std::size_t positions = 4096) const {
    return *engine::ModelRunner::create(model, {.max_sequences = 2, .max_positions = positions});
  }
};

ChatSettings settings(std::size_t max_tokens = 200) {
  ChatSettings s;
  s.system = "Be brief.";
  s.sampling.seed = 3;
  s.max_tokens = max_tokens;
  return s;
}

struct Said {
  std::string content;
  std::string reasoning;
  Turn turn;
};

Said ask(ChatSession& session, const std::string& text, std::size_t interrupt_after = 100'000) {
  Said said;
  std::size_t asked = 0;
  TurnCallbacks callbacks;
  callbacks.on_event = [&](const chat::OutputEvent& event) {
    (event.kind == chat::OutputEvent::Kind::kContent ? said.content : said.reasoning) += event.text;
  };
  callbacks.on_prompt = [](std::size_t, std::size_t) {};
  callbacks.interrupted = [&] { return ++asked > interrupt_after; };
  const Result<Turn> turn = session.ask(text, callbacks);
  EXPECT_TRUE(turn) << turn.error().message;
  if (turn) {
    said.turn = *turn;
  }
  return said;
}

TEST(ChatSession, TheSecondTurnComputesOnlyWhatIsNew) {
  const Bundled bundled;
  const auto runner = bundled.runner();
  ChatSession session(*bundled.tokenizer, bundled.markers, *runner, settings());
  const Said first = ask(session, "Hello");
  EXPECT_EQ(first.turn.finish, engine::FinishReason::kStop);
  EXPECT_FALSE(first.content.empty());
  EXPECT_FALSE(first.reasoning.empty());
  const Said second = ask(session, "And you?");
  // Everything but the stop id, which was drawn and never fed.
  EXPECT_EQ(second.turn.usage.cached_tokens,
            first.turn.usage.prompt_tokens + first.turn.usage.completion_tokens - 1);
  EXPECT_EQ(session.messages(), 5U);
}

TEST(ChatSession, ARestoredSessionContinuesWithTheSameAnswerAndWithoutReadingAgain) {
  const Bundled bundled;
  const auto runner = bundled.runner();
  ChatSession session(*bundled.tokenizer, bundled.markers, *runner, settings());
  ask(session, "Hello \"you\"\xFF");
  const engine::SavedSequence saved = session.save();
  const Said expected = ask(session, "Go on");
  ChatSession restored(*bundled.tokenizer, bundled.markers, *runner, settings());
  const Result<bool> state_fits = restored.restore(saved);
  ASSERT_TRUE(state_fits);
  EXPECT_TRUE(*state_fits);
  const Said continued = ask(restored, "Go on");
  EXPECT_EQ(continued.content, expected.content);
  EXPECT_EQ(continued.turn.usage.cached_tokens, saved.ids.size());
}

TEST(ChatSession, AStateOfAnotherModelIsReadAgainWithTheSameAnswer) {
  const Bundled bundled;
  const auto runner = bundled.runner();
  ChatSession session(*bundled.tokenizer, bundled.markers, *runner, settings());
  ask(session, "Hello");
  engine::SavedSequence saved = session.save();
  const Said expected = ask(session, "Go on");
  saved.state[saved.state.size() / 2] ^= std::byte{1};
  ChatSession restored(*bundled.tokenizer, bundled.markers, *runner, settings());
  const Result<bool> state_fits = restored.restore(saved);
  ASSERT_TRUE(state_fits);
  EXPECT_FALSE(*state_fits);
  const Said again = ask(restored, "Go on");
  EXPECT_EQ(again.turn.usage.cached_tokens, 0U);
  EXPECT_EQ(again.content, expected.content);
}

TEST(ChatSession, ASavedConversationMustBeOne) {
  const Bundled bundled;
  const auto runner = bundled.runner();
  ChatSession session(*bundled.tokenizer, bundled.markers, *runner, settings());
  const Result<bool> restored = session.restore({.text = "[]", .ids = {}, .state = {}});
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, Errc::kCorrupt);
  EXPECT_EQ(session.messages(), 1U);
}

TEST(ChatSession, AnInterruptedAnswerStaysAndAnUnansweredMessageIsTakenBack) {
  const Bundled bundled;
  const auto runner = bundled.runner();
  ChatSession session(*bundled.tokenizer, bundled.markers, *runner, settings());
  const Said unanswered = ask(session, "Hello", 0);
  EXPECT_FALSE(unanswered.turn.answered);
  EXPECT_EQ(session.messages(), 1U);
  const Said cut = ask(session, "Hello", 12);
  EXPECT_TRUE(cut.turn.answered);
  EXPECT_EQ(cut.turn.finish, engine::FinishReason::kCancelled);
  EXPECT_EQ(session.messages(), 3U);
  EXPECT_EQ(ask(session, "Go on").turn.finish, engine::FinishReason::kStop);
}

TEST(ChatSession, AFullContextIsAnErrorAndTakesTheMessageBack) {
  const Bundled bundled;
  const auto runner = bundled.runner(64);
  ChatSession session(*bundled.tokenizer, bundled.markers, *runner, settings());
  TurnCallbacks callbacks;
  const Result<Turn> turn = session.ask(std::string(2000, 'x'), callbacks);
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().code, Errc::kTooLarge);
  EXPECT_EQ(session.messages(), 1U);
}

}  // namespace
}  // namespace daybreak::cli
