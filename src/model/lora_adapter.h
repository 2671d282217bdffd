// SPDX-License-Identifier: Apache-2.0
#pragma once

// LoraAdapter: what one LoRA adapter adds to the linear modules of a model. A module with weights W
// and a pair (A, B) computes y = W x + scale * B (A x) for the sequences of that adapter; the
// weights themselves stay as they are, so that all adapters and none run side by side.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/weight_format.h"

namespace daybreak::model {

using kernels::MatrixView;

// The linear modules of a layer that an adapter may change. The last three are those of the dense
// MLP or of the shared experts, whichever the layer has.
enum class LoraModule : std::uint8_t {
  kQ,
  kK,
  kV,
  kO,
  kG,
  kGA,
  kGB,
  kFA,
  kFB,
  kBeta,
  kQA,
  kQB,
  kKvA,
  kKvB,
  kGate,
  kUp,
  kDown,
};
inline constexpr std::size_t kLoraModuleCount = 17;

// Returns the last part of the module's name in a checkpoint, such as "q_proj".
[[nodiscard]] std::string_view to_string(LoraModule module);
// Returns the module of that name.
[[nodiscard]] std::optional<LoraModule> parse_lora_module(std::string_view name);

struct LoraPair {
  MatrixView a;     // [rank, in]
  MatrixView b;     // [out, rank]
  float scale = 0;  // of the product
};

// kv_b_proj carries queries into the latent space as well, in absorbed form: the transposed halves
// of its pair, in f32.
struct LoraKeyUp {
  MatrixView b_transposed;  // [heads * rank, nope]: of each head its rows of B that make keys
  MatrixView a_transposed;  // [kv_lora_rank, rank]
};

// Const once loaded (lora_loader.h); shared by all who compute with it.
class LoraAdapter {
 public:
  struct Layer {
    std::array<std::optional<LoraPair>, kLoraModuleCount> pairs;
    std::optional<LoraKeyUp> key_up;  // set with kKvB
  };
  struct Parts {
    std::string name;
    std::string digest;
    std::uint64_t weights_fingerprint = 0;
    std::vector<Layer> layers;                     // all of the model's
    std::vector<AlignedBuffer<std::byte>> memory;  // what the views point into
  };
  explicit LoraAdapter(Parts parts) : parts_(std::move(parts)) {}

  // What it is called here; no part of what it computes.
  [[nodiscard]] const std::string& name() const { return parts_.name; }
  // SHA-256 in hex of its configuration and its tensors: adapters that differ in a bit differ here.
  [[nodiscard]] const std::string& digest() const { return parts_.digest; }
  // Model::weights_fingerprint() of the model it is for.
  [[nodiscard]] std::uint64_t weights_fingerprint() const { return parts_.weights_fingerprint; }

  // Returns the pair of a module, or null. Valid as long as the adapter.
  [[nodiscard]] const LoraPair* pair(std::size_t layer, LoraModule module) const {
    const auto& found = parts_.layers[layer].pairs[static_cast<std::size_t>(module)];
    return found ? &*found : nullptr;
  }
  [[nodiscard]] const LoraKeyUp* key_up(std::size_t layer) const {
    const auto& found = parts_.layers[layer].key_up;
    return found ? &*found : nullptr;
  }
  [[nodiscard]] std::size_t bytes() const;  // that its matrices take
  [[nodiscard]] std::size_t modules() const;

 private:
  Parts parts_;
};

using LoraAdapterPtr = std::shared_ptr<const LoraAdapter>;

}  // namespace daybreak::model
