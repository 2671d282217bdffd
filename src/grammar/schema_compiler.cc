// SPDX-License-Identifier: Apache-2.0
#include "grammar/schema_compiler.h"

#include <utility>

#include "grammar/scalar_kinds.h"

namespace daybreak::grammar {
namespace {

// A $dynamicRef means its static target only if no schema that may be passed on the way there
// carries the same $dynamicAnchor.
Status check_dynamic(const SchemaDocument& document, const Schema& node) {
  if (node.dynamic_ref == nullptr || node.dynamic_anchor.empty()) {
    return ok();
  }
  for (const Schema& other : document.nodes()) {
    const Schema* target = document.dynamic_target(other.resource, node.dynamic_anchor);
    if (target != nullptr && target != node.dynamic_ref) {
      return not_enforceable(node, "$dynamicRef",
                             "several schemas carry its $dynamicAnchor, the instance decides");
    }
  }
  return ok();
}

}  // namespace

SchemaCompiler::SchemaCompiler(Budget& budget, Formats formats)
    : normaliser_(literals_, patterns_, budget, formats), table_(normaliser_) {}

Result<const Schema*> SchemaCompiler::read(std::string_view text) {
  DAYBREAK_CHECK_OK(normaliser_.budget().spend(text.size(), "schema"));
  DAYBREAK_TRY(auto document, SchemaDocument::parse(text));
  for (const Schema& node : document->nodes()) {
    DAYBREAK_CHECK_OK(check_dynamic(*document, node));
  }
  const Schema* root = &document->root();
  documents_.push_back(std::move(document));
  return root;
}

}  // namespace daybreak::grammar
