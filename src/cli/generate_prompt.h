// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where `daybreak generate` takes its prompt from: ids, text or a file.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "cli/command.h"
#include "tokenizer/tokenizer.h"

namespace daybreak::cli {

inline constexpr std::size_t kMaxPromptFileBytes = std::size_t{64} << 20;

struct PromptOptions {
  std::string text;
  std::string file;  // "-" is standard input
  std::string ids;
  bool special = false;
  OptionRef text_given;
  OptionRef file_given;
  OptionRef ids_given;
};

// Declares --prompt, --prompt-file, --ids (exactly one of them) and --special. `options` must
// outlive parsing and what follows.
void add_prompt_options(Command command, PromptOptions& options);

// Returns the model's tokenizer, or null if its files do not exist and the prompt is given as ids.
// Errors: those of Tokenizer::load.
Result<std::shared_ptr<const tokenizer::Tokenizer>> load_tokenizer(
    const std::filesystem::path& model, const PromptOptions& options);

// Returns the prompt's ids. `tokenizer` may be null iff the prompt is given as ids.
// Errors: kInvalidArgument (an id is no number), kTooLarge (file above kMaxPromptFileBytes),
// kNotFound, kIo.
Result<std::vector<TokenId>> read_prompt(const PromptOptions& options,
                                         const tokenizer::Tokenizer* tokenizer);

// Returns the ids of a list such as "1,2,3"; blanks around numbers are allowed.
// Errors: kInvalidArgument naming the option and the item.
Result<std::vector<TokenId>> parse_id_list(std::string_view option, std::string_view list);

}  // namespace daybreak::cli
