// SPDX-License-Identifier: Apache-2.0
#include "chat/output_parser.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "chat/call_writer.h"
#include "chat/marker_header.h"
#include "tokenizer/stream_decoder.h"

namespace daybreak::chat {

class OutputParser::Machine {
 public:
  Machine(const tokenizer::Tokenizer& tokenizer, const MarkerIds& markers,
          const OutputParserOptions& options)
      : tokenizer_(tokenizer), markers_(markers), options_(options), decoder_(tokenizer) {
    switch (options.initial) {
      case Channel::kNone:
        break;
      case Channel::kThink:
        state_ = State::kThink;
        answer_may_be_here_ = true;
        break;
      case Channel::kResponse:
        state_ = State::kResponse;
        break;
    }
  }

  void begin_batch(std::vector<OutputEvent>& events) {
    events_ = &events;
    batch_ = events.size();
  }

  void push(TokenId id) {
    if (state_ == State::kDone) {
      return;
    }
    if (markers_.is_stop(id)) {
      end_header(HeaderEnd::kMarker);
      end_turn();
    } else if (id == markers_.open || id == markers_.close) {
      end_header(HeaderEnd::kMarker);
      flush_text();
      header_kind_ = id == markers_.open ? HeaderKind::kOpen : HeaderKind::kClose;
    } else if (id == markers_.sep) {
      end_header(HeaderEnd::kSep);
    } else if (header_kind_ == HeaderKind::kNone) {
      text(id);
    } else if (!tokenizer_.is_special(id)) {
      header_.push_back(id);
      if (header_.size() > options_.max_header_ids) {
        header_to_text();
      }
    }
  }

  void finish(StopCause cause) {
    end_header(HeaderEnd::kOutput);
    flush_text();
    if (state_ == State::kCall || state_ == State::kValue) {
      if (cause == StopCause::kStopToken || cause == StopCause::kStopString) {
        leave_call();
      } else if (live_) {
        std::string out;
        call_->abandon(out);
        drops_.arguments += call_->dropped();
        emit(OutputEvent::Kind::kToolArguments, out);
      }
    }
    state_ = State::kDone;
    if (!any_event_) {
      drops_.text_bytes -= rescue_.size();
      emit(OutputEvent::Kind::kContent, rescue_);
    }
  }

  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  [[nodiscard]] std::size_t reasoning_tokens() const { return reasoning_tokens_; }
  [[nodiscard]] std::size_t completed_calls() const { return completed_; }
  [[nodiscard]] const OutputDrops& drops() const { return drops_; }

 private:
  enum class State : std::uint8_t {
    kIdle,
    kThink,
    kResponse,
    kEpilogue,
    kTools,
    kCall,
    kValue,
    kDone
  };
  enum class HeaderKind : std::uint8_t { kNone, kOpen, kClose };
  enum class HeaderEnd : std::uint8_t { kSep, kMarker, kOutput };  // what came after a header

  [[nodiscard]] bool in_call() const { return state_ == State::kCall || state_ == State::kValue; }
  [[nodiscard]] bool in_tools() const { return state_ == State::kTools || in_call(); }

  // ---- text

  void text(TokenId id) {
    if (state_ == State::kThink) {
      ++reasoning_tokens_;
    }
    if (tokenizer_.is_special(id)) {
      return;  // steers the model, is never text
    }
    std::string piece;
    decoder_.push(id, piece);
    route(piece);
  }

  void flush_text() {
    std::string piece;
    decoder_.finish(piece);
    route(piece);
  }

  void route(std::string_view piece) {
    switch (state_) {
      case State::kThink:
        keep_for_repeat(piece);
        emit(OutputEvent::Kind::kReasoning, piece);
        return;
      case State::kIdle:
      case State::kResponse:
        emit(OutputEvent::Kind::kContent, piece);
        return;
      case State::kValue:
        if (live_) {
          std::string out;
          call_->text(piece, out);
          emit(OutputEvent::Kind::kToolArguments, out);
        }
        return;
      case State::kEpilogue:
      case State::kTools:
      case State::kCall:
        drop(piece);
        return;
      case State::kDone:
        return;
    }
  }

  void drop(std::string_view piece) {
    drops_.text_bytes += piece.size();
    const bool suppressed = in_tools() && !options_.tools_allowed;
    if (!suppressed && !any_event_) {
      append_bounded(rescue_, piece, options_.max_rescue_bytes, rescue_full_);
    }
  }

  void keep_for_repeat(std::string_view piece) {
    if (answer_may_be_here_) {
      append_bounded(repeat_, piece, options_.max_repeat_bytes, repeat_full_);
    }
  }

  // Appends whole pieces only, so that no character is cut, and nothing after the first that does
  // not fit, so that there is no gap.
  static void append_bounded(std::string& to, std::string_view piece, std::size_t max, bool& full) {
    full = full || to.size() + piece.size() > max;
    if (!full) {
      to += piece;
    }
  }

  void emit(OutputEvent::Kind kind, std::string_view piece) {
    if (piece.empty()) {
      return;
    }
    any_event_ = true;
    const std::size_t index = kind == OutputEvent::Kind::kToolArguments ? calls_ - 1 : 0;
    if (events_->size() > batch_ && events_->back().kind == kind &&
        events_->back().index == index) {
      events_->back().text += piece;
      return;
    }
    events_->push_back({kind, std::string(piece), {}, index});
  }

  // ---- headers

  void end_header(HeaderEnd end) {
    const HeaderKind kind = std::exchange(header_kind_, HeaderKind::kNone);
    if (kind == HeaderKind::kNone) {
      return;
    }
    const MarkerHeader header = parse_marker_header(tokenizer_.decode(header_));
    if (applies(header, kind, end)) {
      header_.clear();
      kind == HeaderKind::kOpen ? open(header) : close(header.element);
    } else if (header.form != MarkerHeader::Form::kBroken && end != HeaderEnd::kSep) {
      header_.clear();  // half a marker
    } else {
      header_to_text();
    }
  }

  // An element is taken from a whole header. A call and its parts are taken from a broken one as
  // well: they are then left out, instead of their values becoming text.
  static bool applies(const MarkerHeader& header, HeaderKind kind, HeaderEnd end) {
    if (header.form == MarkerHeader::Form::kWhole) {
      return end != HeaderEnd::kOutput || kind == HeaderKind::kClose;
    }
    return end == HeaderEnd::kSep && kind == HeaderKind::kOpen &&
           (header.element == Element::kCall || header.element == Element::kArgument ||
            header.element == Element::kJson || header.element == Element::kMessage);
  }

  void header_to_text() {
    header_kind_ = HeaderKind::kNone;
    for (const TokenId id : std::exchange(header_, {})) {
      text(id);
    }
  }

  // ---- elements

  void open(const MarkerHeader& header) {
    switch (header.element) {
      case Element::kUnknown:
        return;
      case Element::kThink:
        if (state_ != State::kThink) {
          enter(State::kThink);
        }
        return;
      case Element::kResponse:
        enter(State::kResponse);
        return;
      case Element::kTools:
        enter(State::kTools);
        return;
      case Element::kMessage:
        // A message of the assistant goes on with this one; any other role means that the turn is
        // over and the model is writing somebody else's.
        header.attribute("role").empty() || header.attribute("role") == "assistant"
            ? enter(State::kIdle)
            : end_turn();
        return;
      case Element::kCall:
        enter(State::kCall);
        begin_call(header);
        return;
      case Element::kArgument:
      case Element::kJson:
        open_value(header);
        return;
    }
  }

  void close(Element element) {
    switch (element) {
      case Element::kUnknown:
        return;
      case Element::kThink:
        if (state_ == State::kThink) {
          enter(State::kIdle);
        }
        return;
      case Element::kResponse:
        if (!in_tools()) {
          repeat_answer();
          enter(State::kEpilogue);
        }
        return;
      case Element::kTools:
        if (in_tools()) {
          enter(State::kEpilogue);
        }
        return;
      case Element::kMessage:
        repeat_answer();
        end_turn();
        return;
      case Element::kCall:
        if (in_call()) {
          enter(State::kTools);
        }
        return;
      case Element::kArgument:
      case Element::kJson:
        close_value();
        return;
    }
  }

  // Goes to `next`, which lies outside any call that is open.
  void enter(State next) {
    flush_text();
    leave_call();
    state_ = next;
    answer_may_be_here_ = false;
    repeat_ = {};
  }

  void end_turn() { enter(State::kDone); }

  // The model answered in the think channel that the prompt had opened.
  void repeat_answer() {
    if (state_ == State::kThink && answer_may_be_here_) {
      flush_text();
      emit(OutputEvent::Kind::kContent, repeat_);
      drops_.answer_cut = repeat_full_;
    }
  }

  // ---- calls

  void begin_call(const MarkerHeader& header) {
    const std::string_view name = header.attribute("tool");
    live_ = options_.tools_allowed && !name.empty() && name.size() <= options_.max_name_bytes &&
            calls_ < options_.max_calls;
    if (!live_) {
      ++drops_.calls;
      return;
    }
    call_.emplace(CallWriterLimits{options_.max_arguments, options_.max_value_bytes});
    any_event_ = true;
    events_->push_back({OutputEvent::Kind::kToolCallBegin, {}, std::string(name), calls_++});
  }

  void open_value(const MarkerHeader& header) {
    if (!in_call()) {
      return;
    }
    flush_text();
    state_ = State::kValue;
    if (!live_) {
      return;
    }
    std::string out;
    if (header.element == Element::kJson) {
      call_->open_json(out);
    } else if (!header.has("key")) {
      call_->open_ignored(out);
    } else {
      call_->open_argument(header.attribute("key"), header.attribute("type"), out);
    }
    emit(OutputEvent::Kind::kToolArguments, out);
  }

  void close_value() {
    if (state_ != State::kValue) {
      return;
    }
    flush_text();
    state_ = State::kCall;
    if (live_) {
      std::string out;
      call_->close_value(out);
      emit(OutputEvent::Kind::kToolArguments, out);
    }
  }

  void leave_call() {
    if (!in_call()) {
      return;
    }
    state_ = State::kTools;
    if (!std::exchange(live_, false)) {
      return;
    }
    std::string out;
    call_->close(out);
    emit(OutputEvent::Kind::kToolArguments, out);
    drops_.arguments += call_->dropped();
    call_.reset();
    events_->push_back({OutputEvent::Kind::kToolCallEnd, {}, {}, calls_ - 1});
    ++completed_;
  }

  const tokenizer::Tokenizer& tokenizer_;
  MarkerIds markers_;
  OutputParserOptions options_;
  tokenizer::StreamDecoder decoder_;

  State state_ = State::kIdle;
  HeaderKind header_kind_ = HeaderKind::kNone;
  std::vector<TokenId> header_;

  bool answer_may_be_here_ = false;  // still in the think channel the prompt opened
  std::string repeat_;               // its text
  bool repeat_full_ = false;

  std::optional<CallWriter> call_;
  bool live_ = false;  // the open call is told to the client
  std::size_t calls_ = 0;
  std::size_t completed_ = 0;

  bool any_event_ = false;
  std::string rescue_;  // dropped text, while there is no event
  bool rescue_full_ = false;
  std::size_t reasoning_tokens_ = 0;
  OutputDrops drops_;

  std::vector<OutputEvent>* events_ = nullptr;  // of the running call
  std::size_t batch_ = 0;                       // where its events begin
};

OutputParser::OutputParser(const tokenizer::Tokenizer& tokenizer, const MarkerIds& markers,
                           const OutputParserOptions& options)
    : machine_(std::make_unique<Machine>(tokenizer, markers, options)) {}
OutputParser::~OutputParser() = default;
OutputParser::OutputParser(OutputParser&&) noexcept = default;
OutputParser& OutputParser::operator=(OutputParser&&) noexcept = default;

void OutputParser::push(std::span<const TokenId> ids, std::vector<OutputEvent>& events) {
  machine_->begin_batch(events);
  for (const TokenId id : ids) {
    machine_->push(id);
  }
}

void OutputParser::finish(StopCause cause, std::vector<OutputEvent>& events) {
  machine_->begin_batch(events);
  machine_->finish(cause);
}

bool OutputParser::done() const { return machine_->done(); }
std::size_t OutputParser::reasoning_tokens() const { return machine_->reasoning_tokens(); }
std::size_t OutputParser::completed_calls() const { return machine_->completed_calls(); }
const OutputDrops& OutputParser::drops() const { return machine_->drops(); }

}  // namespace daybreak::chat
