// SPDX-License-Identifier: Apache-2.0
#include "grammar/number_lexer.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/hash.h"

namespace daybreak::grammar {
namespace {

using Bounds = NumberSearch::Bounds;

constexpr std::uint64_t kWide = 1'000'000'000'000'000'000;  // one more digit still fits

// The digits of a state as text, without heap memory.
class DigitText {
 public:
  explicit DigitText(std::uint64_t digits) {
    const auto end = std::to_chars(buffer_.begin(), buffer_.end(), digits).ptr;
    size_ = static_cast<std::size_t>(end - buffer_.data());
  }
  [[nodiscard]] std::string_view view() const { return {buffer_.data(), size_}; }

 private:
  std::array<char, 20> buffer_;
  std::size_t size_ = 0;
};

std::size_t count_digits(std::uint64_t value) {
  std::size_t digits = 1;
  for (; value >= 10'000; value /= 10'000) {
    digits += 4;
  }
  return digits + (value >= 10 ? 1 : 0) + (value >= 100 ? 1 : 0) + (value >= 1'000 ? 1 : 0);
}

// Returns whether the plain spelling of |value| begins with `digits`, of which the last `fraction`
// stand behind the point; with fraction 0 and `open`, more digits may follow before the point.
bool spelled_under(const Decimal& value, std::string_view digits, std::size_t fraction, bool open) {
  const auto size = static_cast<std::int64_t>(value.digits().size());
  const std::int64_t place = size + value.exponent();  // of the first digit before the point
  const std::int64_t whole = std::max<std::int64_t>(place, 1);
  // A prefix of only a fraction has at least one digit before the point: 0.
  const std::size_t width = std::max(digits.size(), fraction + 1);
  const auto own_whole = static_cast<std::int64_t>(width - fraction);
  if (open ? whole < own_whole : whole != own_whole) {
    return false;
  }
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t padding = width - digits.size();
    const char own = i < padding ? '0' : digits[i - padding];
    const std::int64_t at = static_cast<std::int64_t>(i) - (whole - place);
    const char other = at >= 0 && at < size ? value.digits()[static_cast<std::size_t>(at)] : '0';
    if (own != other) {
      return false;
    }
  }
  return true;
}

}  // namespace

// --------------------------------------------------------------------------------- NumberState

bool operator==(const NumberState& a, const NumberState& b) {
  return a.phase_ == b.phase_ && a.negative_ == b.negative_ && a.free_ == b.free_ &&
         a.done_ == b.done_ && a.counted_ == b.counted_ && a.fraction_ == b.fraction_ &&
         a.need_ == b.need_ && a.room_ == b.room_ && a.digits_ == b.digits_ && a.wide_ == b.wide_;
}

std::uint64_t NumberState::hash() const {
  const std::uint64_t flags = static_cast<std::uint64_t>(phase_) | (negative_ ? 16U : 0U) |
                              (free_ ? 32U : 0U) | (done_ ? 64U : 0U);
  std::uint64_t out = mix64(flags | (std::uint64_t{counted_} << 16) | (std::uint64_t{need_} << 32) |
                            (std::uint64_t{room_} << 48));
  out = mix64(out ^ digits_ ^ (std::uint64_t{fraction_} << 48));
  return wide_.empty() ? out : fnv1a64(std::as_bytes(std::span(wide_)), out);
}

Decimal NumberState::value() const {
  // Accepted texts are JSON numbers of at most kMaxNumberBytes and parse.
  auto value = Decimal::parse(text_);
  return value ? *std::move(value) : Decimal();
}

// --------------------------------------------------------------------------------- NumberLexer

NumberLexer::BoundDigits NumberLexer::bound_digits(const BigNatural& size, std::size_t digits,
                                                   char filler) {
  BoundDigits out;
  out.digits = size.to_string();
  if (out.digits.size() < digits + 1) {
    out.digits.insert(0, digits + 1 - out.digits.size(), '0');
  }
  out.whole = out.digits.size() - digits;
  out.lead = out.digits.find_last_not_of(filler) + 1;  // npos + 1 is 0
  out.digits.resize(out.whole);
  return out;
}

NumberLexer::NumberLexer(NumberLanguage language, std::size_t max_bytes)
    : language_(std::move(language)),
      max_bytes_(max_bytes),
      search_(language_, max_bytes),
      grid_(NumberGrid::make(language_, search_)),
      plain_(language_.plain()) {
  minus_ =
      (max_bytes_ == kMaxNumberBytes && has_short_member(language_, true)) || search_.any(true, {});
  if (!grid_ || grid_->digits() > max_bytes_) {
    grid_.reset();
    return;
  }
  // Bounds cut through the completions of a prefix on the grid of the members, or anywhere.
  const std::size_t digits = grid_->dense() ? max_bytes_ : grid_->digits();
  const BigNatural unit = BigNatural::pow10(max_bytes_ - digits);
  const BigNatural beyond = BigNatural::pow10(2 * max_bytes_) - BigNatural(1);
  for (const bool negative : {false, true}) {
    const NumberSearch::Half& half = search_.half(negative);
    const std::size_t at = negative ? 1 : 0;
    low_[at] = bound_digits((half.low + unit - BigNatural(1)) / unit, digits, '0');
    high_[at].unbounded = half.high == beyond;
    if (!high_[at].unbounded) {
      high_[at] = bound_digits(half.high / unit, digits, '9');
    }
  }
}

std::optional<NumberState> NumberLexer::next(const NumberState& state, char byte,
                                             std::span<const Decimal> also_excluded) const {
  std::optional<NumberState> out(state);
  if (!advance(*out, byte, also_excluded) || !viable(*out, also_excluded)) {
    return std::nullopt;
  }
  canonicalize(*out, also_excluded);
  return out;
}

void NumberLexer::append(NumberState& state, char digit) const {
  const auto value = static_cast<std::uint64_t>(digit - '0');
  if (state.free_) {
    const std::uint64_t modulus = grid_->modulus(state.fraction_);
    state.digits_ = static_cast<std::uint64_t>((Uint128{state.digits_} * 10 + value) % modulus);
  } else if (!state.wide_.empty()) {
    state.wide_ += digit;
  } else if (state.digits_ >= kWide) {
    state.wide_ = std::to_string(state.digits_) + digit;
    state.digits_ = 0;
  } else {
    state.digits_ = state.digits_ * 10 + value;
  }
}

bool NumberLexer::advance_fraction(NumberState& state, char digit) const {
  state.phase_ = Phase::kFraction;
  if (grid_ && !grid_->dense() && state.fraction_ == grid_->digits()) {
    return digit == '0';
  }
  if (state.done_) {
    return true;
  }
  if (state.free_ && state.fraction_ == grid_->base()) {
    // Dense, and nothing is left to tell: another digit but 0 makes the number a member for good.
    state.done_ = digit != '0';
    return true;
  }
  ++state.fraction_;
  append(state, digit);
  return true;
}

bool NumberLexer::advance(NumberState& state, char byte, Excluded also) const {
  if (state.length_ >= max_bytes_) {
    return false;
  }
  ++state.length_;
  state.counted_ =
      std::size_t{state.length_} + kNumberLookahead > max_bytes_ ? state.length_ : std::uint16_t{0};
  if (state.keep_) {
    state.text_ += byte;
  }
  const bool digit = byte >= '0' && byte <= '9';
  const Phase phase = state.phase_;
  if (phase == Phase::kStart || phase == Phase::kMinus) {
    if (phase == Phase::kStart && byte == '-') {
      state.phase_ = Phase::kMinus;
      state.negative_ = true;
      return true;
    }
    state.phase_ = byte == '0' ? Phase::kZero : Phase::kInteger;
    state.digits_ = static_cast<std::uint64_t>(digit ? byte - '0' : 0);
    return digit;
  }
  if (phase == Phase::kInteger && digit) {
    if (state.free_ && state.room_ == 0) {
      return false;
    }
    append(state, byte);
    state.need_ -= state.need_ > 0 ? 1 : 0;
    state.room_ -= state.free_ && state.room_ != NumberState::kNoRoom ? 1 : 0;
    return true;
  }
  if ((phase == Phase::kInteger || phase == Phase::kZero) && byte == '.') {
    state.phase_ = Phase::kDot;
    state.room_ = 0;
    return state.need_ == 0;
  }
  if (phase == Phase::kDot || (phase == Phase::kFraction && digit)) {
    return digit && advance_fraction(state, byte);
  }
  if ((byte == 'e' || byte == 'E') && phase != Phase::kDot && phase < Phase::kExponent) {
    state.phase_ = Phase::kExponent;
    return plain_ && also.empty();
  }
  if (phase == Phase::kExponent && (byte == '+' || byte == '-')) {
    state.phase_ = Phase::kExponentSign;
    return true;
  }
  if (phase >= Phase::kExponent && digit) {
    state.fraction_ = phase == Phase::kExponentDigits ? state.fraction_ + 1 : 1;
    state.phase_ = Phase::kExponentDigits;
    return state.fraction_ <= kMaxExponentDigits;
  }
  return false;
}

// ----------------------------------------------------------------------------------- viability

bool NumberLexer::viable(const NumberState& state, Excluded also) const {
  if (plain_ && also.empty()) {
    const bool complete = state.phase_ == Phase::kZero || state.phase_ == Phase::kInteger ||
                          state.phase_ == Phase::kFraction ||
                          state.phase_ == Phase::kExponentDigits;
    return complete || state.length_ < max_bytes_;
  }
  if (state.done_) {
    return state.phase_ != Phase::kDot || state.length_ < max_bytes_;
  }
  if (state.phase_ == Phase::kMinus && also.empty()) {
    return minus_;
  }
  if (grid_ && state.counted_ == 0 && state.wide_.empty()) {
    if (const std::optional<bool> answer = viable_on_grid(state, also)) {
      return *answer;
    }
  }
  return viable_by_search(state, also);
}

std::optional<bool> NumberLexer::viable_on_grid(const NumberState& state, Excluded also) const {
  if (state.phase_ == Phase::kMinus) {
    return std::nullopt;
  }
  const bool negative = state.negative_;
  const Bounds bounds = state.free_ ? Bounds::kHold : Bounds::kAsked;
  if (bounds == Bounds::kAsked && grid_->empty(negative)) {
    return false;
  }
  if (state.phase_ == Phase::kInteger) {
    return viable_whole(state, also);
  }
  std::uint64_t digits = state.digits_;
  std::size_t fraction = state.fraction_;
  bool inside = false;  // beyond the digits of the grid with one that is not 0
  for (; fraction > grid_->base(); --fraction) {
    inside = inside || digits % 10 != 0;
    digits /= 10;
  }
  const std::size_t open = grid_->digits() - fraction;
  if (count_digits(digits) + open > kGridDigits) {
    return std::nullopt;
  }
  const Uint128 first = digits * grid_power(open);
  const Uint128 last = first + (grid_power(open) - 1);
  return inside ? grid_->has_inside(negative, first, last, bounds)
                : grid_->exists(negative, first, last, bounds, also);
}

std::optional<bool> NumberLexer::viable_whole(const NumberState& state, Excluded also) const {
  const std::size_t size = count_digits(state.digits_) + grid_->digits();
  const Bounds bounds = state.free_ ? Bounds::kHold : Bounds::kAsked;
  // Without free_ a range of further digits is not known; the bounds are asked each time.
  const std::size_t need = state.need_;
  const std::size_t room = state.free_ ? state.room_ : kMaxNumberBytes;
  const Uint128 whole = state.digits_;
  for (std::size_t more = need; more <= room; ++more) {
    if (size + more > kGridDigits) {
      return std::nullopt;
    }
    const Uint128 scale = grid_power(more + grid_->digits());
    const Uint128 first = whole * scale;
    if (grid_->exists(state.negative_, first, first + (scale - 1), bounds, also)) {
      return true;
    }
    if (bounds == Bounds::kAsked && grid_->beyond(state.negative_, first)) {
      return false;
    }
  }
  return false;
}

bool NumberLexer::viable_by_search(const NumberState& state, Excluded also) const {
  const std::size_t left = max_bytes_ - state.length_;
  const Bounds bounds = state.free_ ? Bounds::kHold : Bounds::kAsked;
  if (state.phase_ == Phase::kMinus) {
    return search_.any(true, also);
  }
  const BigNatural digits =
      state.wide_.empty() ? BigNatural(state.digits_) : BigNatural::from_digits(state.wide_);
  const std::size_t behind = left == 0 ? 0 : left - 1;  // digits after a point still to come
  if (state.phase_ != Phase::kInteger) {
    if (state.phase_ == Phase::kDot && left == 0) {
      return false;
    }
    const BigNatural scale = BigNatural::pow10(search_.digits() - state.fraction_);
    const std::size_t fraction = state.phase_ == Phase::kZero ? behind : state.fraction_ + left;
    const BigNatural first = digits * scale;
    return search_.exists(state.negative_, {first, first + scale - BigNatural(1)}, fraction, bounds,
                          also);
  }
  BigNatural scale = BigNatural::pow10(search_.digits() + state.need_);
  const std::size_t room = state.free_ ? std::min<std::size_t>(state.room_, left) : left;
  for (std::size_t more = state.need_; more <= room; ++more) {
    const BigNatural first = digits * scale;
    if (bounds == Bounds::kAsked && first > search_.half(state.negative_).high) {
      return false;
    }
    const std::size_t fraction = left - more <= 1 ? 0 : left - more - 1;
    if (search_.exists(state.negative_, {first, first + scale - BigNatural(1)}, fraction, bounds,
                       also)) {
      return true;
    }
    scale = scale * BigNatural(10);
  }
  return false;
}

// ------------------------------------------------------------------------------- canonical form

bool NumberLexer::leads_to_excluded(const NumberState& state, Excluded also) const {
  if (language_.excluded.empty() && also.empty()) {
    return false;
  }
  const DigitText text(state.digits_);
  const auto under = [&](const Decimal& value) {
    return (value.zero() || value.negative() == state.negative_) &&
           spelled_under(value, text.view(), state.fraction_, state.phase_ == Phase::kInteger);
  };
  return std::ranges::any_of(language_.excluded, under) || std::ranges::any_of(also, under);
}

bool NumberLexer::place_between_bounds(NumberState& state) const {
  const DigitText text(state.digits_);
  const std::string_view digits = text.view();
  const std::size_t size = digits.size();
  const std::size_t at = state.negative_ ? 1 : 0;
  const BoundDigits& low = low_[at];
  const BoundDigits& high = high_[at];
  std::size_t need = 0;
  std::size_t room = NumberState::kNoRoom;
  if (size <= low.whole) {
    const int order = digits.compare(std::string_view(low.digits).substr(0, size));
    if (order == 0 && size < low.lead) {
      return false;
    }
    need = low.whole - size + (order < 0 ? 1 : 0);
  }
  if (!high.unbounded) {
    if (size > high.whole) {
      return false;
    }
    const int order = digits.compare(std::string_view(high.digits).substr(0, size));
    if (order == 0 && size < high.lead) {
      return false;
    }
    if (order > 0 && size == high.whole) {
      return false;
    }
    room = high.whole - size - (order > 0 ? 1 : 0);
  }
  state.need_ = static_cast<std::uint16_t>(need);
  state.room_ = static_cast<std::uint16_t>(room);
  return need <= room;
}

void NumberLexer::canonicalize(NumberState& state, Excluded also) const {
  if (state.phase_ >= Phase::kExponent) {
    // Only a language without restrictions comes here: how it began no longer matters.
    state.negative_ = state.free_ = state.done_ = false;
    state.digits_ = state.room_ = 0;
    state.fraction_ = state.phase_ == Phase::kExponentDigits ? state.fraction_ : std::uint16_t{0};
    return;
  }
  if (state.phase_ == Phase::kMinus || !grid_ || !state.wide_.empty()) {
    return;
  }
  if (!grid_->dense() && state.phase_ >= Phase::kDot && state.fraction_ == grid_->digits()) {
    // It is a member, or would not be viable; only zeros may follow.
    state.done_ = true;
  } else if (!state.free_ && !leads_to_excluded(state, also)) {
    if (grid_->dense() && state.fraction_ > grid_->base()) {
      for (; state.fraction_ > grid_->base(); --state.fraction_) {
        state.done_ = state.done_ || state.digits_ % 10 != 0;
        state.digits_ /= 10;
      }
    }
    if (!state.done_ && grid_->modulus(0) != 0) {
      state.free_ = state.phase_ == Phase::kInteger ? place_between_bounds(state)
                                                    : range_within_bounds(state);
    }
  }
  if (state.free_ && state.phase_ >= Phase::kDot && grid_->dense() && !grid_->steps_asked()) {
    state.done_ = true;
  }
  if (state.done_) {
    state.free_ = true;
    state.digits_ = 0;
    state.fraction_ = static_cast<std::uint16_t>(grid_->base());
  }
  if (state.free_) {
    state.negative_ = false;
    state.digits_ %= state.done_ ? 1 : grid_->modulus(state.fraction_);
  } else {
    state.need_ = 0;
    state.room_ = 0;
  }
}

bool NumberLexer::range_within_bounds(const NumberState& state) const {
  const std::size_t open = grid_->digits() - state.fraction_;
  if (count_digits(state.digits_) + open > kGridDigits) {
    return false;
  }
  const Uint128 first = state.digits_ * grid_power(open);
  return grid_->within(state.negative_, first, first + (grid_power(open) - 1));
}

bool NumberLexer::accepts(const NumberState& state, std::span<const Decimal> also_excluded) const {
  const Phase phase = state.phase_;
  if (phase != Phase::kZero && phase != Phase::kInteger && phase != Phase::kFraction) {
    return phase == Phase::kExponentDigits;
  }
  if (state.done_ || (plain_ && also_excluded.empty())) {
    return true;
  }
  if (state.free_ && state.need_ > 0) {
    return false;
  }
  if (grid_ && state.wide_.empty() && state.fraction_ <= grid_->digits()) {
    const std::size_t open = grid_->digits() - state.fraction_;
    if (count_digits(state.digits_) + open <= kGridDigits) {
      return grid_->contains(state.negative_, state.digits_ * grid_power(open),
                             state.free_ ? Bounds::kHold : Bounds::kAsked, also_excluded);
    }
  }
  const Decimal value = Decimal::scaled(
      state.negative_, state.wide_.empty() ? std::to_string(state.digits_) : state.wide_,
      -static_cast<std::int64_t>(state.fraction_));
  return contains(language_, value) && !std::ranges::binary_search(also_excluded, value);
}

std::size_t NumberLexer::bytes() const {
  constexpr std::size_t kEach = 64;   // of a Decimal with its digits
  constexpr std::size_t kSize = 400;  // of a BigNatural on the grid of NumberSearch
  const std::size_t values =
      language_.multiples.size() + language_.not_multiples.size() + 2 * language_.excluded.size();
  return sizeof(*this) + 8 * kSize + values * (kEach + kSize);
}

}  // namespace daybreak::grammar
