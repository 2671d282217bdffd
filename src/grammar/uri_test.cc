// SPDX-License-Identifier: Apache-2.0
#include "grammar/uri.h"

#include <gtest/gtest.h>

namespace daybreak::grammar {
namespace {

// RFC 3986, section 5.4: every example, without its fragment.
TEST(Uri, ResolvesTheExamplesOfTheStandard) {
  struct Row {
    const char* reference;
    const char* target;
  };
  const Row rows[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {"g?y#s", "http://a/b/c/g?y"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"http:g", "http:g"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", row.reference), row.target) << row.reference;
  }
}

TEST(Uri, ResolvesAgainstBasesThatAreNoUrls) {
  EXPECT_EQ(resolve_uri("", "folder/x.json"), "folder/x.json");
  EXPECT_EQ(resolve_uri("", ""), "");
  EXPECT_EQ(resolve_uri("http://host", "x"), "http://host/x");
  EXPECT_EQ(resolve_uri("urn:uuid:1-2", "#a"), "urn:uuid:1-2");
  EXPECT_EQ(resolve_uri("urn:uuid:1-2", "urn:example:x"), "urn:example:x");
}

TEST(Uri, DecodesPercentEscapes) {
  EXPECT_EQ(percent_decode("a%25b%C3%A9"), "a%b\xC3\xA9");
  for (const char* broken : {"%", "%2", "%zz", "%C3"}) {
    EXPECT_EQ(percent_decode(broken), std::nullopt) << broken;
  }
}

}  // namespace
}  // namespace daybreak::grammar
