// SPDX-License-Identifier: Apache-2.0
// A stream over a link with a round trip of 40 ms, in a network namespace of its own. Skipped
// without the right to make one.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/api_test_server.h"

namespace daybreak::api {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono_literals::operator""ms;

constexpr std::uint32_t kHere = 0x0A000001;   // 10.0.0.1
constexpr std::uint32_t kThere = 0x0A000002;  // 10.0.0.2: this machine again, over the link

// A link (TUN device) that brings every packet back after a while with its two addresses
// exchanged: who connects to kThere reaches a server on kHere, and both see real IP packets.
class SlowLink {
 public:
  // Whether it could be made. REQUIRES: a network namespace that may be changed.
  bool open() {
    device_ = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    ifreq request{};
    std::strncpy(request.ifr_name, "slow0", IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    const int control = ::socket(AF_INET, SOCK_DGRAM, 0);
    bool good = device_ >= 0 && ::ioctl(device_, TUNSETIFF, &request) == 0;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    for (const auto& [what, value] : {std::pair<unsigned long, std::uint32_t>{SIOCSIFADDR, kHere},
                                      {SIOCSIFNETMASK, 0xFFFFFF00}}) {
      address.sin_addr.s_addr = htonl(value);
      std::memcpy(&request.ifr_addr, &address, sizeof address);
      good = good && ::ioctl(control, what, &request) == 0;
    }
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    good = good && ::ioctl(control, SIOCSIFFLAGS, &request) == 0;
    ::close(control);
    if (good) {
      carrier_ = std::thread([this] { carry(); });
    }
    return good;
  }
  SlowLink() = default;
  ~SlowLink() {
    stop_ = true;
    if (carrier_.joinable()) {
      carrier_.join();
    }
    ::close(device_);
  }
  SlowLink(const SlowLink&) = delete;
  SlowLink& operator=(const SlowLink&) = delete;

 private:
  static constexpr std::chrono::milliseconds kOneWay{20};

  void carry() {
    std::deque<std::pair<Clock::time_point, std::vector<char>>> under_way;
    while (!stop_) {
      pollfd poll{.fd = device_, .events = POLLIN, .revents = 0};
      ::poll(&poll, 1, 1);
      std::array<char, 2048> packet{};
      for (ssize_t got = 0; (got = ::read(device_, packet.data(), packet.size())) > 0;) {
        // The checksums hold: they are sums in which the addresses' places do not matter.
        std::swap_ranges(packet.begin() + 12, packet.begin() + 16, packet.begin() + 16);
        under_way.emplace_back(Clock::now() + kOneWay,
                               std::vector<char>(packet.begin(), packet.begin() + got));
      }
      for (; !under_way.empty() && under_way.front().first <= Clock::now(); under_way.pop_front()) {
        const std::vector<char>& due = under_way.front().second;
        // A packet that is not taken is lost, as on any link.
        static_cast<void>(::write(device_, due.data(), due.size()) > 0);
      }
    }
  }

  int device_ = -1;
  std::atomic<bool> stop_{false};
  std::thread carrier_;
};

constexpr std::size_t kTokens = 150;
constexpr std::chrono::milliseconds kEngineGap{20};

struct Measured {
  bool possible = false;  // a link could be made
  bool whole = false;     // every token came
  std::int64_t connect_us = 0;
  std::int64_t gap_us = 0;    // the largest between two pieces of the stream
  std::size_t long_gaps = 0;  // twice the engine's, or longer
};

std::int64_t microseconds(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

void measure(Measured& out) {
  TestApi api(
      [ids = chat::shapes::encode(*chat::shapes::load_tokenizer(), "ab ")](
          const engine::GenerateRequest&) {
        engine::Script script;
        for (std::size_t i = 0; i < kTokens; ++i) {
          script.ids.push_back(ids[i % ids.size()]);
        }
        script.delay_per_token = kEngineGap;
        return script;
      },
      {.host = "10.0.0.1"});
  const auto began = Clock::now();
  RawClient client(api.server->port(), 0, kThere);
  out.connect_us = microseconds(Clock::now() - began);
  client.send(TestApi::request_text(chat_body(R"("stream":true)"), "/v1/chat/completions"));
  client.read_until("\n\n");  // the first event
  auto last = Clock::now();
  std::size_t events = 1;
  for (std::string event = " \n\n"; event.ends_with("\n\n") && !out.whole; ++events) {
    event = client.read_until("\n\n");
    const auto now = Clock::now();
    const auto gap = now - std::exchange(last, now);
    out.gap_us = std::max(out.gap_us, microseconds(gap));
    out.long_gaps += gap >= 2 * kEngineGap ? 1 : 0;
    out.whole = event.ends_with("[DONE]\n\n") && events > kTokens;
  }
}

// In a child with a network of its own.
Measured measure_over_slow_link() {
  std::array<int, 2> result{};
  EXPECT_EQ(::pipe(result.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Measured out;
    SlowLink link;
    out.possible = ::unshare(CLONE_NEWNET) == 0 && link.open();
    if (out.possible) {
      measure(out);
    }
    ::_exit(::write(result[1], &out, sizeof out) == ssize_t{sizeof out} ? 0 : 1);
  }
  Measured out;
  ::close(result[1]);
  EXPECT_EQ(::read(result[0], &out, sizeof out), ssize_t{sizeof out});
  ::close(result[0]);
  ::waitpid(child, nullptr, 0);
  return out;
}

// A packet that waits for the acknowledgement of the one before it would make every other gap one
// of a round trip. A busy machine makes gaps of its own, but few: the largest is told, not judged.
TEST(RoundTripSlow, NoPieceWaitsForAnAcknowledgement) {
  constexpr int kTries = 5;
  constexpr std::size_t kMost = kTokens / 10;
  std::size_t fewest = kTokens;
  for (int i = 0; i < kTries && fewest > kMost; ++i) {
    const Measured measured = measure_over_slow_link();
    if (!measured.possible) {
      GTEST_SKIP() << "no network namespace with a TUN device: needs root";
    }
    ASSERT_TRUE(measured.whole);
    ASSERT_GE(measured.connect_us, 40'000);  // the link is as slow as it should be
    fewest = std::min(fewest, measured.long_gaps);
    std::printf("connected in %.1f ms, largest gap %.1f ms, the engine's 20 ms, %zu of 40 ms\n",
                static_cast<double>(measured.connect_us) / 1000,
                static_cast<double>(measured.gap_us) / 1000, measured.long_gaps);
  }
  EXPECT_LE(fewest, kMost);
}

}  // namespace
}  // namespace daybreak::api
