// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/slicer.h"

#include "base/utf8.h"
#include "tokenizer/char_class.h"

namespace daybreak::tokenizer {

std::string_view Slicer::next() {
  const std::size_t begin = begin_;
  // No cut can fall into a rest with fewer bytes than either cap has code points.
  const std::size_t rest = text_.size() - begin;
  if (rest <= caps_.max_run && rest <= caps_.max_chars - chars_) {
    begin_ = text_.size();
    return text_.substr(begin);
  }
  std::size_t run = 0;
  bool run_is_space = false;
  std::size_t at = begin;
  while (at < text_.size()) {
    if (chars_ == caps_.max_chars) {
      chars_ = 0;
      break;
    }
    const CodePoint c = valid_code_point(text_, at);
    const bool is_space = is_python_space(c.value);
    if (is_space != run_is_space) {
      run = 0;
      run_is_space = is_space;
    }
    if (run == caps_.max_run) {
      break;
    }
    ++run;
    ++chars_;
    at += c.length;
  }
  begin_ = at;
  return text_.substr(begin, at - begin);
}

}  // namespace daybreak::tokenizer
