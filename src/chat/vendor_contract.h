// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules of the vendor's API: its model is served with one set of values, and a request
// that asks for others is refused rather than answered with them.

#include "base/result.h"
#include "chat/contract.h"
#include "chat/request_fields.h"

namespace daybreak::chat {

// kVendor: checks temperature (0, 0.6 or 1), top_p (0.95), n (1), both penalties (0),
// reasoning_effort (none, low, high or max) and stop or stop_sequences (at most 5 strings of at
// most 32 bytes) where they are given. kOpen: nothing.
// Errors: kInvalidArgument naming the field, what is allowed and what was found.
[[nodiscard]] Status check_vendor_contract(const Field& root, Contract contract);

}  // namespace daybreak::chat
