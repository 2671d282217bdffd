// SPDX-License-Identifier: Apache-2.0
#include "events/kv_event_publisher.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <zmq.hpp>

#include "cache/scope.h"

namespace daybreak::events {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kEndOfReplay = ~std::uint64_t{0};
// What can be replayed is bounded by this too: prompts make big batches.
constexpr std::size_t kMaxReplayBytes = std::size_t{256} << 20U;
constexpr int kLingerMs = 1000;

std::array<std::uint8_t, 8> big_endian(std::uint64_t number) {
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
  }
  return bytes;
}

std::optional<std::uint64_t> read_big_endian(const zmq::message_t& message) {
  if (message.size() != 8) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    number = number << 8U | static_cast<const std::uint8_t*>(message.data())[i];
  }
  return number;
}

// vLLM's rule.
bool is_bound(const std::string& endpoint) {
  return endpoint.find('*') != std::string::npos || endpoint.find("::") != std::string::npos ||
         endpoint.starts_with("ipc://") || endpoint.starts_with("inproc://");
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventHash short_of(const cache::BlockHash& hash) { return hash.low; }

template <class Bytes>
zmq::const_buffer buffer_of(const Bytes& bytes) {
  return zmq::buffer(bytes.data(), bytes.size());
}

}  // namespace

struct KvEventPublisher::Sender {
  struct Batch {
    std::uint64_t number = 0;
    std::vector<KvEvent> events;
  };
  struct Sent {
    std::uint64_t number = 0;
    Bytes payload;
  };

  explicit Sender(const KvEventsConfig& options)
      : config(options),
        pub(context, zmq::socket_type::pub),
        router(context, zmq::socket_type::router),
        wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  ~Sender() {
    if (thread.joinable()) {
      stopping = true;
      ring();
      thread.join();
    }
    if (wake >= 0) {
      close(wake);
    }
  }

  Status open() {
    if (wake < 0) {
      return Error{Errc::kIo, "no event descriptor is left"};
    }
    const std::string* at = &config.endpoint;
    try {
      pub.set(zmq::sockopt::sndhwm, static_cast<int>(config.hwm));
      pub.set(zmq::sockopt::linger, kLingerMs);
      if (is_bound(config.endpoint)) {
        pub.bind(config.endpoint);
        endpoint = pub.get(zmq::sockopt::last_endpoint);
      } else {
        pub.connect(config.endpoint);
        endpoint = config.endpoint;
      }
      if (!config.replay_endpoint.empty()) {
        at = &config.replay_endpoint;
        router.set(zmq::sockopt::sndhwm, static_cast<int>(config.buffer_steps + 1));
        router.set(zmq::sockopt::linger, 0);
        router.bind(config.replay_endpoint);
        replay_endpoint = router.get(zmq::sockopt::last_endpoint);
      }
    } catch (const zmq::error_t& error) {
      return Error{Errc::kIo, fmt::format("cache events: {}: {}", *at, error.what())};
    }
    thread = std::thread([this] { run(); });
    return ok();
  }

  // Of the cache's thread.
  void queue(std::vector<KvEvent> events) {
    {
      const std::lock_guard lock(mutex);
      const std::uint64_t number = next_number++;
      if (waiting.size() >= config.max_queue_size) {
        ++stats.dropped;
        return;
      }
      waiting.push_back({number, std::move(events)});
    }
    ring();
  }

  void ring() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake, &one, sizeof one);  // full: it is awake
  }

  // All below: of the sender's thread.
  void run() {
    std::array<zmq::pollitem_t, 2> items = {zmq::pollitem_t{nullptr, wake, ZMQ_POLLIN, 0},
                                            zmq::pollitem_t{router.handle(), 0, ZMQ_POLLIN, 0}};
    while (!stopping) {
      try {
        zmq::poll(items.data(), items.size(), std::chrono::milliseconds(-1));
        std::uint64_t rung = 0;
        [[maybe_unused]] const auto got = read(wake, &rung, sizeof rung);
        send_waiting();
        if ((items[1].revents & ZMQ_POLLIN) != 0) {
          answer_replay();
        }
      } catch (const zmq::error_t&) {
        // Of one message: a peer that went. The next may well do.
      }
    }
    try {
      send_waiting();
    } catch (const zmq::error_t&) {
      return;  // nobody is left to be told
    }
  }

  void send_waiting() {
    std::deque<Batch> batches;
    {
      const std::lock_guard lock(mutex);
      batches.swap(waiting);
    }
    for (Batch& batch : batches) {
      const std::size_t events = batch.events.size();
      Sent sent{batch.number, encode_batch(unix_seconds(), batch.events)};
      send(pub, sent.number, sent.payload);
      keep(std::move(sent));
      const std::lock_guard lock(mutex);
      ++stats.batches;
      stats.events += events;
    }
  }

  // Returns whether all of it was taken.
  void send(zmq::socket_t& socket, std::uint64_t number, const Bytes& payload) {
    const auto number_bytes = big_endian(number);
    socket.send(buffer_of(config.topic), zmq::send_flags::sndmore);
    socket.send(buffer_of(number_bytes), zmq::send_flags::sndmore);
    socket.send(buffer_of(payload), zmq::send_flags::none);
  }

  void keep(Sent sent) {
    kept_bytes += sent.payload.size();
    kept.push_back(std::move(sent));
    while (kept.size() > config.buffer_steps || kept_bytes > kMaxReplayBytes) {
      kept_bytes -= kept.front().payload.size();
      kept.pop_front();
    }
  }

  // A request is [who, empty, number]; anything else is let go.
  void answer_replay() {
    std::vector<zmq::message_t> frames;
    do {
      frames.emplace_back();
      [[maybe_unused]] const auto got = router.recv(frames.back(), zmq::recv_flags::none);
    } while (frames.back().more());
    const auto first = frames.size() == 3 ? read_big_endian(frames[2]) : std::nullopt;
    if (!first || frames[1].size() != 0) {
      return;
    }
    const auto from = std::ranges::lower_bound(kept, *first, {}, &Sent::number);
    for (auto sent = from; sent != kept.end(); ++sent) {
      replay(frames[0], sent->number, sent->payload);
    }
    replay(frames[0], kEndOfReplay, {});
    const std::lock_guard lock(mutex);
    ++stats.replays;
  }

  void replay(const zmq::message_t& who, std::uint64_t number, const Bytes& payload) {
    router.send(zmq::const_buffer(who.data(), who.size()), zmq::send_flags::sndmore);
    router.send(zmq::const_buffer(), zmq::send_flags::sndmore);
    send(router, number, payload);
  }

  const KvEventsConfig config;
  zmq::context_t context;
  zmq::socket_t pub;
  zmq::socket_t router;
  std::string endpoint;
  std::string replay_endpoint;
  const int wake;  // an eventfd: something waits
  std::atomic<bool> stopping{false};

  mutable std::mutex mutex;
  std::deque<Batch> waiting;
  std::uint64_t next_number = 0;
  Stats stats;

  std::deque<Sent> kept;  // what was sent last, by number
  std::size_t kept_bytes = 0;
  std::thread thread;
};

Result<std::unique_ptr<KvEventPublisher>> KvEventPublisher::start(const KvEventsConfig& config) {
  auto sender = std::make_unique<Sender>(config);
  DAYBREAK_CHECK_OK(sender->open());
  return std::unique_ptr<KvEventPublisher>(new KvEventPublisher(std::move(sender)));
}

KvEventPublisher::KvEventPublisher(std::unique_ptr<Sender> sender) : sender_(std::move(sender)) {}
KvEventPublisher::~KvEventPublisher() = default;

void KvEventPublisher::stored(const cache::StoredPart& what) {
  if (what.scope != scope_) {
    scope_ = what.scope;
    const cache::ScopeParts parts = cache::split_scope(scope_);
    salt_ = salt_of(parts.isolation);
    lora_name_ = parts.lora_name;
  }
  BlockStored event{.part = what.part,
                    .hash = short_of(what.hash),
                    .parent = what.parent ? std::optional(short_of(*what.parent)) : std::nullopt,
                    .salt = salt_,
                    .lora_name = lora_name_};
  std::ranges::copy(what.ids.first(std::min(what.ids.size(), event.ids.size())), event.ids.begin());
  batch_.emplace_back(std::move(event));
}

void KvEventPublisher::removed(cache::Part part, const cache::BlockHash& hash,
                               std::string_view /*scope*/) {
  batch_.emplace_back(BlockRemoved{.part = part, .hash = short_of(hash)});
}

void KvEventPublisher::cleared() { batch_.emplace_back(AllBlocksCleared{}); }

void KvEventPublisher::flush() {
  if (!batch_.empty()) {
    sender_->queue(std::exchange(batch_, {}));
  }
}

KvEventPublisher::Stats KvEventPublisher::stats() const {
  const std::lock_guard lock(sender_->mutex);
  return sender_->stats;
}

const std::string& KvEventPublisher::endpoint() const { return sender_->endpoint; }
const std::string& KvEventPublisher::replay_endpoint() const { return sender_->replay_endpoint; }

std::string salt_of(std::string_view isolation) {
  if (isolation.find_first_not_of('\n') == std::string_view::npos) {
    return {};
  }
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  EVP_Digest(isolation.data(), isolation.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    text += fmt::format("{:02x}", digest[i]);
  }
  return text;
}

}  // namespace daybreak::events
