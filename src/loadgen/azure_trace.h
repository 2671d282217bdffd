// SPDX-License-Identifier: Apache-2.0
#pragma once

// Azure's traces of LLM inference: CSV with the columns TIMESTAMP,ContextTokens,GeneratedTokens.
// Prompts have nothing in common.
//
// Source: github.com/Azure/AzurePublicDataset, AzureLLMInferenceTrace_*.csv.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "loadgen/trace.h"

namespace daybreak::loadgen {

// Errors: kNotFound, kIo. next() gives kInvalidArgument naming file and line.
[[nodiscard]] Result<std::unique_ptr<TraceSource>> open_azure_trace(const std::string& path);

// One line below the heading. at_seconds counts from 1970-01-01.
[[nodiscard]] Result<Turn> parse_azure_line(std::string_view line, std::string_view where);

}  // namespace daybreak::loadgen
