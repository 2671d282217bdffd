// SPDX-License-Identifier: Apache-2.0
#include "grammar/formats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace daybreak::grammar {
namespace {

struct Case {
  const char* format;
  std::vector<std::string> valid, invalid;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"date",
       {"2024-02-29", "2000-02-29", "1999-12-31", "0000-02-29", "2023-04-30"},
       {"2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2023-00-10", "2023-1-01",
        "2023-01-00", "02023-01-01", "2023-01-32", "2023-01-01\n"}},
      {"time",
       {"00:00:00Z", "23:59:59.123456789+23:59", "08:30:06z", "23:59:60Z", "23:59:60.5+00:00",
        "01:29:60+01:30", "15:59:60-08:00", "23:59:60-00:00", "00:00:60+00:01"},
       {"24:00:00Z", "00:60:00Z", "00:00:61Z", "00:00:60Z", "23:58:60Z", "23:59:60+01:00",
        "01:29:60-01:30", "12:00:00", "12:00:00.Z", "12:00:00+24:00", "12:00:00+01", "1:00:00Z",
        "12:00:00+0100"}},
      {"date-time",
       {"1990-12-31T23:59:60Z", "1990-12-31T15:59:60-08:00", "2024-02-29t00:00:00.0z"},
       {"1990-12-31 23:59:59Z", "1990-02-31T15:59:59Z", "2023-02-29T00:00:00Z", "2024-02-29",
        "1990-12-31T23:59:61Z"}},
      {"duration",
       {"P4DT12H30M5S", "P4Y", "PT0S", "P0D", "P1M", "PT1M", "PT36H", "P2W", "P1Y2M3DT4H5M6S"},
       {"PT1D", "P", "P1YT", "PT", "P2D1Y", "P1D2H", "P2S", "P1Y2W", "P1Y3D", "PT1H3S", "4D",
        "P-1D", "P1.5D"}},
      {"email",
       {"joe.bloggs@example.com", "te~st@example.com", "\"joe bloggs\"@example.com",
        "\"joe..bloggs\"@example.com", "\"joe@bloggs\"@example.com", "\"a\\\"b\"@x",
        "joe@[127.0.0.1]", "joe@[IPv6:::1]", "a/b=c@a-b.c9"},
       {"2962", ".test@example.com", "test.@example.com", "te..st@example.com", "joe@[127.0.0.300]",
        "joe@-a.com", "joe@a-.com", "joe@a..b", "a b@c", "joe@inva=lid.com", "\"a\"b@c", "@a", "a@",
        "joe@[x:y]", "a@b@c"}},
      {"hostname",
       {"a", "www.example.com", "xn--4gbwdl.xn--wgbh1c", "1host", "host-name",
        std::string(63, 'a') + ".com"},
       {"-bad", "bad-", "a..b", ".a", "a.", "a_b", "", std::string(64, 'a') + ".com",
        "ex\xC3\xA4"}},
      {"ipv4",
       {"0.0.0.0", "255.255.255.255", "192.168.0.19"},
       {"256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4/24", "0x7f.1.1.1", "1.2.3.", ""}},
      {"ipv6",
       {"::", "::1", "1::", "1:2:3:4:5:6:7:8", "::ffff:192.168.0.1", "1::2:192.168.0.1", "1:2::8",
        "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5::1.2.3.4",
        "FfFf::a"},
       {"12345::", "::1::", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::", "1::2:3:4:5:6:7:8", ":2:3:4:5:6:7:8", "1:2:3:4:5:6:7:", "::1.2.3",
        "::1.2.3.256", "1.2.3.4", "fe80::a%eth1", "1:2:3:4:5:6:7:1.2.3.4", "1.2.3.4::", "", "::g"}},
      {"uri",
       {"http://foo.bar/?baz=qux#quux", "http://[2001:db8::7]:80/c=GB?objectClass?one", "urn:a:b",
        "mailto:John.Doe@example.com", "file:///etc/passwd", "tel:+1-816-555-1212", "a:", "a:/",
        "http://user:pa%20ss@h:/x//y", "http://[v1.a:b]/", "http://-.~_!$&'()*+,;=:%40@h"},
       {"//foo.bar/", "/abc", "\\\\WINDOWS", "http:// shouldfail.com", ":// x", "bar,baz:foo",
        "http://h/%4", "http://[::1", "http://a]b", "1a:b", "", "http://h:8a/", "a:b#c#d",
        "http://\xC3\xA4/", "http://example.org/foobar\\.txt", "a:<x>"}},
      {"uri-reference",
       {"http://foo.bar/?baz=qux#quux", "//foo.bar/", "/abc", "abc", "", "#frag", "?q", "./a:b",
        "a/b:c"},
       {"\\\\WINDOWS", "#frag\\ment", "1:b", "a b", "//h:x/", "%zz"}},
      {"uri-template",
       {"http://example.com/dictionary/{term:1}/{term}", "{+x,hello*,y}", "", "{?a.b,c}", "{x%20}"},
       {"http://example.com/{term", "{}", "{a,}", "a}", "{a:0}", "{a:12345}", "{^a}", "\"", "%zz"}},
      {"uuid",
       {"2EB8AA08-aa98-11EA-B4aa-73B441D16380", "00000000-0000-0000-0000-000000000000"},
       {"2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa9811eab4aa73b441d16380",
        "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g"}},
      {"json-pointer",
       {"", "/", "/foo/0", "/a~1b", "/m~0n", "/\n", "//", "/~01"},
       {"a", "#", "/~", "/~2", "/foo/bar~", "0"}},
      {"relative-json-pointer",
       {"0", "1", "0/foo/bar", "2/0/baz", "0#", "120/a", "0+1/a", "3-1"},
       {"/a", "-1/a", "+1/a", "0##", "01/a", "01#", "", "0#/a", "0a"}},
  };
  return list;
}

TEST(Formats, KnowsEachFormat) {
  for (const Case& c : cases()) {
    const Dfa* language = format_language(c.format);
    ASSERT_NE(language, nullptr) << c.format;
    EXPECT_EQ(language, format_language(c.format));
    for (const std::string& text : c.valid) {
      EXPECT_TRUE(language->contains(text)) << c.format << ": " << text;
    }
    for (const std::string& text : c.invalid) {
      EXPECT_FALSE(language->contains(text)) << c.format << ": " << text;
    }
  }
}

TEST(Formats, OthersAreNotKnown) {
  for (const char* name : {"regex", "idn-email", "iri", "unknown", "", "Date"}) {
    EXPECT_EQ(format_language(name), nullptr) << name;
  }
}

TEST(Formats, OnlyTheHostnameHasAnotherLimit) {
  EXPECT_EQ(format_max_chars("hostname"), 253U);
  EXPECT_FALSE(format_max_chars("email"));
}

// Days per year by the Gregorian rule, counted by the automaton's own walk.
TEST(Formats, DatesOfFourHundredYears) {
  EXPECT_EQ(format_language("date")->count(10'000'000), 25U * 146'097);
}

// A local time and an offset that are 23:59 in UTC, or not.
TEST(Formats, LeapSecondsAreTheLastOfTheUtcDay) {
  const auto clock = [](int minutes) {
    std::string out = "00:00";
    out[0] = static_cast<char>('0' + minutes / 600);
    out[1] = static_cast<char>('0' + minutes / 60 % 10);
    out[3] = static_cast<char>('0' + minutes % 60 / 10);
    out[4] = static_cast<char>('0' + minutes % 10);
    return out;
  };
  const Dfa& language = *format_language("time");
  for (int local = 0; local < 1440; local += 7) {
    for (int offset = 0; offset < 1440; offset += 1) {
      ASSERT_EQ(language.contains(clock(local) + ":60+" + clock(offset)),
                (local - offset + 1440) % 1440 == 1439);
      ASSERT_EQ(language.contains(clock(local) + ":60-" + clock(offset)),
                (local + offset) % 1440 == 1439);
    }
  }
}

}  // namespace
}  // namespace daybreak::grammar
