// SPDX-License-Identifier: Apache-2.0
#include "cli/generate_prompt.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

namespace daybreak::cli {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) {
      std::fclose(file);
    }
  }
};

Result<std::string> read_whole_file(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin
                                                               : std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return Error{errno == ENOENT ? Errc::kNotFound : Errc::kIo,
                 fmt::format("--prompt-file {}: {}", path, std::strerror(errno))};
  }
  std::string text;
  char buffer[65'536];
  while (true) {
    const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get());
    text.append(buffer, count);
    if (text.size() > kMaxPromptFileBytes) {
      return Error{Errc::kTooLarge, fmt::format("--prompt-file {}: expected at most {} bytes", path,
                                                kMaxPromptFileBytes)};
    }
    if (count < sizeof buffer) {
      break;
    }
  }
  if (std::ferror(file.get()) != 0) {
    return Error{Errc::kIo, fmt::format("--prompt-file {}: {}", path, std::strerror(errno))};
  }
  return text;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

}  // namespace

void add_prompt_options(Command command, PromptOptions& options) {
  const Command group = command.one_of("prompt", "exactly one of");
  options.text_given = group.add_option("--prompt", options.text, "text to continue");
  options.file_given =
      group.add_option("--prompt-file", options.file, "file to continue; - is standard input");
  options.ids_given = group.add_option("--ids", options.ids, "token ids to continue: 1,2,3");
  command.add_flag("--special", options.special,
                   "spellings of special tokens in the text become those tokens");
}

Result<std::shared_ptr<const tokenizer::Tokenizer>> load_tokenizer(
    const std::filesystem::path& model, const PromptOptions& options) {
  auto tokenizer = tokenizer::Tokenizer::load(model);
  if (!tokenizer && tokenizer.error().code == Errc::kNotFound && options.ids_given.given()) {
    return std::shared_ptr<const tokenizer::Tokenizer>();
  }
  return tokenizer;
}

Result<std::vector<TokenId>> read_prompt(const PromptOptions& options,
                                         const tokenizer::Tokenizer* tokenizer) {
  if (options.ids_given.given()) {
    return parse_id_list("--ids", options.ids);
  }
  std::string text = options.text;
  if (options.file_given.given()) {
    DAYBREAK_TRY(text, read_whole_file(options.file));
  }
  std::vector<TokenId> ids;
  tokenizer->encode(text,
                    options.special ? tokenizer::AllowSpecial::kYes : tokenizer::AllowSpecial::kNo,
                    tokenizer::Slicing::kOn, ids);
  return ids;
}

Result<std::vector<TokenId>> parse_id_list(std::string_view option, std::string_view list) {
  std::vector<TokenId> ids;
  if (trim(list).empty()) {
    return ids;
  }
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view item = trim(list.substr(0, comma));
    TokenId id = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), id);
    if (error != std::errc() || end != item.data() + item.size()) {
      return Error{
          Errc::kInvalidArgument,
          fmt::format("{}: item {}: expected a token id, found '{}'", option, ids.size(), item)};
    }
    ids.push_back(id);
    if (comma == std::string_view::npos) {
      return ids;
    }
    list.remove_prefix(comma + 1);
  }
}

}  // namespace daybreak::cli
