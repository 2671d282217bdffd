// SPDX-License-Identifier: Apache-2.0
#include "model/checkpoint.h"

#include <algorithm>
#include <utility>

#include "base/mapped_file.h"
#include "model/checkpoint_impl.h"
#include "model/checkpoint_index.h"
#include "model/safetensors.h"

namespace daybreak::model {
namespace {

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";

std::string join(const std::filesystem::path& dir, std::string_view file) {
  return (dir / file).string();
}

Result<Shard> open_shard(const std::filesystem::path& dir, std::string_view name) {
  Shard shard;
  shard.name = name;
  DAYBREAK_TRY(shard.file, MappedFile::open(dir / name));
  DAYBREAK_TRY(shard.header, parse_safetensors_header(shard.file.bytes(), join(dir, name)));
  return shard;
}

// Fills `by_name` from the shards' headers.
Status list_tensors(Checkpoint::Impl& impl) {
  for (std::size_t s = 0; s < impl.shards.size(); ++s) {
    for (const TensorEntry& entry : impl.shards[s].header.tensors) {
      impl.by_name.push_back({&entry, s});
    }
  }
  const auto name_of = [](const Located& at) -> std::string_view { return at.entry->name; };
  std::ranges::sort(impl.by_name, {}, name_of);
  const auto twice = std::ranges::adjacent_find(impl.by_name, {}, name_of);
  if (twice != impl.by_name.end()) {
    return Error{Errc::kCorrupt, impl.dir.string() + ": tensor '" + twice->entry->name +
                                     "' is in both " + impl.shards[twice->shard].name + " and " +
                                     impl.shards[std::next(twice)->shard].name};
  }
  return ok();
}

// The index and the shards must name the same tensors in the same places: what only one of them
// knows is either lost or left over, and either way not the checkpoint that was published.
Status compare_with_index(const Checkpoint::Impl& impl, const CheckpointIndex& index) {
  const std::string where = join(impl.dir, kIndexFile);
  std::size_t i = 0;
  for (const Located& at : impl.by_name) {
    const std::string& name = at.entry->name;
    if (i < index.tensors.size() && index.tensors[i].tensor < name) {
      break;  // an entry of the index that no shard has
    }
    if (i == index.tensors.size() || index.tensors[i].tensor != name) {
      return Error{Errc::kCorrupt, where + ": " + impl.shards[at.shard].name + " holds tensor '" +
                                       name + "', which weight_map does not name"};
    }
    if (index.tensors[i].shard != at.shard) {
      return Error{Errc::kCorrupt, where + ": weight_map puts tensor '" + name + "' into " +
                                       index.shards[index.tensors[i].shard] + ", it is in " +
                                       impl.shards[at.shard].name};
    }
    ++i;
  }
  if (i < index.tensors.size()) {
    return Error{Errc::kCorrupt, where + ": weight_map names tensor '" + index.tensors[i].tensor +
                                     "', which is not in " + index.shards[index.tensors[i].shard]};
  }
  return ok();
}

Status open_sharded(Checkpoint::Impl& impl, const std::string& index_text) {
  DAYBREAK_TRY(const CheckpointIndex index,
               parse_checkpoint_index(index_text, join(impl.dir, kIndexFile)));
  for (const std::string& name : index.shards) {
    auto shard = open_shard(impl.dir, name);
    if (!shard && shard.error().code == Errc::kNotFound) {
      return Error{Errc::kNotFound,
                   join(impl.dir, name) + ": missing shard, named by " + std::string(kIndexFile)};
    }
    DAYBREAK_TRY(Shard opened, std::move(shard));
    impl.shards.push_back(std::move(opened));
  }
  impl.index_total_size = index.total_size;
  DAYBREAK_CHECK_OK(list_tensors(impl));
  return compare_with_index(impl, index);
}

const Located* find(const Checkpoint::Impl& impl, std::string_view name) {
  const auto at = std::ranges::lower_bound(
      impl.by_name, name, {}, [](const Located& l) -> std::string_view { return l.entry->name; });
  return at == impl.by_name.end() || at->entry->name != name ? nullptr : &*at;
}

std::string describe_any(std::span<const DType> dtypes, std::span<const std::uint64_t> shape) {
  std::string text;
  for (std::size_t i = 0; i + 1 < dtypes.size(); ++i) {
    text += std::string(to_string(dtypes[i])) + " or ";
  }
  return dtypes.empty() ? text : text + describe(dtypes.back(), shape);
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::filesystem::path& dir) {
  auto impl = std::make_unique<Impl>();
  impl->dir = dir;
  auto single = open_shard(dir, kSingleFile);
  if (single) {
    impl->shards.push_back(*std::move(single));
    DAYBREAK_CHECK_OK(list_tensors(*impl));
    return Checkpoint(std::move(impl));
  }
  if (single.error().code != Errc::kNotFound) {
    return std::move(single).error();
  }
  const auto index = read_small_file(dir / kIndexFile, kMaxIndexBytes);
  if (!index && index.error().code == Errc::kNotFound) {
    return Error{Errc::kNotFound, dir.string() + ": holds neither " + std::string(kSingleFile) +
                                      " nor " + std::string(kIndexFile)};
  }
  DAYBREAK_CHECK_OK(index);
  DAYBREAK_CHECK_OK(open_sharded(*impl, *index));
  return Checkpoint(std::move(impl));
}

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

bool Checkpoint::contains(std::string_view name) const { return find(*impl_, name) != nullptr; }

Result<TensorView> Checkpoint::tensor(std::string_view name) const {
  const Located* at = find(*impl_, name);
  if (at == nullptr) {
    return Error{Errc::kNotFound,
                 impl_->dir.string() + ": tensor '" + std::string(name) + "' is missing"};
  }
  const TensorEntry& entry = *at->entry;
  return TensorView{
      .dtype = entry.dtype,
      .shape = entry.shape,
      .bytes = impl_->shards[at->shard].file.bytes().subspan(entry.begin, entry.end - entry.begin)};
}

Result<TensorView> Checkpoint::tensor(std::string_view name, std::span<const DType> dtypes,
                                      std::span<const std::uint64_t> shape) const {
  DAYBREAK_TRY(TensorView view, tensor(name));
  if (std::ranges::find(dtypes, view.dtype) == dtypes.end() ||
      !std::ranges::equal(view.shape, shape)) {
    return Error{Errc::kCorrupt, join(impl_->dir, file_of(name)) + ": tensor '" +
                                     std::string(name) + "': config.json asks for " +
                                     describe_any(dtypes, shape) + ", the file has " +
                                     describe(view.dtype, view.shape)};
  }
  return view;
}

std::string_view Checkpoint::file_of(std::string_view name) const {
  const Located* at = find(*impl_, name);
  return at == nullptr ? std::string_view() : std::string_view(impl_->shards[at->shard].name);
}

std::vector<std::string_view> Checkpoint::names() const {
  std::vector<std::string_view> names;
  names.reserve(impl_->by_name.size());
  for (const Located& at : impl_->by_name) {
    names.push_back(at.entry->name);
  }
  return names;
}

std::size_t Checkpoint::tensor_count() const { return impl_->by_name.size(); }
std::size_t Checkpoint::shard_count() const { return impl_->shards.size(); }

std::string_view Checkpoint::shard_name(std::size_t shard) const {
  return impl_->shards[shard].name;
}

std::uint64_t Checkpoint::shard_bytes(std::size_t shard) const {
  return impl_->shards[shard].file.bytes().size();
}

std::uint64_t Checkpoint::data_bytes() const {
  std::uint64_t total = 0;
  for (const Located& at : impl_->by_name) {
    total += at.entry->end - at.entry->begin;
  }
  return total;
}

std::uint64_t Checkpoint::file_bytes() const {
  std::uint64_t total = 0;
  for (const Shard& shard : impl_->shards) {
    total += shard.file.bytes().size();
  }
  return total;
}

const std::filesystem::path& Checkpoint::directory() const { return impl_->dir; }

}  // namespace daybreak::model
