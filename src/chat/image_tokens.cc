// SPDX-License-Identifier: Apache-2.0
#include "chat/image_tokens.h"

#include <algorithm>
#include <cmath>

namespace daybreak::chat {
namespace {

constexpr std::size_t kPatch = 14;
constexpr std::size_t kCell = 28;  // 2x2 patches become one token
constexpr double kMaxPatches = 65536;
constexpr std::size_t kMaxSide = 512 * kPatch;

// Length of one side in cells after scaling down by `scale`.
std::size_t cells(std::size_t side, double scale) {
  const auto scaled = static_cast<std::size_t>(std::floor(static_cast<double>(side) * scale));
  return (std::clamp<std::size_t>(scaled, 1, kMaxSide) + kCell - 1) / kCell;
}

}  // namespace

std::size_t image_pad_tokens(ImageSize size) {
  const std::size_t width = size.width;
  const std::size_t height = size.height;
  const double patches = static_cast<double>(std::max<std::size_t>(1, width / kPatch) *
                                             std::max<std::size_t>(1, height / kPatch));
  const double scale = std::min({1.0, std::sqrt(kMaxPatches / patches),
                                 static_cast<double>(kMaxSide) / static_cast<double>(width),
                                 static_cast<double>(kMaxSide) / static_cast<double>(height)});
  return cells(width, scale) * cells(height, scale);
}

}  // namespace daybreak::chat
