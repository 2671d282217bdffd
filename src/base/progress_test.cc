// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <gtest/gtest.h>

#include <string>

#include "base/human_units.h"

namespace daybreak {
namespace {

struct FakeClock : Clock {
  [[nodiscard]] TimePoint now() const override { return at; }
  void advance_ms(int ms) { at += std::chrono::milliseconds(ms); }
  TimePoint at{};
};

struct Screen {
  std::string text;
  ProgressBar::Sink sink() {
    return [this](std::string_view piece) { text += piece; };
  }
};

TEST(ProgressBar, ShortWorkShowsNothing) {
  FakeClock clock;
  Screen screen;
  {
    ProgressBar bar({.total = 100, .terminal = true}, screen.sink(), clock);
    bar.update(50, "a");
    clock.advance_ms(999);
    bar.update(100, "a");
  }
  EXPECT_EQ(screen.text, "");
}

TEST(ProgressBar, WithoutATerminalItIsSilent) {
  FakeClock clock;
  Screen screen;
  ProgressBar bar({.total = 100, .terminal = false}, screen.sink(), clock);
  clock.advance_ms(5000);
  bar.update(50, "a");
  bar.finish();
  EXPECT_EQ(screen.text, "");
}

TEST(ProgressBar, ShowsShareRateAndTimeLeftAndErasesItself) {
  FakeClock clock;
  Screen screen;
  ProgressBar bar({.total = 8'000'000'000, .terminal = true, .columns = 80}, screen.sink(), clock);
  clock.advance_ms(2000);
  bar.update(2'000'000'000, "s1");
  EXPECT_EQ(screen.text, "\r\x1b[K[####............] 25%  2.00 GB  1.00 GB/s  0:06 left  s1");
  screen.text.clear();
  clock.advance_ms(50);
  bar.update(3'000'000'000, "s1");
  EXPECT_EQ(screen.text, "");  // too soon to draw again
  bar.finish();
  bar.finish();
  EXPECT_EQ(screen.text, "\r\x1b[K");
}

TEST(ProgressBar, NeverFillsTheLastColumn) {
  for (const std::size_t columns : {0u, 40u, 60u, 80u}) {
    FakeClock clock;
    Screen screen;
    ProgressBar bar({.total = 10, .terminal = true, .columns = columns}, screen.sink(), clock);
    clock.advance_ms(3000);
    bar.update(5, std::string(300, 'x'));
    EXPECT_EQ(screen.text.size() - std::string_view("\r\x1b[K").size(),
              std::max<std::size_t>(columns, 40) - 1);
  }
}

TEST(ProgressBar, AnUnknownTotalShowsNoShare) {
  FakeClock clock;
  Screen screen;
  ProgressBar bar({.total = 0, .terminal = true}, screen.sink(), clock);
  clock.advance_ms(1000);
  bar.update(1500, "x");
  EXPECT_EQ(screen.text, "\r\x1b[K1.50 kB  1.50 kB/s  x");
}

TEST(HumanUnits, KeepThreeDigitsAcrossUnitBorders) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.00 kB");
  EXPECT_EQ(human_bytes(9'994), "9.99 kB");
  EXPECT_EQ(human_bytes(9'996), "10.0 kB");
  EXPECT_EQ(human_bytes(999'600), "1.00 MB");
  EXPECT_EQ(human_bytes(1'560'860'324'864), "1.56 TB");
  EXPECT_EQ(human_bytes(~std::uint64_t{0}), "18.4 EB");
  EXPECT_EQ(human_count(2'779'931'837'184), "2.7799 T");
  EXPECT_EQ(human_count(104'189'614'848), "104.19 B");
  EXPECT_EQ(human_count(33'030'144), "33.03 M");
  EXPECT_EQ(human_count(7168), "7,168");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(1'560'860'324'864), "1,560,860,324,864");
  EXPECT_EQ(human_duration(7), "0:07");
  EXPECT_EQ(human_duration(750), "12:30");
  EXPECT_EQ(human_duration(3723), "1:02:03");
}

}  // namespace
}  // namespace daybreak
