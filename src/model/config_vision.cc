// SPDX-License-Identifier: Apache-2.0
#include "model/config_vision.h"

#include <string>

namespace daybreak::model {

VisionConfig read_vision(const ConfigKeys& keys, std::size_t hidden_size) {
  constexpr ConfigKeys::Range kWidths{1, kMaxWidth};
  constexpr ConfigKeys::Range kSides{1, 4096};
  VisionConfig vision;
  vision.layers = keys.size("vt_num_hidden_layers", {1, kMaxLayers});
  vision.hidden_size = keys.size("vt_hidden_size", kWidths);
  vision.intermediate_size = keys.size("vt_intermediate_size", kWidths);
  vision.heads = keys.size("vt_num_attention_heads", {1, kMaxHeads});
  // Older towers have no key for it: attention is as wide as the tower.
  vision.qkv_hidden_size = keys.size_or("qkv_hidden_size", vision.hidden_size, kWidths);
  vision.patch_size = keys.size("patch_size", kSides);
  vision.pos_emb_height = keys.size("init_pos_emb_height", kSides);
  vision.pos_emb_width = keys.size("init_pos_emb_width", kSides);
  vision.mm_hidden_size = keys.size_or("mm_hidden_size", vision.hidden_size, kWidths);
  vision.projector_norm_eps = keys.number_or("projector_ln_eps", 1e-5f, 1e-12, 1.0);
  keys.need("merge_kernel_size");
  if (const auto merge = keys.sizes_if_set("merge_kernel_size", {1, 16}, 2)) {
    if (merge->size() == 2) {
      vision.merge_height = (*merge)[0];
      vision.merge_width = (*merge)[1];
    } else {
      keys.refuse(Errc::kInvalidArgument, "merge_kernel_size",
                  "expected [rows, columns], found " + std::to_string(merge->size()) + " items");
    }
  }
  if (vision.qkv_hidden_size % vision.heads != 0 && keys.clean()) {
    keys.refuse(Errc::kInvalidArgument, "qkv_hidden_size",
                "expected a multiple of vt_num_attention_heads = " + std::to_string(vision.heads) +
                    ", found " + std::to_string(vision.qkv_hidden_size));
  }
  const std::size_t text = keys.size_or("text_hidden_size", hidden_size, kWidths);
  if (text != hidden_size && keys.clean()) {
    keys.refuse(Errc::kInvalidArgument, "text_hidden_size",
                "expected the text model's hidden_size = " + std::to_string(hidden_size) +
                    ", found " + std::to_string(text));
  }
  return vision;
}

}  // namespace daybreak::model
