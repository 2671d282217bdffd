// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/byte_pair.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <queue>

namespace daybreak::tokenizer {
namespace {

// Up to this length scanning all pairs for each merge beats a heap, and fits on the stack.
constexpr std::size_t kMaxScanBytes = 64;

// Index of "no neighbour".
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// One symbol of a piece in a doubly linked list over its original positions.
struct Symbol {
  TokenId rank;
  TokenId merged;  // with the next symbol; kNone also once this symbol is gone
  std::size_t previous;
  std::size_t next;
};

// A merge that may be outdated: it stands only while symbols[at].merged == rank.
struct Candidate {
  TokenId rank;
  std::size_t at;

  // Lowest rank first, then leftmost.
  friend bool operator>(const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  }
};

using Heap = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

class HeapMerge {
 public:
  HeapMerge(const Vocabulary& vocabulary, std::string_view piece) : vocabulary_(vocabulary) {
    symbols_.reserve(piece.size());
    for (std::size_t i = 0; i < piece.size(); ++i) {
      symbols_.push_back({vocabulary.byte_rank(static_cast<unsigned char>(piece[i])),
                          Vocabulary::kNone, i == 0 ? kNowhere : i - 1,
                          i + 1 == piece.size() ? kNowhere : i + 1});
    }
    std::vector<Candidate> candidates;
    candidates.reserve(piece.size());
    for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
      symbols_[i].merged = vocabulary.merged(symbols_[i].rank, symbols_[i + 1].rank);
      if (symbols_[i].merged != Vocabulary::kNone) {
        candidates.push_back({symbols_[i].merged, i});
      }
    }
    heap_ = Heap(std::greater<>(), std::move(candidates));
  }

  void run() {
    while (!heap_.empty()) {
      const Candidate best = heap_.top();
      heap_.pop();
      if (symbols_[best.at].merged == best.rank) {
        merge(best.at);
      }
    }
  }

  void append_ranks(std::vector<TokenId>& out) const {
    for (std::size_t i = symbols_.empty() ? kNowhere : 0; i != kNowhere; i = symbols_[i].next) {
      out.push_back(symbols_[i].rank);
    }
  }

 private:
  // Joins the symbol at `i` with the next one, which vanishes.
  void merge(std::size_t i) {
    Symbol& left = symbols_[i];
    Symbol& right = symbols_[left.next];
    left.rank = left.merged;
    left.next = right.next;
    right.merged = Vocabulary::kNone;
    if (left.next != kNowhere) {
      symbols_[left.next].previous = i;
    }
    refresh(i);
    if (left.previous != kNowhere) {
      refresh(left.previous);
    }
  }

  // Looks up again what the symbol at `i` and the next one merge into.
  void refresh(std::size_t i) {
    Symbol& symbol = symbols_[i];
    symbol.merged = symbol.next == kNowhere
                        ? Vocabulary::kNone
                        : vocabulary_.merged(symbol.rank, symbols_[symbol.next].rank);
    if (symbol.merged != Vocabulary::kNone) {
      heap_.push({symbol.merged, i});
    }
  }

  const Vocabulary& vocabulary_;
  std::vector<Symbol> symbols_;
  Heap heap_;
};

}  // namespace

void merge_by_heap(const Vocabulary& vocabulary, std::string_view piece,
                   std::vector<TokenId>& out) {
  HeapMerge merge(vocabulary, piece);
  merge.run();
  merge.append_ranks(out);
}

void merge_by_scan(const Vocabulary& vocabulary, std::string_view piece,
                   std::vector<TokenId>& out) {
  if (piece.size() > kMaxScanBytes) {
    return merge_by_heap(vocabulary, piece, out);
  }
  std::array<TokenId, kMaxScanBytes> ranks;
  std::array<TokenId, kMaxScanBytes> merged;  // [i]: of ranks[i] and ranks[i + 1]
  std::size_t size = piece.size();
  for (std::size_t i = 0; i < size; ++i) {
    ranks[i] = vocabulary.byte_rank(static_cast<unsigned char>(piece[i]));
  }
  for (std::size_t i = 0; i + 1 < size; ++i) {
    merged[i] = vocabulary.merged(ranks[i], ranks[i + 1]);
  }
  while (size > 1) {
    const auto pairs_end = merged.begin() + static_cast<std::ptrdiff_t>(size - 1);
    const auto best = std::min_element(merged.begin(), pairs_end);  // the first of equals
    if (*best == Vocabulary::kNone) {
      break;
    }
    const auto at = static_cast<std::size_t>(best - merged.begin());
    ranks[at] = *best;
    std::copy(ranks.begin() + static_cast<std::ptrdiff_t>(at + 2),
              ranks.begin() + static_cast<std::ptrdiff_t>(size),
              ranks.begin() + static_cast<std::ptrdiff_t>(at + 1));
    std::copy(best + 1, pairs_end, best);
    --size;
    if (at + 1 < size) {
      merged[at] = vocabulary.merged(ranks[at], ranks[at + 1]);
    }
    if (at > 0) {
      merged[at - 1] = vocabulary.merged(ranks[at - 1], ranks[at]);
    }
  }
  out.insert(out.end(), ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(size));
}

void encode_piece(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& out) {
  if (const TokenId whole = vocabulary.find(piece); whole != Vocabulary::kNone) {
    out.push_back(whole);
  } else if (piece.size() <= kMaxScanBytes) {
    merge_by_scan(vocabulary, piece, out);
  } else {
    merge_by_heap(vocabulary, piece, out);
  }
}

}  // namespace daybreak::tokenizer
