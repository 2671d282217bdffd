// SPDX-License-Identifier: Apache-2.0
#include "api/list_page.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json_document.h"

namespace daybreak::api {

Result<bool> read_list_parameter(std::string_view name, std::string_view value,
                                 std::size_t max_limit, ListQuery& out) {
  if (name == "limit") {
    const char* const end = value.data() + value.size();
    const auto [at, fault] = std::from_chars(value.data(), end, out.limit);
    if (fault != std::errc{} || at != end || out.limit < 1 || out.limit > max_limit) {
      return Error{Errc::kInvalidArgument, "limit: expected an integer from 1 to " +
                                               std::to_string(max_limit) + ", found '" +
                                               printable(value, 64) + "'"};
    }
  } else if (name == "order") {
    if (value != "asc" && value != "desc") {
      return Error{Errc::kInvalidArgument,
                   "order: expected \"asc\" or \"desc\", found '" + printable(value, 64) + "'"};
    }
    out.ascending = value == "asc";
  } else if (name == "after") {
    out.after = value;
  } else {
    return false;
  }
  return true;
}

Status for_each_parameter(std::string_view query,
                          const std::function<Status(std::string_view, std::string_view)>& read) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::string_view name = pair.substr(0, pair.find('='));
    DAYBREAK_CHECK_OK(read(name, pair.substr(std::min(pair.size(), name.size() + 1))));
  }
  return ok();
}

Result<ListQuery> parse_list_query(std::string_view query, ListOf what, std::size_t default_limit,
                                   std::size_t max_limit) {
  const bool files = what == ListOf::kFiles;
  ListQuery out;
  out.limit = default_limit;
  const auto read = [&](std::string_view name, std::string_view value) -> Status {
    DAYBREAK_TRY(const bool known, read_list_parameter(name, value, max_limit, out));
    if (files && name == "purpose") {
      out.purpose = value;
    } else if (!known && !name.empty()) {
      return Error{Errc::kInvalidArgument, printable(name, 64) +
                                               ": no such parameter, expected limit, order" +
                                               (files ? ", after or purpose" : " or after")};
    }
    return ok();
  };
  DAYBREAK_CHECK_OK(for_each_parameter(query, read));
  return out;
}

Result<std::string> list_page(std::vector<ListItem> items, const ListQuery& query) {
  if (query.ascending) {
    std::ranges::reverse(items);
  }
  auto first = items.begin();
  if (!query.after.empty()) {
    first = std::ranges::find(items, query.after, &ListItem::id);
    if (first == items.end()) {
      return Error{Errc::kInvalidArgument,
                   "after: no '" + printable(query.after, 64) + "' in this list"};
    }
    ++first;
  }
  const auto left = static_cast<std::size_t>(items.end() - first);
  const auto last = first + static_cast<std::ptrdiff_t>(std::min(left, query.limit));
  std::string out = "{\"object\":\"list\",\"data\":[";
  for (auto item = first; item != last; ++item) {
    out += item == first ? "" : ",";
    out += item->json;
  }
  const auto id = [&](auto item) { return first == last ? "null" : "\"" + item->id + "\""; };
  out += "],\"first_id\":" + id(first) +
         ",\"last_id\":" + (first == last ? "null" : id(std::prev(last)));
  return out + ",\"has_more\":" + (last == items.end() ? "false" : "true") + "}";
}

}  // namespace daybreak::api
