// SPDX-License-Identifier: Apache-2.0
#include "grammar/instance_scalars.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/utf8.h"
#include "grammar/budget.h"
#include "grammar/formats.h"
#include "grammar/random_text.h"
#include "grammar/regex.h"

namespace daybreak::grammar {
namespace {

constexpr std::uint64_t kPatternSteps = 2'000'000;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kFreeLength = 14;      // how far a string goes beyond its minimum
constexpr std::uint64_t kMaxBoundary = 1'000;  // longest string made only to reach a bound
constexpr int kTries = 12;

constexpr std::string_view kWords[] = {
    "the",     "report", "for",   "Lisbon", "was",     "sent",  "to",     "all",  "customers",
    "before",  "noon",   "and",   "every",  "invoice", "from",  "March",  "must", "be",
    "checked", "again",  "with",  "care",   "please",  "merge", "branch", "into", "main",
    "2026",    "order",  "A-117", "price:", "$4.20",   "(net)", "it's",   "new",  "caf\xC3\xA9"};

std::string words(Rng& rng, std::uint64_t min, std::uint64_t max) {
  std::string out;
  std::uint64_t chars = 0;
  const std::uint64_t goal =
      std::min(max, min + (chance(rng, 20) ? rng.below(160) : rng.below(30)));
  while (chars < goal) {
    const std::string word = (out.empty() ? "" : " ") + std::string(pick(rng, kWords));
    for (std::size_t at = 0; at < word.size() && chars < goal; ++chars) {
      const CodePoint point = valid_code_point(word, at);
      out.append(word, at, point.length);
      at += point.length;
    }
  }
  return out;
}

// Returns how many code points lead from each state to acceptance at least.
std::vector<std::uint64_t> distances(const Dfa& dfa) {
  std::vector<std::uint64_t> out(dfa.states(), kNoLimit - 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (Dfa::State s = 0; s < dfa.states(); ++s) {
      std::uint64_t best = dfa.accepts(s) ? 0 : out[s];
      for (const Dfa::Edge& edge : dfa.edges(s)) {
        best = std::min(best, out[edge.target] + 1);
      }
      changed |= best < out[s];
      out[s] = std::min(out[s], best);
    }
  }
  return out;
}

// Prefers printable ASCII where the edge has some.
std::uint32_t code_point_of(const Dfa::Edge& edge, RandomInstanceOptions::Text text, Rng& rng) {
  const std::uint32_t low = std::max<std::uint32_t>(edge.low, 0x20);
  const std::uint32_t high = std::min<std::uint32_t>(edge.high, 0x7E);
  const std::uint32_t ascii = text == RandomInstanceOptions::Text::kWords ? 100 : 80;
  if (low <= high && chance(rng, ascii)) {
    return low + rng.below(high - low + 1);
  }
  if (chance(rng, 30)) {
    return chance(rng, 50) ? edge.low : edge.high;
  }
  return edge.low + rng.below(edge.high - edge.low + 1);
}

// Drops the edges without printable ASCII if there are others.
void keep_printable(std::vector<Dfa::Edge>& edges) {
  const auto odd = [](const Dfa::Edge& edge) { return edge.high < 0x20 || edge.low > 0x7E; };
  if (!std::ranges::all_of(edges, odd)) {
    std::erase_if(edges, odd);
  }
}

std::optional<std::string> walk(const Dfa& dfa, const std::vector<std::uint64_t>& left,
                                std::uint64_t min, std::uint64_t max,
                                RandomInstanceOptions::Text text, Rng& rng) {
  std::string out;
  Dfa::State state = Dfa::kStart;
  for (std::uint64_t chars = 0;; ++chars) {
    if (dfa.accepts(state) && chars >= min && chance(rng, 35)) {
      return out;
    }
    std::vector<Dfa::Edge> viable;
    for (const Dfa::Edge& edge : dfa.edges(state)) {
      if (chars < max && left[edge.target] <= max - chars - 1) {
        viable.push_back(edge);
      }
    }
    if (viable.empty()) {
      return dfa.accepts(state) && chars >= min ? std::optional(out) : std::nullopt;
    }
    if (text == RandomInstanceOptions::Text::kWords) {
      keep_printable(viable);
    }
    const Dfa::Edge edge = pick(rng, viable);
    std::uint32_t point = code_point_of(edge, text, rng);
    if (point >= 0xD800 && point < 0xE000) {
      point = edge.low < 0xD800 ? 0xD7FF : 0xE000;  // edges never begin or end at a surrogate
    }
    append_utf8(point, out);
    state = edge.target;
  }
}

struct StringRules {
  std::uint64_t min = 0;
  std::uint64_t max = kNoLimit;
  std::vector<const Dfa*> languages;
};

// Natural examples, so that benchmarks are about dates as people write them.
std::optional<std::string> example(std::string_view format, Rng& rng) {
  struct Example {
    std::string_view format, text;
  };
  constexpr Example kExamples[] = {
      {"date", "2026-03-14"},
      {"time", "09:30:00Z"},
      {"date-time", "2026-03-14T09:30:00Z"},
      {"duration", "P3DT4H"},
      {"email", "ana.silva@example.com"},
      {"uuid", "3f2b8c1e-9d47-4a60-8f11-0c5d2e7a9b34"},
      {"hostname", "api.example.com"},
      {"ipv4", "192.0.2.17"},
      {"ipv6", "2001:db8::17"},
      {"uri", "https://example.com/a/b?page=2"},
  };
  const auto* found = std::ranges::find(kExamples, format, &Example::format);
  if (found == std::end(kExamples) || chance(rng, 50)) {
    return std::nullopt;
  }
  return std::string(found->text);
}

double as_double(const Decimal& value) { return std::strtod(value.to_string().c_str(), nullptr); }

bool allows(const Schema& s, const Decimal& value) {
  return (!s.minimum || value >= *s.minimum) && (!s.maximum || value <= *s.maximum) &&
         (!s.exclusive_minimum || value > *s.exclusive_minimum) &&
         (!s.exclusive_maximum || value < *s.exclusive_maximum) &&
         (!s.multiple_of || s.multiple_of->zero() || value.multiple_of(*s.multiple_of));
}

// k times the step, in plain digits. Steps are short in practice; others give 0.
std::string times(std::int64_t k, const Decimal& step) {
  if (step.digits().size() > 9 || step.exponent() < -12 || step.exponent() > 6) {
    return "0";
  }
  const std::int64_t digits = std::strtoll(step.digits().c_str(), nullptr, 10);
  std::string out = std::to_string(std::abs(k) * digits);
  if (step.exponent() > 0 && k != 0) {
    out.append(static_cast<std::size_t>(step.exponent()), '0');
  } else if (step.exponent() < 0) {
    const auto fraction = static_cast<std::size_t>(-step.exponent());
    out.insert(0, out.size() <= fraction ? fraction + 1 - out.size() : 0, '0');
    out.insert(out.size() - fraction, ".");
  }
  return k < 0 ? "-" + out : out;
}

struct NumberRules {
  std::vector<Decimal> bounds;  // every bound named, exclusive or not
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::optional<Decimal> step;
};

NumberRules number_rules(std::span<const Schema* const> schemas) {
  NumberRules out;
  for (const Schema* s : schemas) {
    for (const auto* low : {&s->minimum, &s->exclusive_minimum}) {
      if (*low) {
        out.bounds.push_back(**low);
        out.low = std::max(out.low, as_double(**low));
      }
    }
    for (const auto* high : {&s->maximum, &s->exclusive_maximum}) {
      if (*high) {
        out.bounds.push_back(**high);
        out.high = std::min(out.high, as_double(**high));
      }
    }
    if (s->multiple_of && (!out.step || *s->multiple_of > *out.step)) {
      out.step = s->multiple_of;
    }
  }
  return out;
}

std::string number_candidate(const NumberRules& rules, Integer integer, Rng& rng) {
  if (!rules.bounds.empty() && chance(rng, 20)) {
    return pick(rng, rules.bounds).to_string();
  }
  if (rules.bounds.empty() && !rules.step) {
    return integer == Integer::kYes ? random_integer(rng) : random_number(rng);
  }
  const Decimal steps[] = {Decimal(1), *Decimal::parse("0.1"), *Decimal::parse("0.01")};
  const Decimal step =
      rules.step ? *rules.step : steps[integer == Integer::kYes ? 0 : rng.below(3)];
  const double size = as_double(step);
  double low = std::isfinite(rules.low) ? rules.low : std::min(0.0, rules.high) - 100 * size;
  double high = std::isfinite(rules.high) ? rules.high : std::max(0.0, low) + 100 * size;
  low = std::max(low / size, -1e8);
  high = std::min(high / size, 1e8);
  if (!(low <= high)) {
    return "0";
  }
  const auto first = static_cast<std::int64_t>(std::floor(low));
  const auto count = static_cast<std::uint32_t>(std::ceil(high) - std::floor(low)) + 1;
  // The ends are where mistakes are.
  const std::uint32_t ends = std::min<std::uint32_t>(count, 2);
  const std::uint32_t at = chance(rng, 25)   ? rng.below(ends)
                           : chance(rng, 25) ? count - 1 - rng.below(ends)
                                             : rng.below(count);
  return times(first + at, step);
}

}  // namespace

const Dfa* SampledPatterns::find(const std::string& pattern) {
  auto found = compiled_.find(pattern);
  if (found == compiled_.end()) {
    Budget budget(kPatternSteps);
    Result<Dfa> dfa = compile_regex(pattern, RegexMatch::kSearch, budget);
    found = compiled_.emplace(pattern, std::nullopt).first;
    if (dfa) {
      found->second = *std::move(dfa);
    }
  }
  return found->second ? &*found->second : nullptr;
}

bool SampledPatterns::matches(const std::string& pattern, std::string_view text) {
  const Dfa* dfa = find(pattern);
  return dfa != nullptr && dfa->contains(text);
}

std::optional<std::string> random_member(const Dfa& dfa, std::uint64_t min, std::uint64_t max,
                                         RandomInstanceOptions::Text text, Rng& rng) {
  if (dfa.empty()) {
    return std::nullopt;
  }
  const std::vector<std::uint64_t> left = distances(dfa);
  const std::uint64_t shortest = std::max(min, left[Dfa::kStart]);
  if (shortest > max) {
    return std::nullopt;
  }
  const std::uint64_t limit = max - shortest > kFreeLength ? shortest + kFreeLength : max;
  for (int i = 0; i < kTries; ++i) {
    if (auto found = walk(dfa, left, min, limit, text, rng)) {
      return found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> random_string_of(std::span<const Schema* const> schemas,
                                            RandomInstanceOptions::Text text,
                                            SampledPatterns& patterns, Rng& rng) {
  StringRules rules;
  std::optional<std::string> natural;
  for (const Schema* s : schemas) {
    rules.min = std::max(rules.min, s->min_length.value_or(0));
    rules.max = std::min(rules.max, s->max_length.value_or(kNoLimit));
    if (s->pattern) {
      rules.languages.push_back(patterns.find(*s->pattern));
    }
    const Dfa* format = s->format ? format_language(*s->format) : nullptr;
    if (format != nullptr) {
      rules.languages.push_back(format);
      natural = example(*s->format, rng);
    }
  }
  if (rules.min > rules.max || std::ranges::count(rules.languages, nullptr) > 0) {
    return std::nullopt;
  }
  if (rules.languages.empty()) {
    const std::uint64_t reach = chance(rng, 15) && rules.max <= kMaxBoundary
                                    ? rules.max
                                    : rules.min + rng.below(kFreeLength);
    return text == RandomInstanceOptions::Text::kWords
               ? words(rng, rules.min, rules.max)
               : random_string(rng, std::min(reach, rules.max));
  }
  if (natural && rules.languages.size() == 1 && rules.min == 0 && rules.max == kNoLimit) {
    return natural;
  }
  if (rules.languages.size() == 1) {
    return random_member(*rules.languages[0], rules.min, rules.max, text, rng);
  }
  Budget budget(kPatternSteps);
  Result<Dfa> both = *rules.languages[0];
  for (std::size_t i = 1; both && i < rules.languages.size(); ++i) {
    both = both->intersect(*rules.languages[i], budget);
  }
  return both ? random_member(*both, rules.min, rules.max, text, rng) : std::nullopt;
}

std::optional<std::string> random_number_of(std::span<const Schema* const> schemas, Integer integer,
                                            Rng& rng) {
  const NumberRules rules = number_rules(schemas);
  for (int i = 0; i < 3 * kTries; ++i) {
    std::string text = number_candidate(rules, integer, rng);
    const auto value = Decimal::parse(text);
    if (value && (integer == Integer::kNo || value->integer()) &&
        std::ranges::all_of(schemas, [&](const Schema* s) { return allows(*s, *value); })) {
      return text;
    }
  }
  return std::nullopt;
}

}  // namespace daybreak::grammar
