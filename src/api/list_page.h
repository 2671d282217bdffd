// SPDX-License-Identifier: Apache-2.0
#pragma once

// One page of a list, as OpenAI's API gives it.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace daybreak::api {

struct ListItem {
  std::string id;
  std::string json;
};

struct ListQuery {
  std::size_t limit = 0;
  bool ascending = false;
  std::string after;    // the id of the item before the page; empty: from the start
  std::string purpose;  // of files; empty: any
};

enum class ListOf { kFiles, kBatches };

// Reads one of limit, order and after into `out`. Returns whether `name` is one of them.
// Errors: kInvalidArgument naming the parameter.
Result<bool> read_list_parameter(std::string_view name, std::string_view value,
                                 std::size_t max_limit, ListQuery& out);

// Calls `read(name, value)` for each parameter of a query, until one fails.
Status for_each_parameter(std::string_view query,
                          const std::function<Status(std::string_view, std::string_view)>& read);

// Reads "limit=5&after=ID&order=asc", and of files "purpose=batch". Errors: kInvalidArgument naming
// the parameter.
Result<ListQuery> parse_list_query(std::string_view query, ListOf what, std::size_t default_limit,
                                   std::size_t max_limit);

// `items` newest first. Errors: kInvalidArgument: no item `after`.
Result<std::string> list_page(std::vector<ListItem> items, const ListQuery& query);

}  // namespace daybreak::api
