// SPDX-License-Identifier: Apache-2.0
#include "model/lora_loader.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_document.h"
#include "base/mapped_file.h"
#include "base/out_of_memory.h"
#include "kernels/matmul.h"
#include "model/lora_config.h"
#include "model/safetensors.h"
#include "model/tensor_catalog.h"

namespace daybreak::model {
namespace {

using kernels::WeightFormat;

constexpr std::string_view kRoot = "base_model.model.";
constexpr std::string_view kOptional = "language_model.";

// The two tensors of one module in the file, and where the model has the module.
struct Module {
  const TensorEntry* a = nullptr;
  const TensorEntry* b = nullptr;
  std::string path;  // as the file has it, without kRoot
  std::optional<TensorRole> role;
  std::size_t layer = 0;
  std::optional<LoraModule> module;
  std::uint64_t out = 0;
  std::uint64_t in = 0;
};
// By the path without kOptional.
using Modules = std::map<std::string, Module, std::less<>>;

std::string_view without(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// Cuts `suffix` off. Returns whether it was there.
bool cut_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) {
    return false;
  }
  text.remove_suffix(suffix.size());
  return true;
}

// As the subject of "no adapter here".
std::string_view describe_role(TensorRole role) {
  switch (role) {
    case TensorRole::kRoutedExperts:
    case TensorRole::kLatent:
      return "the routed experts take";
    case TensorRole::kEmbedding:
      return "the embedding takes";
    case TensorRole::kHead:
      return "the head takes";
    case TensorRole::kRouter:
      return "the router takes";
    default:
      return "this module takes";
  }
}

// Everything an error is about begins with the file.
class AdapterFile {
 public:
  AdapterFile(std::string path, std::span<const std::byte> bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  [[nodiscard]] Error error(Errc code, const std::string& what) const {
    return {code, path_ + ": " + what};
  }
  [[nodiscard]] Error tensor_error(const TensorEntry& entry, Errc code,
                                   const std::string& what) const {
    return error(code, "tensor '" + printable(entry.name, 200) + "': " + what);
  }

  // Sorts the tensors by module.
  [[nodiscard]] Result<Modules> modules(const SafetensorsHeader& header) const {
    Modules modules;
    for (const TensorEntry& entry : header.tensors) {
      std::string_view path = entry.name;
      if (!path.starts_with(kRoot)) {
        return tensor_error(entry, Errc::kInvalidArgument,
                            "expected a name that begins with '" + std::string(kRoot) + "'");
      }
      path.remove_prefix(kRoot.size());
      if (path.find("lora_embedding_") != std::string_view::npos) {
        return tensor_error(entry, Errc::kUnsupported, "the embedding takes no adapter here");
      }
      if (path.find("lora_magnitude_vector") != std::string_view::npos) {
        return tensor_error(entry, Errc::kUnsupported, "DoRA is not computed here");
      }
      const bool is_a = cut_suffix(path, ".lora_A.weight");
      if (!is_a && !cut_suffix(path, ".lora_B.weight")) {
        return tensor_error(entry, Errc::kInvalidArgument,
                            "expected a name that ends in '.lora_A.weight' or '.lora_B.weight'");
      }
      Module& module = modules[std::string(without(path, kOptional))];
      const TensorEntry*& half = is_a ? module.a : module.b;
      if (half != nullptr || (!module.path.empty() && module.path != path)) {
        return tensor_error(
            entry, Errc::kInvalidArgument,
            "its module is there twice, with and without '" + std::string(kOptional) + "'");
      }
      half = &entry;
      module.path = path;
    }
    if (modules.empty()) {
      return error(Errc::kInvalidArgument, "expected tensors of a LoRA adapter, found none");
    }
    return modules;
  }

  // Checks one module against what the model has there and the configuration says.
  [[nodiscard]] Status check(const Module& module, const LoraConfig& config) const {
    const TensorEntry& any = module.a != nullptr ? *module.a : *module.b;
    if (!module.role) {
      return tensor_error(any, Errc::kInvalidArgument,
                          "this model has no module '" + printable(module.path, 200) + "'");
    }
    if (!module.module) {
      return tensor_error(any, Errc::kUnsupported,
                          std::string(describe_role(*module.role)) +
                              " no adapter here, expected a projection of attention, of a "
                              "dense MLP or of shared experts");
    }
    if (module.a == nullptr || module.b == nullptr) {
      return tensor_error(any, Errc::kInvalidArgument,
                          std::string("its other half, lora_") + (module.a == nullptr ? "A" : "B") +
                              ", is missing");
    }
    if (!config.targets_module(module.path)) {
      return tensor_error(any, Errc::kInvalidArgument,
                          "target_modules of adapter_config.json does not name its module");
    }
    const std::uint64_t rank = config.rank_of(module.path);
    DAYBREAK_CHECK_OK(check_matrix(*module.a, rank, module.in));
    return check_matrix(*module.b, module.out, rank);
  }

  [[nodiscard]] std::span<const std::byte> bytes_of(const TensorEntry& entry) const {
    return bytes_.subspan(entry.begin, entry.end - entry.begin);
  }

 private:
  [[nodiscard]] Status check_matrix(const TensorEntry& entry, std::uint64_t rows,
                                    std::uint64_t cols) const {
    const std::vector<std::uint64_t> shape = {rows, cols};
    const bool known =
        entry.dtype == DType::kBf16 || entry.dtype == DType::kF16 || entry.dtype == DType::kF32;
    if (known && entry.shape == shape) {
      return ok();
    }
    return tensor_error(entry, Errc::kInvalidArgument,
                        "expected " + describe(DType::kBf16, shape) + ", or F16 or F32, found " +
                            describe(entry.dtype, entry.shape));
  }

  std::string path_;
  std::span<const std::byte> bytes_;
};

// Looks every module of the file up in the model.
void find_modules(const ModelConfig& config, Modules& modules) {
  for_each_tensor(config, TensorNaming(config, nullptr), [&](const TensorSpec& spec) {
    std::string_view path = without(spec.name, kOptional);
    if (!cut_suffix(path, ".weight") && !cut_suffix(path, ".weight_packed")) {
      return;
    }
    const auto found = modules.find(path);
    if (found == modules.end()) {
      return;
    }
    Module& module = found->second;
    module.role = spec.role;
    const bool open = spec.role == TensorRole::kKda || spec.role == TensorRole::kMla ||
                      spec.role == TensorRole::kDenseMlp || spec.role == TensorRole::kSharedExperts;
    if (open && spec.layer && spec.rule == ShapeRule::kExact) {
      module.layer = *spec.layer;
      module.module = parse_lora_module(path.substr(path.rfind('.') + 1));
      module.out = spec.shape[0];
      module.in = spec.shape[1];
    }
  });
}

class Digest {
 public:
  Digest() : context_(::EVP_MD_CTX_new()) {
    if (context_ == nullptr || ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) != 1) {
      throw std::bad_alloc();
    }
  }
  void add(std::span<const std::byte> bytes) {
    const std::uint64_t size = bytes.size();
    ::EVP_DigestUpdate(context_.get(), &size, sizeof size);
    ::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  [[nodiscard]] std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
    unsigned int size = 0;
    ::EVP_DigestFinal_ex(context_.get(), raw.data(), &size);
    std::string out;
    for (const unsigned char byte : std::span(raw).first(size)) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
    return out;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

WeightFormat adapter_format(DType dtype) {
  return dtype == DType::kF32 ? WeightFormat::kF32
                              : (dtype == DType::kF16 ? WeightFormat::kF16 : WeightFormat::kBf16);
}

// Copies tensors into memory of the adapter.
class Copier {
 public:
  Copier(const AdapterFile& file, LoraAdapter::Parts& parts, Digest& digest)
      : file_(file), parts_(parts), digest_(digest) {}

  Result<MatrixView> matrix(const TensorEntry& entry) {
    const std::span<const std::byte> bytes = file_.bytes_of(entry);
    const MatrixView view{.format = adapter_format(entry.dtype),
                          .data = store(bytes.size()),
                          .scales = nullptr,
                          .rows = static_cast<std::size_t>(entry.shape[0]),
                          .cols = static_cast<std::size_t>(entry.shape[1])};
    std::ranges::copy(bytes, parts_.memory.back().data());
    // Of the copy: the file may change under the mapping.
    digest_.add(entry.name);
    digest_.add(describe(entry.dtype, entry.shape));
    digest_.add(parts_.memory.back().span());
    const std::vector<float> values = to_f32(view);
    const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
    if (bad != values.end()) {
      return file_.tensor_error(entry, Errc::kInvalidArgument,
                                "value " + std::to_string(bad - values.begin()) + " is not finite");
    }
    return view;
  }

  // See LoraKeyUp.
  LoraKeyUp key_up(const LoraPair& pair, const MlaConfig& config) {
    const std::size_t rank = pair.a.rows;
    const std::size_t nope = config.qk_nope_head_dim;
    const std::vector<float> a = to_f32(pair.a);
    const std::vector<float> b = to_f32(pair.b);
    LoraKeyUp up{.b_transposed = f32(config.heads * rank, nope),
                 .a_transposed = f32(pair.a.cols, rank)};
    for (std::size_t head = 0; head < config.heads; ++head) {
      const std::size_t first = head * (nope + config.v_head_dim);
      for (std::size_t i = 0; i < rank; ++i) {
        for (std::size_t k = 0; k < nope; ++k) {
          set(up.b_transposed, head * rank + i, k, b[(first + k) * rank + i]);
        }
      }
    }
    for (std::size_t i = 0; i < rank; ++i) {
      for (std::size_t j = 0; j < pair.a.cols; ++j) {
        set(up.a_transposed, j, i, a[i * pair.a.cols + j]);
      }
    }
    return up;
  }

 private:
  std::byte* store(std::size_t bytes) {
    return parts_.memory.emplace_back(AlignedBuffer<std::byte>(bytes)).data();
  }
  MatrixView f32(std::size_t rows, std::size_t cols) {
    return {.format = WeightFormat::kF32,
            .data = store(rows * cols * sizeof(float)),
            .scales = nullptr,
            .rows = rows,
            .cols = cols};
  }
  // In memory of store(), which is this object's to write.
  static void set(const MatrixView& w, std::size_t row, std::size_t col, float value) {
    std::memcpy(const_cast<std::byte*>(w.data) + (row * w.cols + col) * sizeof value, &value,
                sizeof value);
  }
  static std::vector<float> to_f32(const MatrixView& w) {
    std::vector<float> out(w.rows * w.cols);
    for (std::size_t row = 0; row < w.rows; ++row) {
      kernels::dequantise_row(w, row, out.data() + row * w.cols);
    }
    return out;
  }

  const AdapterFile& file_;
  LoraAdapter::Parts& parts_;
  Digest& digest_;
};

Result<LoraAdapterPtr> read_adapter(const Model& model, const std::filesystem::path& dir,
                                    std::string name) {
  const std::filesystem::path config_path = dir / "adapter_config.json";
  const std::filesystem::path tensors_path = dir / "adapter_model.safetensors";
  DAYBREAK_TRY(const std::string text, read_small_file(config_path, kMaxLoraConfigBytes));
  DAYBREAK_TRY(const LoraConfig config, parse_lora_config(text, config_path.string()));
  DAYBREAK_TRY(const MappedFile mapped, MappedFile::open(tensors_path));
  DAYBREAK_TRY(const SafetensorsHeader header,
               parse_safetensors_header(mapped.bytes(), tensors_path.string()));
  const AdapterFile file(tensors_path.string(), mapped.bytes());
  DAYBREAK_TRY(Modules modules, file.modules(header));
  find_modules(model.config(), modules);
  for (const auto& [path, module] : modules) {
    DAYBREAK_CHECK_OK(file.check(module, config));
  }
  LoraAdapter::Parts parts{.name = std::move(name),
                           .digest = {},
                           .weights_fingerprint = model.weights_fingerprint(),
                           .layers = std::vector<LoraAdapter::Layer>(model.config().layers),
                           .memory = {}};
  Digest digest;
  digest.add(text);
  Copier copier(file, parts, digest);
  for (const auto& [path, module] : modules) {
    LoraPair pair{.a = {}, .b = {}, .scale = config.scale_of(module.path)};
    DAYBREAK_TRY(pair.a, copier.matrix(*module.a));
    DAYBREAK_TRY(pair.b, copier.matrix(*module.b));
    LoraAdapter::Layer& layer = parts.layers[module.layer];
    if (module.module == LoraModule::kKvB) {
      layer.key_up = copier.key_up(pair, model.config().mla);
    }
    layer.pairs[static_cast<std::size_t>(*module.module)] = pair;
  }
  parts.digest = digest.hex();
  return std::make_shared<const LoraAdapter>(std::move(parts));
}

}  // namespace

Result<LoraAdapterPtr> load_lora(const Model& model, const std::filesystem::path& dir,
                                 std::string name) {
  return or_out_of_memory(Errc::kResourceLimit, "adapter '" + name + "'",
                          [&] { return read_adapter(model, dir, name); });
}

}  // namespace daybreak::model
