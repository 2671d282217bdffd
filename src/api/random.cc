// SPDX-License-Identifier: Apache-2.0
#include "api/random.h"

#include <random>

namespace daybreak::api {

std::uint64_t random_bits() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace daybreak::api
