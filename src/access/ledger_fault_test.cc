// SPDX-License-Identifier: Apache-2.0
// The ledger when the process is killed, the disk is full, or it may not write.

#include "access/ledger.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <set>
#include <thread>

#include "access/access_testing.h"
#include "base/rng.h"

namespace daybreak::access {
namespace {

Result<std::unique_ptr<Ledger>> open(const std::filesystem::path& path,
                                     std::int64_t max_bytes = std::int64_t{64} << 30U) {
  return Ledger::open({.database = path,
                       .missing = Database::Missing::kCreate,
                       .max_queue = 1000,
                       .max_bytes = max_bytes});
}

Result<Recorded> append_and_wait(Ledger& ledger, const std::string& id) {
  const auto done = std::make_shared<std::promise<Result<Recorded>>>();
  const Status queued =
      ledger.append(test_usage(id), [done, told = false](const Result<Recorded>& result) mutable {
        if (!std::exchange(told, true)) {  // a second time when what failed is written
          done->set_value(result);
        }
      });
  return queued ? done->get_future().get() : Result<Recorded>(queued.error());
}

// Waits until nothing is queued; returns whether that came within a generous time.
bool written(const Ledger& ledger) {
  for (int i = 0; i < 6000 && ledger.stats().queued > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return ledger.stats().queued == 0;
}

std::set<std::string> recorded(const std::filesystem::path& path) {
  std::set<std::string> out;
  Database database = *open_access_database(path, Database::Missing::kRefuse);
  EXPECT_TRUE(scan_usage(database, {}, [&](const Usage& usage) {
    EXPECT_TRUE(out.insert(usage.request_id).second);
    return ok();
  }));
  auto check = *database.prepare("PRAGMA integrity_check");
  EXPECT_TRUE(*check.step());
  EXPECT_EQ(check.text(0), "ok");
  return out;
}

// Appends for ever, and writes the number of each entry to `fd` once it is acknowledged.
[[noreturn]] void append_for_ever(const std::filesystem::path& path, int round, int fd) {
  auto ledger = open(path);
  if (!ledger) {
    ::_exit(1);
  }
  for (std::uint32_t i = 0;; ++i) {
    const Status queued =
        (*ledger)->append(test_usage(fmt::format("{}-{}", round, i)), [=](const auto& result) {
          if (!result || ::write(fd, &i, sizeof i) != sizeof i) {
            ::_exit(2);
          }
        });
    if (!queued) {  // full
      --i;
      std::this_thread::yield();
    }
  }
}

TEST(LedgerFault, KillLosesNothingAcknowledged) {
  const TemporaryDirectory dir;
  const auto path = dir / "access.db";
  ASSERT_TRUE(open(path));
  Rng rng(7);
  std::set<std::string> acknowledged;
  for (int round = 0; round < 12; ++round) {
    int fds[2];
    ASSERT_EQ(::pipe(fds), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(fds[0]);
      append_for_ever(path, round, fds[1]);
    }
    ::close(fds[1]);
    std::thread killer([&] {
      // From before the file is open to thousands of entries later.
      std::this_thread::sleep_for(std::chrono::milliseconds(round == 0 ? 1 : rng.next() % 250));
      ::kill(child, SIGKILL);
    });
    for (std::uint32_t i = 0; ::read(fds[0], &i, sizeof i) == sizeof i;) {
      acknowledged.insert(fmt::format("{}-{}", round, i));
    }
    killer.join();
    ::close(fds[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
    const auto found = recorded(path);
    ASSERT_TRUE(std::ranges::includes(found, acknowledged)) << "round " << round;
  }
  EXPECT_GT(acknowledged.size(), 100U);
  const auto ledger = open(path);
  ASSERT_TRUE(ledger);
  EXPECT_EQ(*append_and_wait(**ledger, "after"), Recorded::kNew);
}

TEST(LedgerFault, AFileAtItsBoundIsReportedAndTheLedgerLives) {
  const TemporaryDirectory dir;
  const auto path = dir / "access.db";
  std::set<std::string> acknowledged;
  {
    const auto ledger = open(path, 100'000);
    ASSERT_TRUE(ledger) << ledger.error().message;
    Result<Recorded> result = Recorded::kNew;
    for (int i = 0; result && i < 10'000; ++i) {
      const std::string id = fmt::format("r{}", i);
      result = append_and_wait(**ledger, id);
      if (result) {
        acknowledged.insert(id);
      }
    }
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kResourceLimit) << result.error().message;
    EXPECT_NE(result.error().message.find("full"), std::string::npos) << result.error().message;
    EXPECT_FALSE(append_and_wait(**ledger, "again"));
    EXPECT_GE((*ledger)->stats().failed, 2U);
    EXPECT_EQ((*ledger)->stats().queued, 2U);
  }
  EXPECT_GT(acknowledged.size(), 50U);
  EXPECT_EQ(recorded(path), acknowledged);
  EXPECT_LE(std::filesystem::file_size(path), 100'000U);
  const auto ledger = open(path);  // with room again
  EXPECT_EQ(*append_and_wait(**ledger, "again"), Recorded::kNew);
}

// Lets no file of this process grow past `bytes`, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(LedgerFault, AWriteThatTheSystemRefusesIsReportedAndTriedAgainLater) {
  const TemporaryDirectory dir;
  const auto path = dir / "access.db";
  {
    const auto ledger = open(path);
    ASSERT_TRUE(ledger);
    ASSERT_TRUE(append_and_wait(**ledger, "before"));
    {
      const FileSizeLimit limit(4096);
      const auto result = append_and_wait(**ledger, "during");
      ASSERT_FALSE(result);
      EXPECT_TRUE(result.error().code == Errc::kIo || result.error().code == Errc::kResourceLimit)
          << result.error().message;
    }
    EXPECT_TRUE(written(**ledger));
    EXPECT_EQ(*append_and_wait(**ledger, "after"), Recorded::kNew);
  }
  EXPECT_EQ(recorded(path), (std::set<std::string>{"after", "before", "during"}));
}

TEST(LedgerFault, WhatALockKeepsFromTheDiskIsKeptAndWrittenOnceItIsGone) {
  const TemporaryDirectory dir;
  const auto path = dir / "access.db";
  ManualClock clock;
  const auto ledger = Ledger::open({.database = path,
                                    .missing = Database::Missing::kCreate,
                                    .max_wait = std::chrono::seconds(30),
                                    .clock = &clock});
  ASSERT_TRUE(ledger);
  std::promise<Recorded> later;
  {
    Database other = *open_access_database(path, Database::Missing::kRefuse);
    const auto held = Transaction::begin(other);
    ASSERT_TRUE(held);
    std::promise<void> told;
    ASSERT_TRUE((*ledger)->append(test_usage("during"), [&](const Result<Recorded>& result) {
      if (result) {
        later.set_value(*result);
      } else {
        EXPECT_EQ(result.error().code, Errc::kUnavailable) << result.error().message;
        told.set_value();
      }
    }));
    told.get_future().get();
    EXPECT_EQ((*ledger)->stats().queued, 1U);
    EXPECT_GE((*ledger)->stats().failed, 1U);
    clock.advance_us(30'000'000);
    EXPECT_FALSE((*ledger)->behind());
    clock.advance_us(1);
    EXPECT_TRUE((*ledger)->behind());
    EXPECT_EQ((*ledger)->stats().oldest_wait, std::chrono::microseconds(30'000'001));
  }
  EXPECT_EQ(later.get_future().get(), Recorded::kNew);
  EXPECT_TRUE(written(**ledger));
  EXPECT_FALSE((*ledger)->behind());
  EXPECT_EQ((*ledger)->stats().recorded, 1U);
  EXPECT_EQ(recorded(path), std::set<std::string>{"during"});
}

TEST(LedgerFault, WhatCannotBeWrittenInTimeIsHandedBack) {
  const TemporaryDirectory dir;
  const auto path = dir / "access.db";
  const auto ledger = open(path);
  ASSERT_TRUE(ledger);
  {
    Database other = *open_access_database(path, Database::Missing::kRefuse);
    const auto held = Transaction::begin(other);
    ASSERT_TRUE(held);
    ASSERT_FALSE(append_and_wait(**ledger, "a"));
    ASSERT_TRUE((*ledger)->append(test_usage("b"), nullptr));
    const auto lost = (*ledger)->finish(std::chrono::steady_clock::now());
    EXPECT_EQ(lost, (std::vector<Usage>{test_usage("a"), test_usage("b")}));
  }
  EXPECT_EQ((*ledger)->stats().queued, 0U);
  EXPECT_EQ(*append_and_wait(**ledger, "after"), Recorded::kNew);
  EXPECT_TRUE(
      (*ledger)->finish(std::chrono::steady_clock::now() + std::chrono::minutes(1)).empty());
  EXPECT_EQ(recorded(path), std::set<std::string>{"after"});
}

TEST(LedgerFault, ADatabaseThatMayNotBeWrittenIsRefused) {
  const TemporaryDirectory dir;
  const auto path = dir / "access.db";
  ASSERT_TRUE(open(path));
  ::chmod(path.c_str(), 0444);
  ::chmod(dir.path().c_str(), 0755);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65'534) != 0) {
      ::_exit(3);
    }
    const auto ledger = open(path);
    ::_exit(ledger ? 1 : ledger.error().code == Errc::kPermission ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace daybreak::access
