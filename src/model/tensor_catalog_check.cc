// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "base/json_document.h"
#include "model/tensor_catalog.h"

namespace daybreak::model {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::kBf16 || dtype == DType::kF16 || dtype == DType::kF32 ||
         dtype == DType::kF8E4M3;
}

bool dtype_fits(const TensorSpec& spec, DType found) {
  return spec.dtype == DType::kU8 ? found == DType::kU8 : is_float(found);
}

bool shape_fits(const TensorSpec& spec, const std::vector<std::uint64_t>& found) {
  switch (spec.rule) {
    case ShapeRule::kExact:
      return found == spec.shape;
    case ShapeRule::kVector: {
      const std::uint64_t size = element_count(spec.shape).value_or(0);
      return element_count(found) == size &&
             std::ranges::all_of(found, [&](std::uint64_t d) { return d == 1 || d == size; });
    }
    case ShapeRule::kConv:
      return found == spec.shape ||
             found == std::vector<std::uint64_t>{spec.shape[0], spec.shape[2]};
    case ShapeRule::kPadded:
      return element_count(found).value_or(0) >= spec.min_elements;
  }
  return false;
}

std::string expectation(const TensorSpec& spec) {
  std::string text = describe(spec.dtype, spec.shape);
  if (spec.dtype != DType::kU8) {
    text += " (or another of BF16, F16, F32, F8_E4M3)";
  }
  if (spec.rule == ShapeRule::kPadded) {
    text += ", at least " + std::to_string(spec.min_elements) + " numbers";
  }
  return text;
}

// Returns the layer number in "model.layers.N.", or nothing.
std::optional<std::size_t> layer_of(std::string_view name, const std::string& prefix) {
  const std::string stem = prefix + "model.layers.";
  std::size_t layer = 0;
  if (!name.starts_with(stem)) {
    return std::nullopt;
  }
  name.remove_prefix(stem.size());
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), layer);
  if (code != std::errc() || end == name.data() + name.size() || *end != '.') {
    return std::nullopt;
  }
  return layer;
}

bool is_ignored(std::string_view name, const ModelConfig& config, const std::string& prefix) {
  const auto layer = layer_of(name, prefix);
  return (layer && *layer >= config.layers) || name.ends_with(".rotary_emb.inv_freq") ||
         (config.tie_word_embeddings && name == prefix + "lm_head.weight") ||
         (!config.vision &&
          (name.starts_with("vision_tower.") || name.starts_with("mm_projector.")));
}

class Check {
 public:
  Check(const ModelConfig& config, const TensorNaming& naming, const Checkpoint& checkpoint)
      : config_(config), naming_(naming), checkpoint_(checkpoint), names_(checkpoint.names()) {
    explained_.resize(names_.size(), false);
  }

  CatalogReport run() {
    refuse_ragged_groups();
    for_each_tensor(config_, naming_, [&](const TensorSpec& spec) { compare(spec); });
    refuse_unexplained();
    return std::move(report_);
  }

  CatalogReport run_left_over() {
    for_each_tensor(config_, naming_, [&](const TensorSpec& spec) { (void)explain(spec); });
    refuse_unexplained();
    return std::move(report_);
  }

 private:
  // Returns whether the checkpoint has the tensor, and remembers that it was asked for.
  bool explain(const TensorSpec& spec) {
    const auto at = std::ranges::lower_bound(names_, std::string_view(spec.name));
    if (at == names_.end() || *at != spec.name) {
      return false;
    }
    explained_[static_cast<std::size_t>(at - names_.begin())] = true;
    return true;
  }

  void refuse_unexplained() {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!explained_[i]) {
        left_over(names_[i]);
      }
    }
  }

  // MXFP4 scales stand for 32 weights of a row, so rows of another length have no packed form.
  void refuse_ragged_groups() {
    if (!config_.moe || config_.moe_layer_count() == 0) {
      return;
    }
    const std::size_t latent = config_.moe->latent_size.value_or(config_.hidden_size);
    const bool packed = std::ranges::any_of(
        names_, [](std::string_view name) { return name.ends_with(".weight_packed"); });
    for (const std::size_t width : {latent, config_.moe->intermediate_size}) {
      if (packed && width % 32 != 0) {
        problem({Errc::kCorrupt, checkpoint_.directory().string() +
                                     ": MXFP4 experts need rows of a multiple of 32 weights, "
                                     "config.json makes them " +
                                     std::to_string(width) + " wide"});
      }
    }
  }

  void compare(const TensorSpec& spec) {
    ++report_.expected;
    if (!explain(spec)) {
      return problem({Errc::kNotFound, checkpoint_.directory().string() + ": tensor '" + spec.name +
                                           "' is missing: config.json asks for " +
                                           describe(spec.dtype, spec.shape)});
    }
    const auto view = checkpoint_.tensor(spec.name);
    if (!view) {
      return problem(view.error());
    }
    if (!dtype_fits(spec, view->dtype) || !shape_fits(spec, view->shape)) {
      problem({Errc::kCorrupt, where(spec.name) + ": config.json asks for " + expectation(spec) +
                                   ", the file has " + describe(view->dtype, view->shape)});
    }
  }

  void left_over(std::string_view name) {
    if (!is_ignored(name, config_, naming_.prefix())) {
      return problem({Errc::kCorrupt, where(name) + ": nothing in config.json asks for it"});
    }
    ++report_.ignored;
    if (report_.ignored_shown.size() < CatalogReport::kShown) {
      report_.ignored_shown.emplace_back(name);
    }
  }

  void problem(Error error) {
    ++report_.problems;
    if (report_.shown.size() < CatalogReport::kShown) {
      report_.shown.push_back(std::move(error));
    }
  }

  std::string where(std::string_view name) const {
    return (checkpoint_.directory() / checkpoint_.file_of(name)).string() + ": tensor '" +
           printable(name, 200) + "'";
  }

  const ModelConfig& config_;
  const TensorNaming& naming_;
  const Checkpoint& checkpoint_;
  std::vector<std::string_view> names_;
  std::vector<bool> explained_;
  CatalogReport report_;
};

}  // namespace

Status CatalogReport::status() const {
  if (problems == 0) {
    return ok();
  }
  std::string text;
  for (const Error& error : shown) {
    text += (text.empty() ? "" : "; ") + error.message;
  }
  if (problems > shown.size()) {
    text += "; and " + std::to_string(problems - shown.size()) + " more problems";
  }
  return Error{shown.front().code, std::move(text)};
}

CatalogReport catalog_check(const ModelConfig& config, const TensorNaming& naming,
                            const Checkpoint& checkpoint) {
  return Check(config, naming, checkpoint).run();
}

Status refuse_left_over(const ModelConfig& config, const TensorNaming& naming,
                        const Checkpoint& checkpoint) {
  return Check(config, naming, checkpoint).run_left_over().status();
}

}  // namespace daybreak::model
