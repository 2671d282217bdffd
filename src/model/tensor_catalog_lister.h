// SPDX-License-Identifier: Apache-2.0
#pragma once

// Short ways to state the common kinds of tensors. Internal to the catalog.

#include <functional>
#include <string>
#include <utility>

#include "model/tensor_catalog.h"

namespace daybreak::model {

class TensorLister {
 public:
  // REQUIRES: both outlive this.
  TensorLister(const TensorNaming& naming, const std::function<void(const TensorSpec&)>& visit)
      : naming_(naming), visit_(visit) {}

  void enter_layer(std::size_t layer) { layer_ = layer; }
  void leave_layers() { layer_.reset(); }

  void add(TensorSpec spec) const {
    spec.layer = layer_;
    visit_(spec);
  }
  void matrix(std::string name, TensorRole role, std::uint64_t rows, std::uint64_t cols) const {
    add({.name = std::move(name), .role = role, .shape = {rows, cols}});
  }
  void vector(std::string name, TensorRole role, std::uint64_t size,
              DType dtype = DType::kBf16) const {
    add({.name = std::move(name),
         .role = role,
         .shape = {size},
         .dtype = dtype,
         .rule = ShapeRule::kVector});
  }
  // `stem` without ".weight"; two tensors if it is packed, else one.
  void expert_matrix(const std::string& stem, std::uint64_t rows, std::uint64_t cols) const {
    constexpr TensorRole kRole = TensorRole::kRoutedExperts;
    if (!naming_.is_packed(stem)) {
      return matrix(stem + ".weight", kRole, rows, cols);
    }
    add({.name = stem + ".weight_packed",
         .role = kRole,
         .shape = {rows, cols / 2},
         .dtype = DType::kU8,
         .weights_per_element = 2});
    add({.name = stem + ".weight_scale",
         .role = kRole,
         .shape = {rows, cols / 32},
         .dtype = DType::kU8,
         .weights_per_element = 0});
  }

 private:
  const TensorNaming& naming_;
  const std::function<void(const TensorSpec&)>& visit_;
  std::optional<std::size_t> layer_;
};

}  // namespace daybreak::model
