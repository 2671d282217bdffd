// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tensors a config asks for: name, shape, element type and what each is for. Written once here,
// so that counting a bare config, checking a checkpoint and printing the layer map agree.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint.h"
#include "model/config.h"
#include "model/dtype.h"

namespace daybreak::model {

enum class TensorRole : std::uint8_t {
  kEmbedding,
  kHead,
  kNorm,
  kAttentionResidual,
  kKda,
  kMla,
  kDenseMlp,
  kRouter,
  kLatent,  // the projections and the norm around the routed experts
  kSharedExperts,
  kRoutedExperts,
  kVisionTower,
  kProjector,
};
inline constexpr std::size_t kTensorRoleCount = 13;

// Returns a name for tables and JSON, such as "routed_experts".
[[nodiscard]] std::string_view to_string(TensorRole role);

// Which shapes stand for the released one.
enum class ShapeRule : std::uint8_t {
  kExact,
  kVector,  // the same length with dimensions of 1 around it
  kConv,    // [channels, 1, taps] or [channels, taps]
  kPadded,  // at least this many numbers in any shape; the first count (A_log)
};

struct TensorSpec {
  std::string name;
  TensorRole role = TensorRole::kNorm;
  std::optional<std::size_t> layer = std::nullopt;  // from 0; unset outside the decoder layers
  std::vector<std::uint64_t> shape;                 // as released
  DType dtype = DType::kBf16;                       // as released
  ShapeRule rule = ShapeRule::kExact;
  // Weights one stored element stands for: 2 for packed MXFP4, 0 for its scales, else 1.
  std::uint64_t weights_per_element = 1;
  std::uint64_t min_elements = 0;  // kPadded only: how many are used
};

// Where a family member's tensors lie: decided by a checkpoint's names, or for a bare config by the
// layout of its keys and its quantization_config.
class TensorNaming {
 public:
  // REQUIRES: `checkpoint`, if any, outlives this.
  TensorNaming(const ModelConfig& config, const Checkpoint* checkpoint);

  // "language_model." or "".
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  // Returns true if the expert matrix `stem` is stored as stem.weight_packed and stem.weight_scale.
  [[nodiscard]] bool is_packed(const std::string& stem) const;

 private:
  std::string prefix_;
  const Checkpoint* checkpoint_;
  bool packed_by_config_;
};

// Calls `visit` for every tensor of `config`: embedding, layers ascending, final norm, head (unless
// tied), vision tower, projector.
void for_each_tensor(const ModelConfig& config, const TensorNaming& naming,
                     const std::function<void(const TensorSpec&)>& visit);

// What is wrong with a checkpoint, compared with its config.
struct CatalogReport {
  static constexpr std::size_t kShown = 8;
  std::size_t expected = 0;  // tensors the config asks for
  std::size_t problems = 0;  // missing, misshapen, wrongly typed or unexplained
  std::vector<Error> shown;  // the first kShown of them
  std::size_t ignored = 0;   // there, but of no use to the text model: see catalog_check
  std::vector<std::string> ignored_shown;

  // Returns ok, or one error that names the shown problems and counts the rest.
  [[nodiscard]] Status status() const;
};

// Compares a checkpoint with what its config asks for. Ignored without complaint: draft layers past
// the last one, rotary tables, a tied head stored as well, and a vision tower that config.json does
// not describe. Any other tensor that nothing explains is a problem: a config that is wrong in a
// switch leaves tensors over, and computing without them would look right.
[[nodiscard]] CatalogReport catalog_check(const ModelConfig& config, const TensorNaming& naming,
                                          const Checkpoint& checkpoint);

// The last of those checks alone, for who has bound the tensors that are asked for.
// Errors: kCorrupt  naming the first CatalogReport::kShown tensors that nothing explains.
[[nodiscard]] Status refuse_left_over(const ModelConfig& config, const TensorNaming& naming,
                                      const Checkpoint& checkpoint);

}  // namespace daybreak::model
