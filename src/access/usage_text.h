// SPDX-License-Identifier: Apache-2.0
#pragma once

// Usage as text for other programs: CSV by RFC 4180 and JSON lines, one entry or total at a time.

#include <string>
#include <vector>

#include "access/key_rows.h"
#include "access/usage.h"
#include "access/usage_rows.h"

namespace daybreak::access {

// Every line ends with "\n". Times are format_utc(), money is micro-dollars. A key that `names`
// does not have, such as 0, has the name "".
[[nodiscard]] std::string usage_csv_header();
[[nodiscard]] std::string usage_csv(const Usage& usage, const KeyNames& names);
[[nodiscard]] std::string usage_json(const Usage& usage, const KeyNames& names);

// `by` chooses the first columns or members, in the order period, tenant, key, model.
[[nodiscard]] std::string total_csv_header(const std::vector<UsageGroup>& by);
[[nodiscard]] std::string total_csv(const UsageTotal& total, const KeyNames& names);
[[nodiscard]] std::string total_json(const UsageTotal& total, const KeyNames& names);

}  // namespace daybreak::access
