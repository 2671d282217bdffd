// SPDX-License-Identifier: Apache-2.0
// The parts of Checkpoint that read every byte.

#include <algorithm>

#include "model/checkpoint.h"
#include "model/checkpoint_impl.h"

namespace daybreak::model {
namespace {

constexpr std::size_t kStep = std::size_t{8} << 20;        // bytes between two progress reports
constexpr std::size_t kReadAhead = std::size_t{64} << 20;  // bytes asked for in advance
constexpr std::size_t kPage = 4096;
constexpr std::string_view kScaleSuffix = ".weight_scale";
constexpr std::byte kNanScale{255};

std::string path_of(const Checkpoint::Impl& impl, const Shard& shard) {
  return (impl.dir / shard.name).string();
}

// Returns a value that depends on every page, so that the reads are not removed.
unsigned touch(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += kPage) {
    sum += std::to_integer<unsigned>(bytes[i]);
  }
  return sum;
}

// Counts the bytes of a whole checkpoint and reports them.
class Meter {
 public:
  Meter(const Checkpoint::Impl& impl, const ReadCallback& callback) : callback_(callback) {
    state_.shards = impl.shards.size();
    for (const Shard& shard : impl.shards) {
      state_.total_bytes += shard.file.bytes().size();
    }
  }
  void enter(std::size_t shard, std::string_view file) {
    state_.shard = shard;
    state_.file = file;
  }
  [[nodiscard]] Status advance(std::uint64_t bytes) {
    state_.done_bytes += bytes;
    if (callback_ && !callback_(state_)) {
      return Error{Errc::kCancelled, std::string(state_.file) + ": stopped after " +
                                         std::to_string(state_.done_bytes) + " of " +
                                         std::to_string(state_.total_bytes) + " bytes"};
    }
    return ok();
  }

 private:
  const ReadCallback& callback_;
  ReadProgress state_;
};

Status read_shard(const Shard& shard, Meter& meter) {
  const auto bytes = shard.file.bytes();
  shard.file.advise(MappedFile::Access::kSequential);
  Status status = meter.advance(0);
  volatile unsigned sink = 0;
  for (std::size_t at = 0; at < bytes.size() && status; at += kStep) {
    const std::size_t length = std::min(kStep, bytes.size() - at);
    if (at % kReadAhead == 0) {
      shard.file.will_need(at, kReadAhead);
    }
    sink = sink + touch(bytes.subspan(at, length));
    status = meter.advance(length);
  }
  // Generation reads experts in no order a kernel could guess from here on.
  shard.file.advise(MappedFile::Access::kNormal);
  return status;
}

Status check_scales(const Checkpoint::Impl& impl, const Shard& shard) {
  for (const TensorEntry& entry : shard.header.tensors) {
    if (entry.dtype != DType::kU8 || entry.shape.size() != 2 ||
        !entry.name.ends_with(kScaleSuffix)) {
      continue;
    }
    const auto bytes = shard.file.bytes().subspan(entry.begin, entry.end - entry.begin);
    const auto bad = std::ranges::find(bytes, kNanScale);
    if (bad != bytes.end()) {
      const auto at = static_cast<std::uint64_t>(bad - bytes.begin());
      return Error{Errc::kCorrupt, path_of(impl, shard) + ": tensor '" + entry.name +
                                       "': the scale of row " +
                                       std::to_string(at / entry.shape[1]) + ", group " +
                                       std::to_string(at % entry.shape[1]) + " is 255 (NaN)"};
    }
  }
  return ok();
}

Status check_total_size(const Checkpoint::Impl& impl, std::uint64_t data_bytes) {
  if (impl.index_total_size && *impl.index_total_size != data_bytes) {
    return Error{Errc::kCorrupt, impl.dir.string() +
                                     ": model.safetensors.index.json says total_size " +
                                     std::to_string(*impl.index_total_size) +
                                     ", the tensors take " + std::to_string(data_bytes)};
  }
  return ok();
}

}  // namespace

Status Checkpoint::read_through(const ReadCallback& progress) const {
  Meter meter(*impl_, progress);
  for (std::size_t i = 0; i < impl_->shards.size(); ++i) {
    meter.enter(i, impl_->shards[i].name);
    DAYBREAK_CHECK_OK(read_shard(impl_->shards[i], meter));
  }
  return ok();
}

Status Checkpoint::verify(const ReadCallback& progress) const {
  DAYBREAK_CHECK_OK(check_total_size(*impl_, data_bytes()));
  Meter meter(*impl_, progress);
  for (std::size_t i = 0; i < impl_->shards.size(); ++i) {
    const Shard& shard = impl_->shards[i];
    meter.enter(i, shard.name);
    DAYBREAK_CHECK_OK(find_hole(shard.header, shard.file.bytes().size(), path_of(*impl_, shard)));
    DAYBREAK_CHECK_OK(read_shard(shard, meter));
    DAYBREAK_CHECK_OK(check_scales(*impl_, shard));
  }
  return ok();
}

}  // namespace daybreak::model
