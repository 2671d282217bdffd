// SPDX-License-Identifier: Apache-2.0
#pragma once

// Redaction: takes out of texts what identifies or authorises somebody. What is found is replaced
// by its kind in brackets:
//   [card]    13 to 19 digits, alone or in groups, whose check digit is right (Luhn, ISO/IEC 7812);
//             groups with a dot, slash or underscore between them are of 4 to 6 digits
//   [email]   local@domain.tld
//   [phone]   +, then 8 to 15 digits in any groups; 3-3-4 digits in groups, as in North America
//             (spaces and hyphens of Unicode group as those of ASCII do)
//   [secret]  API keys, tokens and private keys by the forms their issuers gave them, also behind
//             an underscore; the credentials of Bearer and Basic; the user and password of a URL
//   [data N bytes]  data: URLs, for their size
// These are rules about spelling: what is spelled otherwise stays, and a number may look like a
// card by chance (one in ten of that length).

#include <string>
#include <string_view>

namespace daybreak::api {

// Returns `text` with what the rules find replaced. Linear time. Thread-safe.
[[nodiscard]] std::string redact(std::string_view text);

// Returns the JSON value `json` with every string, key and number redacted: strings that are JSON
// themselves (arguments of tools) as JSON, since an escape could hide what is in them. Text parts
// of one message that follow one another are looked at as one text, too: where that finds more, the
// first has the whole and the others are empty. What is no JSON becomes a string that tells its
// size alone. Thread-safe.
[[nodiscard]] std::string redact_json(std::string_view json);

// The same for the body of a request, whose prompts may be token ids: of these the number is told,
// as "[N token ids]".
[[nodiscard]] std::string redact_request(std::string_view json);

}  // namespace daybreak::api
