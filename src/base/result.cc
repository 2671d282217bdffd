// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <array>

namespace daybreak {
namespace {

struct Row {
  std::string_view name;
  int http;
  int exit;
};

// In the order of Errc; result_test.cc holds every row against the documented list.
constexpr std::array<Row, 12> kRows = {{{"invalid_argument", 400, 2},
                                        {"unauthenticated", 401, 2},
                                        {"permission", 403, 2},
                                        {"not_found", 404, 2},
                                        {"too_large", 413, 2},
                                        {"resource_limit", 429, 1},
                                        {"cancelled", 499, 1},
                                        {"corrupt", 500, 1},
                                        {"unsupported", 501, 2},
                                        {"unavailable", 503, 1},
                                        {"deadline", 504, 1},
                                        {"io", 500, 1}}};

const Row& row(Errc code) { return kRows[static_cast<std::size_t>(code)]; }

}  // namespace

std::string_view to_string(Errc code) { return row(code).name; }
int http_status(Errc code) { return row(code).http; }
int exit_code(Errc code) { return row(code).exit; }

}  // namespace daybreak
