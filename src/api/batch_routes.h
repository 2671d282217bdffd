// SPDX-License-Identifier: Apache-2.0
#pragma once

// OpenAI's /v1/files and /v1/batches over a BatchService.

#include "api/batch_service.h"
#include "api/context.h"
#include "chat/field_table.h"
#include "http/router.h"

namespace daybreak::api {

// Adds the routes. `batches` null: they answer 501 and name the option. Both must outlive the
// router.
void add_file_routes(http::Router& router, Context& context, BatchService* batches);
void add_batch_routes(http::Router& router, Context& context, BatchService* batches);

// The fields of POST /v1/batches, which knows no others.
[[nodiscard]] const chat::FieldTable& batch_fields();

// The error of every such route on a server without a directory for them.
[[nodiscard]] Error no_files_here();

}  // namespace daybreak::api
