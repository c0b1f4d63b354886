#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/file_kind.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/json/json_slips.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

/// Characters that record how far they were read, so that every event of the parser has a position.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** furthest;

  reference operator*() const { return *at; }
  Cursor& operator++() {
    *furthest = ++at;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& other) const { return at == other.at; }
};

/// Builds a value from what the parser finds, in time linear in the text's length, or reports where the text is
/// wrong.
class Builder : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  explicit Builder(std::string_view text) : text_(text), furthest_(text.data()) {}

  bool parse() {
    const PlainArithmetic plain;
    const Cursor first{text_.data(), &furthest_}, last{text_.data() + text_.size(), &furthest_};
    // To the parser a NUL byte is the end of the text.
    return nlohmann::ordered_json::sax_parse(first, last, this) &&
           (text_.find('\0') == text_.npos ||
            fail(text_.find('\0'), "a NUL byte, expected the end of the text"));
  }
  Json take() { return std::move(root_); }
  const Problem& problem() const { return problem_; }  ///< the syntax error, with its line and column

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (open_.back().value.contains(key))
      return fail(offset_of_string_before(furthest_), text_of("key ", quote(key), " occurs twice"));
    open_.back().key = std::move(key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..."
    std::string_view reason = error.what();
    reason.remove_prefix(std::min(reason.find("] ") + 2, reason.size()));
    if (reason.starts_with("parse error"))
      reason.remove_prefix(std::min(reason.find(": ") + 2, reason.size()));
    // The message quotes the text, which may be anything.
    const std::size_t at = position > 0 ? position - 1 : 0;
    fail(at, shortened(reason, 200));
    problem_.hint = slip_in_json(text_, at, reason.ends_with("expected ':'"));
    return false;
  }

 private:
  /// Values are copied, compared, and written by recursive functions: deeper ones would exhaust the stack.
  static constexpr std::size_t kDeepest = 100;

  /// An array or object that has not ended.
  struct Level {
    Json value;
    std::string key;  ///< the key of the next value of an object
  };

  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Level& level = open_.back(); level.value.is_object()) {
      level.value.append(level.key, std::move(value));
    } else {
      level.value.push_back(std::move(value));
    }
    return true;
  }
  bool open(Json value) {
    open_.push_back({std::move(value), {}});
    return open_.size() <= kDeepest || fail(furthest_ - text_.data() - 1, "nested too deeply");
  }
  bool close() {
    Json done = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(done));
  }

  std::size_t offset_of_string_before(const char* end) const {
    const auto escaped = [&](std::size_t i) {
      std::size_t backslashes = 0;
      while (backslashes < i && text_[i - 1 - backslashes] == '\\') ++backslashes;
      return backslashes % 2 == 1;
    };
    std::size_t quote = end - text_.data() - 1;
    do --quote;
    while (quote > 0 && (text_[quote] != '"' || escaped(quote)));
    return quote;
  }

  bool fail(std::size_t offset, const std::string& reason) {
    const std::string_view before = text_.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto line = std::ranges::count(before, '\n') + 1;
    const auto column = std::ranges::count_if(before.substr(line_start), [](unsigned char c) {
      return (c & 0xC0) != 0x80;  // a character of several bytes is one column
    });
    problem_ = {.place = {.line = line, .column = column + 1}, .rule = Rule::syntax, .statement = reason};
    return false;
  }

  std::string_view text_;
  const char* furthest_;
  std::vector<Level> open_;  ///< from the outermost in
  Json root_;
  Problem problem_;
};

}  // namespace

Json Json::parse(std::string_view text) {
  Builder builder(text);
  if (!builder.parse()) throw exception(builder.problem());
  return builder.take();
}

bool Json::accept(std::string_view text) { return Builder(text).parse(); }

Json parse_json(const std::string& text, const std::string& where) {
  Builder builder(text);
  if (builder.parse()) return builder.take();
  const std::string kind = seeming_kind(text);
  if (!kind.empty()) throw InputError({where}, Rule::wrong_type, "expected JSON" + kind);
  throw InputError(builder.problem()).within({where});
}

}  // namespace lagtape
