// SPDX-License-Identifier: Apache-2.0
#include "api/redaction.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace daybreak::api {
namespace {

using Json = nlohmann::json;

TEST(Redaction, CardsWithARightCheckDigit) {
  EXPECT_EQ(redact("pay 4111111111111111 now"), "pay [card] now");
  EXPECT_EQ(redact("4111 1111 1111 1111, 5500-0000-0000-0004"), "[card], [card]");
  EXPECT_EQ(redact("no 12 4111 1111 1111 1111"), "no 12 [card]");
  EXPECT_EQ(redact("378282246310005 6011000990139424"), "[card] [card]");
  EXPECT_EQ(redact("4111111111111112"), "4111111111111112");
  EXPECT_EQ(redact("0000000000000000"), "0000000000000000");
  EXPECT_EQ(redact("x4111111111111111"), "x4111111111111111");
  EXPECT_EQ(redact("4111111111111111x"), "4111111111111111x");
  EXPECT_EQ(redact("41111111111111111111111111"), "41111111111111111111111111");
}

TEST(Redaction, EmailAddresses) {
  EXPECT_EQ(redact("to ada.l+x@mail.example.org."), "to [email].");
  EXPECT_EQ(redact("<j\xC3\xBCrgen@b\xC3\xBC\x63her.de>"), "<[email]>");
  EXPECT_EQ(redact("a@b.c,d@e.f"), "[email],[email]");
  EXPECT_EQ(redact("@name me@host a@ @"), "@name me@host a@ @");
  // The longest local part there can be; what is before it is no part of an address.
  EXPECT_EQ(redact(std::string(100, 'a') + "@b.c"), std::string(36, 'a') + "[email]");
}

TEST(Redaction, PhoneNumbers) {
  EXPECT_EQ(redact("call +49 (0)30 / 901820 or +1-202-555-0143!"), "call [phone] or [phone]!");
  EXPECT_EQ(redact("(202) 555-0143 and 202.555.0143"), "[phone] and [phone]");
  EXPECT_EQ(redact("+1234567, 2026-11-30 3-3-4 10.0.0.1 +"),
            "+1234567, 2026-11-30 3-3-4 10.0.0.1 +");
  EXPECT_EQ(redact("1 + 1 = 2"), "1 + 1 = 2");
  // What follows a number may be a number too.
  EXPECT_EQ(redact("+49 30 901820 2026-11-30"), "[phone]-11-30");
  EXPECT_EQ(redact("+44 20 7946 0958 (4111 1111 1111 1111)"), "[phone] ([card])");
  EXPECT_EQ(redact("+1234567890123456"), "+1234567890123456");
}

TEST(Redaction, SpacesAndHyphensOfUnicodeGroupDigitsToo) {
  EXPECT_EQ(redact("4111\u00A01111\u202F1111\u20111111!"), "[card]!");
  EXPECT_EQ(redact("+49\u00A030\u2009901820, 202\u2013555\u20130143"), "[phone], [phone]");
  EXPECT_EQ(redact("2026\u201311\u201330 \u00A0"), "2026\u201311\u201330 \u00A0");
}

TEST(Redaction, SecretsByTheirForm) {
  const std::string tail = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
  for (const std::string start : {"sk-", "sk-db-", "sk-proj-", "ghp_", "github_pat_", "glpat-",
                                  "hf_", "AKIA", "AIza", "xoxb-", "npm_", "Bearer ", "bearer "}) {
    EXPECT_EQ(redact("k=" + start + tail + "."), "k=[secret].") << start;
  }
  EXPECT_EQ(redact("eyJhbGciOi.eyJzdWIiOi.c2ln-_ ok"), "[secret] ok");
  EXPECT_EQ(redact("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nok"),
            "[secret]\nok");
  EXPECT_EQ(redact("-----BEGIN PRIVATE KEY-----\nMIIE"), "[secret]");
  EXPECT_EQ(redact("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----EOF"),
            "[secret]EOF");
  EXPECT_EQ(redact("sk-short ask-AbCdEfGhIjKlMnOp eyJ.a.b -----BEGIN CERTIFICATE-----"),
            "sk-short ask-AbCdEfGhIjKlMnOp eyJ.a.b -----BEGIN CERTIFICATE-----");
}

TEST(Redaction, CardsWithOtherCharactersBetweenTheirGroups) {
  EXPECT_EQ(redact("4111.1111.1111.1111, 4111_1111_1111_1111 and 3782/822463/10005."),
            "[card], [card] and [card].");
  EXPECT_EQ(redact("4000.0000.0000.0000.006"), "[card]");
  // Numbers with a decimal point, addresses, versions.
  EXPECT_EQ(redact("3.141592653589793 10.0.0.1 4.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1"),
            "3.141592653589793 10.0.0.1 4.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1");
}

TEST(Redaction, SecretsBehindNamesAndInHeadersAndUrls) {
  const std::string tail = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
  EXPECT_EQ(redact("key_sk-" + tail + " MY_TOKEN_ghp_" + tail), "key_[secret] MY_TOKEN_[secret]");
  for (const std::string start : {"xapp-", "ya29.", "whsec_", "xoxe.xoxp-", "SG."}) {
    EXPECT_EQ(redact("k=" + start + tail + ". So"), "k=[secret]. So") << start;
  }
  EXPECT_EQ(redact("ya29.a0Af." + tail), "[secret]");
  // "user:PASS" and "Aladdin:open sesame"
  EXPECT_EQ(redact("Authorization: Basic dXNlcjpQQVNT!"), "Authorization: [secret]!");
  EXPECT_EQ(redact("basic QWxhZGRpbjpvcGVuIHNlc2FtZQ== x"), "[secret] x");
  EXPECT_EQ(redact("Basic understanding of BASIC programming, basic:x"),
            "Basic understanding of BASIC programming, basic:x");
  EXPECT_EQ(redact("BEARER " + tail), "[secret]");
  EXPECT_EQ(redact("https://user:PASS@host/x postgres://u:p%40w@db:5432/d"),
            "https://[secret]@host/x postgres://[secret]@db:5432/d");
  EXPECT_EQ(redact("https://" + tail + "@git.host/x"), "https://[secret]@git.host/x");
  EXPECT_EQ(redact("http://host:80/a@b http://host:80 ssh://git@host ://"),
            "http://host:80/a@b http://host:80 ssh://git@host ://");
}

TEST(Redaction, TextSpreadOverPartsIsOneText) {
  const std::string parts =
      R"({"content":[{"type":"text","text":"4111 1111 "},{"type":"text","text":"1111 1111","x":1},)"
      R"({"type":"image_url"},{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]})";
  EXPECT_EQ(redact_json(parts),
            R"({"content":[{"type":"text","text":"[card]"},{"type":"text","text":"","x":1},)"
            R"({"type":"image_url"},{"type":"input_text","text":"a"},)"
            R"({"type":"input_text","text":"b"}]})");
  // What each part has is found in each.
  EXPECT_EQ(redact_json(R"([{"type":"text","text":"a@b.c "},{"type":"text","text":"d@e.f"}])"),
            R"([{"type":"text","text":"[email] "},{"type":"text","text":"[email]"}])");
  EXPECT_EQ(redact_json(R"({"j":"[{\"type\":\"text\",\"text\":\"a@\"},)"
                        R"({\"type\":\"text\",\"text\":\"b.c\"}]"})"),
            R"({"j":"[{\"type\":\"text\",\"text\":\"[email]\"},)"
            R"({\"type\":\"text\",\"text\":\"\"}]"})");
}

TEST(Redaction, PromptsOfTokenIdsAreCounted) {
  EXPECT_EQ(redact_request(R"({"prompt":[5,6,7],"n":2})"), R"({"prompt":"[3 token ids]","n":2})");
  EXPECT_EQ(redact_request(R"({"prompt":[[5],[6,7]]})"),
            R"({"prompt":["[1 token ids]","[2 token ids]"]})");
  EXPECT_EQ(redact_request(R"({"prompt":["a@b.c","x"],"stop":[1]})"),
            R"({"prompt":["[email]","x"],"stop":[1]})");
  EXPECT_EQ(redact_request("{"), R"("[unreadable 1 bytes]")");
}

TEST(Redaction, DataUrlsTellTheirSize) {
  EXPECT_EQ(redact("see data:image/png;base64,iVBORw0KGgo= there"), "see [data 34 bytes] there");
}

TEST(Redaction, JsonStaysJsonAndEscapesHideNothing) {
  const std::string out = redact_json(
      R"({"a\u0040b.org":"x\u0040y.org","n":4111111111111111,"m":-1.5e3,"t":true,"z":null,
          "arguments":"{\"to\":\"\\u0061\\u0040b.c\",\"d\":[1,2]}","l":["[not json a@b.c"]})");
  EXPECT_EQ(out, R"({"[email]":"[email]","n":"[card]","m":-1.5e3,"t":true,"z":null,)"
                 R"("arguments":"{\"to\":\"[email]\",\"d\":[1,2]}","l":["[not json [email]"]})");
  EXPECT_TRUE(Json::accept(out));
  EXPECT_EQ(redact_json(R"([" \n{\"to\":\"\\u0061\\u0040b.c\"}"])"), R"(["{\"to\":\"[email]\"}"])");
  EXPECT_EQ(redact_json("{\"a\":"), R"("[unreadable 5 bytes]")");
}

// JSON that is cut, or within a text, is read as text: an escape before a word is no part of it.
TEST(Redaction, EscapesDoNotJoinWords) {
  const std::string secret = "sk-AbCdEfGhIjKlMnOpQr";
  for (const std::string escape : {"\\n", "\\t", "\\r", "\\u0020", "\\u000A"}) {
    EXPECT_EQ(redact("see {\"a\":\"x" + escape + "4111111111111111"),
              "see {\"a\":\"x" + escape + "[card]");
    EXPECT_EQ(redact("see {\"a\":\"x" + escape + secret), "see {\"a\":\"x" + escape + "[secret]");
  }
  EXPECT_EQ(redact("n4111111111111111 u00204111111111111111"),
            "n4111111111111111 u00204111111111111111");
}

// Work per byte is bounded: each of these is read in one go, or would take minutes.
TEST(Redaction, NoTextTakesMoreThanItsLength) {
  for (const std::string piece : {"eyJa-",
                                  "sk-",
                                  "+1 ",
                                  "1 ",
                                  "a@",
                                  "@",
                                  "-----BEGIN ",
                                  "(1",
                                  "1-",
                                  "data:",
                                  "Bearer ",
                                  "a.",
                                  "eyJa.",
                                  "://a:",
                                  "basic YTpi",
                                  "ya29.",
                                  "SG.a",
                                  "1111.",
                                  "_sk-",
                                  "11111111111111111111 ",
                                  "1\u00A0",
                                  "\\u0020",
                                  "-----BEGIN PRIVATE KEY-----"}) {
    std::string text;
    while (text.size() < 500'000) {
      text += piece;
    }
    EXPECT_FALSE(redact(text).empty());
  }
}

}  // namespace
}  // namespace daybreak::api
