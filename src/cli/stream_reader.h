// SPDX-License-Identifier: Apache-2.0
#pragma once

// StreamReader: follows one chat stream of a ScriptedServer byte by byte: HTTP head, chunks,
// events.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak::cli {

class StreamReader {
 public:
  // The answer to a request with this seed and this many tokens.
  StreamReader(std::uint64_t seed, std::size_t tokens) : seed_(seed), tokens_(tokens) {}

  // Takes what has arrived, cut anywhere. Returns how many tokens it completed.
  std::size_t take(std::string_view bytes);

  [[nodiscard]] std::size_t received() const { return received_; }  // tokens so far
  // The last chunk was read, or a fault.
  [[nodiscard]] bool ended() const { return ended_ || !fault_.empty(); }
  // What is wrong with the stream, seen from here; empty: nothing. REQUIRES: no more bytes come.
  [[nodiscard]] std::string fault() const;

 private:
  bool take_head();
  bool take_chunk();
  void take_events();
  void take_event(std::string_view data);
  void take_letters(std::string_view letters);
  void fail(std::string why);

  const std::uint64_t seed_;
  const std::size_t tokens_;
  std::string raw_;     // as received, not looked at yet
  std::string events_;  // without the chunked coding, not yet a whole event
  std::string fault_;
  std::size_t received_ = 0;
  bool in_body_ = false;
  bool finish_seen_ = false;
  bool done_seen_ = false;
  bool ended_ = false;
};

}  // namespace daybreak::cli
