// SPDX-License-Identifier: Apache-2.0
#include "grammar/merge_equal.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace daybreak::grammar {
namespace {

using Signature = std::vector<std::uint64_t>;
using Class = std::uint32_t;

// Numbers what was seen, equal things alike.
class Numbering {
 public:
  Class of(Signature signature) {
    const auto next = static_cast<Class>(classes_.size());
    return classes_.emplace(std::move(signature), next).first->second;
  }
  [[nodiscard]] std::size_t size() const { return classes_.size(); }

 private:
  std::map<Signature, Class> classes_;
};

template <class T>
std::uint64_t address(const std::shared_ptr<T>& pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer.get());
}

class Refinement {
 public:
  Refinement(CompiledSchemas& schemas, Budget& budget)
      : schemas_(schemas), budget_(budget), formulas_(schemas.formulas.size()) {}

  Status run() {
    for (std::size_t classes = 0;;) {
      DAYBREAK_CHECK_OK(classify_shapes());
      const std::size_t now = classify_formulas();
      if (now == classes) {
        break;
      }
      classes = now;
    }
    merge();
    return ok();
  }

 private:
  void add_options(const std::vector<ChildOption>& options, Signature& signature) const {
    Signature own;
    for (const ChildOption& option : options) {
      own.push_back(std::uint64_t{formulas_[option.formula]} << 32 | option.fulfils);
    }
    std::ranges::sort(own);
    const auto doubles = std::ranges::unique(own);
    own.erase(doubles.begin(), doubles.end());
    signature.push_back(own.size());
    signature.insert(signature.end(), own.begin(), own.end());
  }

  // Names are told by their number in a table of all texts, languages and lexers by address: equal
  // ones are one object (see StringLanguage::make and shared_lexer).
  Signature signature_of(const ObjectShape& shape) {
    Signature out{shape.conditions,
                  shape.min,
                  shape.max,
                  address(shape.keys.language),
                  shape.keys.names.size(),
                  shape.keys.states.size()};
    out.insert(out.end(), shape.required.begin(), shape.required.end());
    for (const std::string& name : shape.keys.names) {
      out.push_back(texts_.emplace(name, texts_.size()).first->second);
    }
    for (const KeyAutomaton::State& state : shape.keys.states) {
      out.push_back(std::uint64_t{state.label} << 32 | state.endless);
    }
    for (const auto& options : shape.options) {
      add_options(options, out);
    }
    return out;
  }

  Signature signature_of(const ArrayShape& shape) {
    Signature out{shape.min, shape.max, static_cast<std::uint64_t>(shape.unique),
                  shape.conditions.size(), shape.prefix.size()};
    for (const ArrayShape::Condition& condition : shape.conditions) {
      out.insert(out.end(), {condition.from, condition.min, condition.max});
    }
    for (const auto& options : shape.prefix) {
      add_options(options, out);
    }
    add_options(shape.tail, out);
    return out;
  }

  template <class Shape>
  Status classify(const std::vector<Shape>& shapes, std::vector<Class>& classes) {
    Numbering numbering;
    classes.clear();
    for (const Shape& shape : shapes) {
      Signature signature = signature_of(shape);
      DAYBREAK_CHECK_OK(budget_.spend(signature.size() / 8 + 1, "schema"));
      classes.push_back(numbering.of(std::move(signature)));
    }
    return ok();
  }

  Status classify_shapes() {
    DAYBREAK_CHECK_OK(classify(schemas_.objects, objects_));
    return classify(schemas_.arrays, arrays_);
  }

  static void add_shapes(const std::vector<std::uint32_t>& shapes,
                         const std::vector<Class>& classes, Signature& signature) {
    Signature own;
    for (const std::uint32_t shape : shapes) {
      own.push_back(classes[shape]);
    }
    std::ranges::sort(own);
    const auto doubles = std::ranges::unique(own);
    own.erase(doubles.begin(), doubles.end());
    signature.push_back(own.size());
    signature.insert(signature.end(), own.begin(), own.end());
  }

  std::size_t classify_formulas() {
    Numbering numbering;
    for (std::size_t i = 0; i < formulas_.size(); ++i) {
      const Formula& formula = schemas_.formulas[i];
      Signature signature{static_cast<std::uint64_t>(formula.null), formula.booleans,
                          static_cast<std::uint64_t>(formula.satisfiable), formula.lexers.size(),
                          formula.strings.size()};
      for (const auto& lexer : formula.lexers) {
        signature.push_back(address(lexer));
      }
      for (const auto& language : formula.strings) {
        signature.push_back(address(language));
      }
      add_shapes(formula.objects, objects_, signature);
      add_shapes(formula.arrays, arrays_, signature);
      formulas_[i] = numbering.of(std::move(signature));
    }
    return numbering.size();
  }

  void merge() {
    std::vector<FormulaId> first(formulas_.size());
    for (std::size_t i = formulas_.size(); i-- > 0;) {
      first[formulas_[i]] = static_cast<FormulaId>(i);
    }
    const auto merge_options = [&](std::vector<ChildOption>& options) {
      std::vector<ChildOption> merged;
      for (ChildOption option : options) {
        option.formula = first[formulas_[option.formula]];
        const auto same = [&](const ChildOption& other) {
          return other.formula == option.formula && other.fulfils == option.fulfils;
        };
        if (std::ranges::none_of(merged, same)) {
          merged.push_back(option);
        }
      }
      options = std::move(merged);
    };
    for (ObjectShape& shape : schemas_.objects) {
      std::ranges::for_each(shape.options, merge_options);
    }
    for (ArrayShape& shape : schemas_.arrays) {
      std::ranges::for_each(shape.prefix, merge_options);
      merge_options(shape.tail);
    }
    const auto merge_shapes = [](std::vector<std::uint32_t>& shapes,
                                 const std::vector<Class>& classes) {
      std::vector<std::uint32_t> merged;
      for (const std::uint32_t shape : shapes) {
        const auto same = [&](std::uint32_t other) { return classes[other] == classes[shape]; };
        if (std::ranges::none_of(merged, same)) {
          merged.push_back(shape);
        }
      }
      shapes = std::move(merged);
    };
    for (Formula& formula : schemas_.formulas) {
      merge_shapes(formula.objects, objects_);
      merge_shapes(formula.arrays, arrays_);
    }
  }

  CompiledSchemas& schemas_;
  Budget& budget_;
  std::vector<Class> formulas_, objects_, arrays_;
  std::map<std::string, std::uint64_t, std::less<>> texts_;
};

}  // namespace

Status merge_equal(CompiledSchemas& schemas, Budget& budget) {
  return Refinement(schemas, budget).run();
}

}  // namespace daybreak::grammar
