// SPDX-License-Identifier: Apache-2.0
#include "model/safetensors.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/json_document.h"

namespace daybreak::model {
namespace {

constexpr std::uint64_t kPrefixBytes = 8;

std::string where_of(std::string_view file, std::string_view tensor) {
  return std::string(file) + ": tensor '" + printable(tensor) + "'";
}

Error corrupt(std::string_view file, std::string_view what) {
  return {Errc::kCorrupt, std::string(file) + ": " + std::string(what)};
}

Error corrupt_tensor(std::string_view file, std::string_view tensor, std::string_view what) {
  return {Errc::kCorrupt, where_of(file, tensor) + ": " + std::string(what)};
}

// A field of a header is input of the file, not of a caller.
template <class T>
Result<T> as_corrupt(Result<T> result) {
  if (!result && result.error().code == Errc::kInvalidArgument) {
    return Error{Errc::kCorrupt, result.error().message};
  }
  return result;
}

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return value;
}

Result<std::string_view> header_text(std::span<const std::byte> file, std::string_view name) {
  if (file.size() < kPrefixBytes) {
    return corrupt(name, "truncated: " + std::to_string(file.size()) +
                             " bytes, a safetensors file starts with an 8-byte header length");
  }
  const std::uint64_t length = little_endian(file.first(kPrefixBytes));
  if (length > kMaxSafetensorsHeader) {
    return Error{Errc::kTooLarge, std::string(name) + ": header length " + std::to_string(length) +
                                      ", at most " + std::to_string(kMaxSafetensorsHeader) +
                                      " (is this a safetensors file?)"};
  }
  if (length > file.size() - kPrefixBytes) {
    return corrupt(name, "truncated: header length " + std::to_string(length) + ", but only " +
                             std::to_string(file.size() - kPrefixBytes) + " bytes follow it");
  }
  const auto bytes = file.subspan(kPrefixBytes, length);
  if (bytes.empty() || bytes.front() != std::byte{'{'}) {
    return corrupt(name, "the header does not start with '{'");
  }
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::vector<std::uint64_t>> read_integers(const JsonValue& entry, std::string_view key,
                                                 std::size_t max_items) {
  const auto value = entry.find(key);
  if (!value) {
    return Error{Errc::kCorrupt, entry.where_of(key) + ": missing"};
  }
  DAYBREAK_TRY(const auto items, as_corrupt(value->array(max_items)));
  std::vector<std::uint64_t> integers;
  integers.reserve(items.size());
  for (const JsonValue& item : items) {
    DAYBREAK_TRY(const std::uint64_t integer,
                 as_corrupt(item.integer(0, std::numeric_limits<std::uint64_t>::max())));
    integers.push_back(integer);
  }
  return integers;
}

Result<DType> read_dtype(const JsonValue& entry, std::string_view file, std::string_view tensor) {
  const auto value = entry.find("dtype");
  if (!value) {
    return Error{Errc::kCorrupt, entry.where_of("dtype") + ": missing"};
  }
  DAYBREAK_TRY(const std::string_view text, as_corrupt(value->string()));
  const auto dtype = parse_dtype(text);
  if (!dtype) {
    return corrupt_tensor(file, tensor, "unknown dtype '" + printable(text, 40) + "'");
  }
  return *dtype;
}

// Turns offsets of the data section into offsets of the file, checked against shape and file.
Status place(TensorEntry& entry, std::span<const std::uint64_t> offsets, std::uint64_t data_begin,
             std::uint64_t file_bytes, std::string_view file) {
  if (offsets.size() != 2) {
    return corrupt_tensor(
        file, entry.name,
        "data_offsets: expected [begin, end], found " + std::to_string(offsets.size()) + " items");
  }
  const std::string range =
      "[" + std::to_string(offsets[0]) + ", " + std::to_string(offsets[1]) + ")";
  if (offsets[0] > offsets[1]) {
    return corrupt_tensor(file, entry.name, "data_offsets " + range + ": begin after end");
  }
  const std::uint64_t data_bytes = file_bytes - data_begin;
  if (offsets[1] > data_bytes) {
    return corrupt_tensor(file, entry.name,
                          "data_offsets " + range + " leave the data section of " +
                              std::to_string(data_bytes) + " bytes (truncated file?)");
  }
  const auto needed = byte_count(entry.dtype, entry.shape);
  if (!needed) {
    return corrupt_tensor(file, entry.name,
                          describe(entry.dtype, entry.shape) + " overflows 64 bits");
  }
  if (*needed != offsets[1] - offsets[0]) {
    return corrupt_tensor(file, entry.name,
                          describe(entry.dtype, entry.shape) + " takes " + std::to_string(*needed) +
                              " bytes, data_offsets " + range + " hold " +
                              std::to_string(offsets[1] - offsets[0]));
  }
  entry.begin = data_begin + offsets[0];
  entry.end = data_begin + offsets[1];
  return ok();
}

Result<TensorEntry> read_entry(std::string_view tensor, simdjson::dom::element element,
                               std::uint64_t data_begin, std::uint64_t file_bytes,
                               std::string_view file) {
  if (tensor.size() > kMaxTensorName) {
    return Error{Errc::kTooLarge, where_of(file, tensor) + ": name of " +
                                      std::to_string(tensor.size()) + " bytes, at most " +
                                      std::to_string(kMaxTensorName)};
  }
  const JsonValue value(element, where_of(file, tensor));
  if (!value.is_object()) {
    return Error{Errc::kCorrupt, value.expected("an object").message};
  }
  TensorEntry entry;
  entry.name = tensor;
  DAYBREAK_TRY(entry.dtype, read_dtype(value, file, tensor));
  DAYBREAK_TRY(entry.shape, read_integers(value, "shape", kMaxTensorRank));
  DAYBREAK_TRY(const auto offsets, read_integers(value, "data_offsets", 2));
  DAYBREAK_CHECK_OK(place(entry, offsets, data_begin, file_bytes, file));
  return entry;
}

Status check_metadata(simdjson::dom::element element, std::string_view file) {
  const JsonValue metadata(element, std::string(file) + ": __metadata__");
  simdjson::dom::object members;
  if (element.get_object().get(members) != simdjson::SUCCESS) {
    return Error{Errc::kCorrupt, metadata.expected("an object").message};
  }
  for (const auto member : members) {
    DAYBREAK_CHECK_OK(as_corrupt(JsonValue(member.value, metadata.where_of(member.key)).string()));
  }
  return ok();
}

Status refuse_overlaps(std::span<const TensorEntry> by_begin, std::string_view file) {
  const TensorEntry* previous = nullptr;
  for (const TensorEntry& entry : by_begin) {
    if (entry.begin == entry.end) {
      continue;  // no bytes, so none shared
    }
    if (previous != nullptr && entry.begin < previous->end) {
      return corrupt_tensor(file, entry.name,
                            "its bytes overlap those of '" + printable(previous->name) + "'");
    }
    previous = &entry;
  }
  return ok();
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                   std::string_view name) {
  DAYBREAK_TRY(const std::string_view text, header_text(file, name));
  DAYBREAK_TRY(
      const JsonDocument document,
      as_corrupt(JsonDocument::parse(text, std::string(name) + ": header",
                                     {.max_bytes = kMaxSafetensorsHeader, .max_depth = 4})));
  simdjson::dom::object members;
  if (document.root().raw().get_object().get(members) != simdjson::SUCCESS) {
    return corrupt(name, "the header is not an object");
  }
  SafetensorsHeader header;
  header.data_begin = kPrefixBytes + text.size();
  header.tensors.reserve(members.size());
  for (const auto member : members) {
    if (member.key == "__metadata__") {
      DAYBREAK_CHECK_OK(check_metadata(member.value, name));
      continue;
    }
    DAYBREAK_TRY(TensorEntry entry,
                 read_entry(member.key, member.value, header.data_begin, file.size(), name));
    header.tensors.push_back(std::move(entry));
  }
  std::ranges::sort(header.tensors, [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  DAYBREAK_CHECK_OK(refuse_overlaps(header.tensors, name));
  return header;
}

Status find_hole(const SafetensorsHeader& header, std::uint64_t file_bytes, std::string_view name) {
  std::uint64_t at = header.data_begin;
  const auto hole = [&](std::uint64_t end, std::string_view before) {
    return corrupt(name, "bytes [" + std::to_string(at) + ", " + std::to_string(end) +
                             ") of the file belong to no tensor (" + std::string(before) + ")");
  };
  for (const TensorEntry& entry : header.tensors) {
    if (entry.begin == entry.end) {
      continue;
    }
    if (entry.begin != at) {
      return hole(entry.begin, "before '" + printable(entry.name) + "'");
    }
    at = entry.end;
  }
  return at == file_bytes ? ok() : hole(file_bytes, "at its end");
}

}  // namespace daybreak::model
