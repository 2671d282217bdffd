// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frame of commands that answer one line of JSON for each line of JSON they read.

#include <cstdio>
#include <functional>
#include <string>

#include "base/line_reader.h"
#include "base/result.h"

namespace daybreak::cli {

// Answers a line of input with a line of output, both without line break.
using LineHandler = std::function<Result<std::string>(std::string line)>;

// Writes the answer to every line of `in` to `out`, flushed line by line; {"error":MESSAGE} for a
// line that fails. Goes on after a failure.
// Errors: kCorrupt if any line failed, kIo if reading or writing fails.
Status answer_lines(LineReader& in, std::FILE* out, const LineHandler& handler);

// Replaces the escape of every surrogate that has no partner ("\ud83d" alone) by "\ufffd" in a JSON
// text. Parsers refuse such escapes; the released tokenizer reads them as U+FFFD.
void replace_lone_surrogates(std::string& json);

}  // namespace daybreak::cli
