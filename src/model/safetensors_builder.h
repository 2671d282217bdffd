// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds safetensors bytes and checkpoint directories for tests. Test code only; it writes exactly
// what it is told, so that broken files can be made as well.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/dtype.h"
#include "testing/temporary_directory.h"

namespace daybreak::model {

// Returns length + header + data.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> shift & 0xff);
  }
  return bytes.append(header).append(data);
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Collects tensors one after the other.
class SafetensorsBuilder {
 public:
  SafetensorsBuilder& add(const std::string& name, DType dtype,
                          const std::vector<std::uint64_t>& shape, char fill = '\1') {
    const std::uint64_t bytes = byte_count(dtype, shape).value_or(0);
    header_ += header_.empty() ? "{" : ",";
    header_ += "\"" + name + "\":{\"dtype\":\"" + std::string(to_string(dtype)) + "\",\"shape\":[";
    for (std::size_t i = 0; i < shape.size(); ++i) {
      header_ += (i == 0 ? "" : ",") + std::to_string(shape[i]);
    }
    header_ += "],\"data_offsets\":[" + std::to_string(data_.size()) + "," +
               std::to_string(data_.size() + bytes) + "]}";
    data_.append(bytes, fill);
    return *this;
  }
  // Changes the last byte added.
  SafetensorsBuilder& set_last_byte(char value) {
    data_.back() = value;
    return *this;
  }
  [[nodiscard]] std::string bytes() const {
    std::string header = header_.empty() ? "{}" : header_ + "}";
    header.append((8 - header.size() % 8) % 8, ' ');
    return safetensors_bytes(header, data_);
  }

 private:
  std::string header_;
  std::string data_;
};

using testing::TemporaryDirectory;

}  // namespace daybreak::model
