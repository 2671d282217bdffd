// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grammar/automaton_state.h"

namespace daybreak::grammar {

// Memory of one matcher's states: grows with the answer, shrinks on rollback.
class StateArena {
 public:
  StateArena();
  struct Mark {
    std::size_t frames, joined, texts, keys, words, choices, values, numbers;
  };
  [[nodiscard]] Mark mark() const;
  // Frees everything made after `mark`.
  void release(const Mark& mark);
  [[nodiscard]] std::size_t bytes() const;

  // Sets the hashes and keeps the frame.
  const Frame* keep(Frame frame);
  // Returns a frame that stands for all of `frames`: one of them, one with joined parents, or a
  // join. Takes a step of `work` for each frame looked at; without any left the result stands for
  // some of them only. REQUIRES: not empty.
  const Frame* unite(std::span<const Frame* const> frames, std::uint64_t& work);
  // Returns a join as it is. REQUIRES: as Frame::parents.
  const Frame* join(std::vector<const Frame*> parents);
  const TextLink* text(const TextLink* before, std::uint32_t code_point);
  const KeyLink* key(const KeyLink* next, const TextLink* text);
  std::uint64_t* words(std::size_t count);
  const KeyChoices* choices(KeyChoices choices);
  const NumberState* number(NumberState state);
  // The values of `from` (null: none) and one more.
  const SeenValues* add_bits(const SeenValues* from, std::uint8_t bits);
  const SeenValues* add_number(const SeenValues* from, Decimal number);
  const SeenValues* add_string(const SeenValues* from, const TextLink* text);

 private:
  const SeenValues* add_value(SeenValues value, std::uint64_t hash);
  const Frame* unite(std::vector<const Frame*> frames, std::size_t depth, std::uint64_t& work);
  // Makes one frame of each run of frames that are alike but for their parents.
  std::vector<const Frame*> unite_alike(std::span<const Frame* const> frames, std::size_t depth,
                                        std::uint64_t& work);

  // Elements with stable addresses that are freed last first.
  template <class T>
  struct Stack {
    std::deque<T> items;
    std::size_t bytes = 0;
    T& add(T item) {
      bytes += weight(item);
      return items.emplace_back(std::move(item));
    }
    void shrink(std::size_t size) {
      while (items.size() > size) {
        bytes -= weight(items.back());
        items.pop_back();
      }
    }
  };
  template <class T>
  static std::size_t weight(const T& /*item*/) {
    return sizeof(T);
  }
  template <class T>
  static std::size_t weight(const std::vector<T>& items) {
    return sizeof(items) + items.size() * sizeof(T);
  }
  static std::size_t weight(const KeyChoices& choices) { return weight(choices.names); }
  Stack<Frame> frames_;
  Stack<std::vector<const Frame*>> joined_;
  // What unite() found, by the hashes of its frames, and in order: by then so many frames were
  // kept.
  std::unordered_map<std::uint64_t, const Frame*> united_;
  std::vector<std::pair<std::uint64_t, std::size_t>> united_order_;
  Stack<TextLink> texts_;
  Stack<KeyLink> keys_;
  Stack<std::vector<std::uint64_t>> words_;
  Stack<KeyChoices> choices_;
  Stack<SeenValues> values_;
  Stack<NumberState> numbers_;
};

}  // namespace daybreak::grammar
