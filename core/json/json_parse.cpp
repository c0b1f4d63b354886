#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "lagtape/core/io/file_kind.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

/// Characters that note how far they were read, so that every event of the parser has a position.
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

/// Walks through a text and finds its errors.
class Checker : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  explicit Checker(const std::string& text) : text_(text), furthest_(text.data()) {}

  bool passes() {
    const Cursor first{text_.data(), &furthest_}, last{text_.data() + text_.size(), &furthest_};
    // To the parser a NUL byte is the end of the text.
    return nlohmann::ordered_json::sax_parse(first, last, this) &&
           (text_.find('\0') == text_.npos ||
            fail(text_.find('\0'), "a NUL byte, expected the end of the text"));
  }
  const std::string& message() const { return message_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }

  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (keys_.back().insert(key).second) return true;
    return fail(offset_of_string_before(furthest_), text_of("key ", quote(key), " occurs twice"));
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..."
    std::string_view reason = error.what();
    reason.remove_prefix(std::min(reason.find("] ") + 2, reason.size()));
    if (reason.starts_with("parse error"))
      reason.remove_prefix(std::min(reason.find(": ") + 2, reason.size()));
    // The message quotes the text, which may be anything.
    return fail(position > 0 ? position - 1 : 0, shortened(reason, 200));
  }

 private:
  static constexpr std::size_t kDeepest = 100;

  bool open() {
    keys_.emplace_back();
    return keys_.size() <= kDeepest || fail(furthest_ - text_.data() - 1, "nested too deeply");
  }
  bool close() {
    keys_.pop_back();
    return true;
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
    const std::string_view before = std::string_view(text_).substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto line = std::ranges::count(before, '\n') + 1;
    const auto column = std::ranges::count_if(before.substr(line_start), [](unsigned char c) {
      return (c & 0xC0) != 0x80;  // a character of several bytes is one column
    });
    message_ = text_of("line ", line, ", column ", column + 1, ": ", reason);
    return false;
  }

  const std::string& text_;
  const char* furthest_;
  std::vector<std::set<std::string>> keys_;  ///< the keys of each open object; empty for an array
  std::string message_;
};

}  // namespace

Json parse_json(const std::string& text, const std::string& where) {
  Checker checker(text);
  if (!checker.passes()) {
    const std::string kind = seeming_kind(text);
    throw InputError(text_of(where, ": ", kind.empty() ? checker.message() : "expected JSON" + kind));
  }
  return Json::parse(text);
}

}  // namespace lagtape
