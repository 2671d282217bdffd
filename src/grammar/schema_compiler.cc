// SPDX-License-Identifier: Apache-2.0
#include "grammar/schema_compiler.h"

#include <algorithm>
#include <utility>

#include "grammar/contradiction.h"
#include "grammar/scalar_kinds.h"

namespace daybreak::grammar {
namespace {

// A $dynamicRef means its static target only if no schema that may be passed on the way there
// carries the same $dynamicAnchor.
Status check_dynamic(const DynamicAnchors& anchors, const Schema& node) {
  if (node.dynamic_ref == nullptr || node.dynamic_anchor.empty()) {
    return ok();
  }
  const auto targets = anchors.find(node.dynamic_anchor);
  const bool sole = targets == anchors.end() ||
                    (targets->second.size() == 1 && targets->second.front() == node.dynamic_ref);
  return sole ? ok()
              : not_enforceable(node, "$dynamicRef",
                                "several schemas carry its $dynamicAnchor, the instance decides");
}

}  // namespace

SchemaCompiler::SchemaCompiler(Budget& budget, Formats formats)
    : normaliser_(literals_, patterns_, budget, formats), table_(normaliser_) {}

Error SchemaCompiler::named(Error error, const std::string& name) {
  return name.empty() ? std::move(error) : std::move(error).in(name);
}

Result<const Schema*> SchemaCompiler::read(std::string_view text, std::string_view name) {
  DAYBREAK_CHECK_OK(normaliser_.budget().spend(text.size(), "schema"));
  auto document = SchemaDocument::parse(text);
  if (!document) {
    return named(std::move(document).error(), std::string(name));
  }
  const DynamicAnchors anchors = (*document)->dynamic_anchors();
  for (const Schema& node : (*document)->nodes()) {
    if (auto dynamic = check_dynamic(anchors, node); !dynamic) {
      return named(std::move(dynamic).error(), std::string(name));
    }
  }
  documents_.push_back({*std::move(document), std::string(name)});
  return &documents_.back().schema->root();
}

Result<CompiledSchemas> SchemaCompiler::finish() {
  Result<CompiledSchemas> compiled = std::move(table_).close();
  const Schema* blamed = table_.blamed();
  if (compiled || blamed == nullptr) {
    return compiled;
  }
  Error error = std::move(compiled).error();
  if (!error.message.starts_with('#')) {
    error = std::move(error).in(blamed->path);
  }
  for (const Document& document : documents_) {
    const auto& nodes = document.schema->nodes();
    if (std::ranges::any_of(nodes, [&](const Schema& node) { return &node == blamed; })) {
      return named(std::move(error), document.name);
    }
  }
  return error;
}

Error SchemaCompiler::contradiction(std::string_view what) const {
  Error error = grammar::contradiction(what);
  if (!table_.contradiction().empty()) {
    error.message += "; nothing satisfies " + table_.contradiction();
  }
  return error;
}

}  // namespace daybreak::grammar
