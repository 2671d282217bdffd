// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two length guards of the released tokenizer. They are part of its definition: a cut ends a
// pre-token and hides a special token that straddles it, so they change ids.

#include <cstddef>
#include <string_view>

namespace daybreak::tokenizer {

// The caps, in code points. REQUIRES: both at least 1.
struct SliceCaps {
  std::size_t max_chars = 400'000;  // blind cut of the whole text
  std::size_t max_run = 25'000;     // longest run of whitespace, or of anything else
};

// Walks the slices of a text in order. Inside each blind cut of max_chars a further cut is made
// just before the character that would make a run of one class longer than max_run; the run is
// then counted from 1 again. The classes are those of Python's str.isspace.
// Source: spec k3-frontend.md section 1.5.
class Slicer {
 public:
  // REQUIRES: `utf8` is valid UTF-8; it must outlive the slicer.
  Slicer(std::string_view utf8, const SliceCaps& caps) : text_(utf8), caps_(caps) {}

  bool done() const { return begin_ == text_.size(); }

  // Returns the next slice, never empty. REQUIRES: !done().
  std::string_view next();

 private:
  std::string_view text_;
  SliceCaps caps_;
  std::size_t begin_ = 0;
  std::size_t chars_ = 0;  // since the last blind cut
};

}  // namespace daybreak::tokenizer
