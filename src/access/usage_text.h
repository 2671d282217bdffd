// SPDX-License-Identifier: Apache-2.0
#pragma once

// Usage as text for other programs: CSV by RFC 4180 and JSON lines, one entry or total at a time.

#include <string>
#include <vector>

#include "access/usage.h"
#include "access/usage_rows.h"

namespace daybreak::access {

// Every line ends with "\n". Times are format_utc(), money is micro-dollars.
[[nodiscard]] std::string usage_csv_header();
[[nodiscard]] std::string usage_csv(const Usage& usage);
[[nodiscard]] std::string usage_json(const Usage& usage);

// `by` chooses the first columns or members, in the order period, key, model.
[[nodiscard]] std::string total_csv_header(const std::vector<UsageGroup>& by);
[[nodiscard]] std::string total_csv(const UsageTotal& total);
[[nodiscard]] std::string total_json(const UsageTotal& total);

}  // namespace daybreak::access
