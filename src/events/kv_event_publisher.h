// SPDX-License-Identifier: Apache-2.0
#pragma once

// KvEventPublisher: sends what happens in a prefix cache to routers, as vLLM does: a PUB socket
// with messages [topic, number, batch], and a ROUTER socket that repeats the last ones to who asks
// with [empty, number] from that number on: [empty, topic, number, batch] each, the last with
// number 2^64 - 1 and no batch. Numbers are 8 bytes, big-endian, from 0, without gaps; a batch that
// found no place in the queue leaves one, so that a subscriber knows what it has missed.
//
// Nobody waits: the cache's thread leaves events in a queue, and a thread of its own encodes and
// sends them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cache/event_sink.h"
#include "events/kv_event.h"
#include "events/kv_events_config.h"

namespace daybreak::events {

class KvEventPublisher final : public cache::EventSink {
 public:
  // Errors: kIo naming an endpoint that cannot be used and why.
  [[nodiscard]] static Result<std::unique_ptr<KvEventPublisher>> start(
      const KvEventsConfig& config);
  // Sends what is queued first, for a second at most.
  ~KvEventPublisher() override;

  // These are of one thread, that of the cache.
  void stored(const cache::StoredPart& what) override;
  void removed(cache::Part part, const cache::BlockHash& hash, std::string_view scope) override;
  void cleared() override;
  void flush() override;  // sends a batch

  struct Stats {
    std::uint64_t batches = 0;  // sent
    std::uint64_t events = 0;   // in them
    std::uint64_t dropped = 0;  // batches that found no place in the queue
    std::uint64_t replays = 0;  // requests for them
  };
  [[nodiscard]] Stats stats() const;  // any thread
  // The bound endpoints, with the ports that were free if they end in `:*`.
  [[nodiscard]] const std::string& endpoint() const;
  [[nodiscard]] const std::string& replay_endpoint() const;

 private:
  struct Sender;  // the sockets and their thread
  explicit KvEventPublisher(std::unique_ptr<Sender> sender);

  std::vector<KvEvent> batch_;
  std::string scope_;  // of the part that was stored last: the next mostly has the same
  std::string salt_;   // salt_of() its isolation
  std::string lora_name_;
  const std::unique_ptr<Sender> sender_;
};

// Returns how events tell whose something is: the same text for the same isolation
// (cache::ScopeParts), from which that cannot be had; empty for the one that is everybody's.
[[nodiscard]] std::string salt_of(std::string_view isolation);

}  // namespace daybreak::events
