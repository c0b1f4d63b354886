#include "lagtape/core/json_reader.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace lagtape {
namespace {

// ---- Words for messages
// ---------------------------------------------------------------------------------------------

std::string shortened(std::string text, std::size_t length) {
  return text.size() <= length ? text : text.substr(0, length) + "...";
}

std::string describe(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  return shortened(value.dump(-1, ' ', true), 60);
}

std::string describe(const std::string& type, const Range& range) {
  const auto number = [](double x) { return concat(std::setprecision(16), x); };
  std::string text = type;
  if (std::isfinite(range.min)) text += (range.above_min ? " > " : " >= ") + number(range.min);
  if (std::isfinite(range.max)) text += (std::isfinite(range.min) ? " and <= " : " <= ") + number(range.max);
  return text;
}

// ---- Conversions: nothing when the value is of another type or out of range
// -----------------------------------------

bool within(const Range& range, double x) {
  return x <= range.max && (range.above_min ? x > range.min : x >= range.min);
}

std::optional<std::int64_t> to_integer(const Json& value, const Range& range) {
  constexpr double kLargestExact = 0x1p53;  // beyond it, 3.0 and its neighbours are not told apart
  std::int64_t integer = 0;
  if (value.is_number_unsigned()) {
    if (!std::in_range<std::int64_t>(value.get<std::uint64_t>())) return {};
    integer = value.get<std::int64_t>();
  } else if (value.is_number_integer()) {
    integer = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::abs(number) > kLargestExact || number != std::trunc(number)) return {};
    integer = static_cast<std::int64_t>(number);
  } else {
    return {};
  }
  if (!within(range, static_cast<double>(integer))) return {};
  return integer;
}

std::optional<double> to_number(const Json& value, const Range& range) {
  if (!value.is_number() || !within(range, value.get<double>())) return {};
  return value.get<double>();
}

std::optional<bool> to_boolean(const Json& value) {
  if (!value.is_boolean()) return {};
  return value.get<bool>();
}

std::optional<std::string> to_text(const Json& value) {
  if (!value.is_string()) return {};
  return value.get<std::string>();
}

// ---- Parsing
// --------------------------------------------------------------------------------------------------------

/// Characters that note how far they were read, so that an event of the parser has a place.
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

/// Walks through a text and finds what is wrong with it.
class Checker : public nlohmann::json_sax<Json> {
 public:
  explicit Checker(const std::string& text) : text_(text), furthest_(text.data()) {}

  bool passes() {
    const Cursor first{text_.data(), &furthest_}, last{text_.data() + text_.size(), &furthest_};
    return Json::sax_parse(first, last, this);
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
    return fail(offset_of_string_before(furthest_), concat("key '", shortened(key, 60), "' occurs twice"));
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..."
    std::string_view reason = error.what();
    reason.remove_prefix(std::min(reason.find("] ") + 2, reason.size()));
    if (reason.starts_with("parse error"))
      reason.remove_prefix(std::min(reason.find(": ") + 2, reason.size()));
    return fail(position > 0 ? position - 1 : 0, shortened(std::string(reason), 200));
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
    message_ = concat("line ", line, ", column ", column + 1, ": ", reason);
    return false;
  }

  const std::string& text_;
  const char* furthest_;
  std::vector<std::set<std::string>> keys_;  ///< of the objects that are open; empty for an array
  std::string message_;
};

}  // namespace

Json parse_json(const std::string& text, const std::string& where) {
  Checker checker(text);
  if (!checker.passes()) throw InputError(concat(where, ": ", checker.message()));
  return Json::parse(text);
}

// ---- JsonErrors
// -----------------------------------------------------------------------------------------------------

void JsonErrors::add(const std::string& pointer, const std::string& message) {
  messages_.push_back(pointer.empty() ? message : concat(pointer, ": ", message));
}

void JsonErrors::raise(const std::string& where) const {
  std::string text;
  for (const std::string& message : messages_) text += concat(text.empty() ? "" : "\n", where, ": ", message);
  if (!text.empty()) throw InputError(text);
}

// ---- JsonReader
// -----------------------------------------------------------------------------------------------------

JsonReader::JsonReader(const Json& value, std::string pointer, JsonErrors& errors)
    : value_(value), pointer_(std::move(pointer)), errors_(errors), object_(value.is_object()) {
  if (!object_) error("", concat("expected an object, got ", describe(value)));
}

const Json* JsonReader::find(const std::string& key) const {
  if (!object_) return nullptr;
  const auto found = value_.find(key);
  return found == value_.end() ? nullptr : &*found;
}

template <class T, class Convert>
void JsonReader::read(const std::string& key, T& value, bool required, const std::string& type,
                      const std::string& about, const Convert& convert) {
  docs_.push_back({key, type, required ? "" : Json(value).dump(), about});
  if (const Json* found = find(key)) {
    if (const auto converted = convert(*found)) {
      value = *converted;
    } else {
      error(key, concat("expected ", type, ", got ", describe(*found)));
    }
  } else if (required && object_) {
    error(key, concat("is missing, expected ", type));
  }
  filled_[key] = value;
}

void JsonReader::read_choice(const std::string& key, std::string& value, bool required,
                             const std::vector<std::string>& known, const std::string& about) {
  std::string type;
  for (const std::string& name : known) type += concat(type.empty() ? "" : " | ", '"', name, '"');
  const Json* found = find(key);
  if (found && found->is_string() && std::ranges::find(known, found->get<std::string>()) == known.end()) {
    docs_.push_back({key, type, required ? "" : Json(value).dump(), about});
    error(key, unknown_name("value", found->get<std::string>(), known));
    filled_[key] = value;
  } else {
    read(key, value, required, type, about, to_text);
  }
}

void JsonReader::optional(const std::string& key, std::int64_t& value, Range range,
                          const std::string& about) {
  read(key, value, false, describe("integer", range), about,
       [&](const Json& json) { return to_integer(json, range); });
}

void JsonReader::optional(const std::string& key, double& value, Range range, const std::string& about) {
  read(key, value, false, describe("number", range), about,
       [&](const Json& json) { return to_number(json, range); });
}

void JsonReader::optional(const std::string& key, bool& value, const std::string& about) {
  read(key, value, false, "boolean", about, to_boolean);
}

void JsonReader::optional(const std::string& key, std::string& value, const std::string& about) {
  read(key, value, false, "string", about, to_text);
}

void JsonReader::choice(const std::string& key, std::string& value, const std::vector<std::string>& known,
                        const std::string& about) {
  read_choice(key, value, false, known, about);
}

void JsonReader::required(const std::string& key, std::int64_t& value, Range range,
                          const std::string& about) {
  read(key, value, true, describe("integer", range), about,
       [&](const Json& json) { return to_integer(json, range); });
}

void JsonReader::required(const std::string& key, double& value, Range range, const std::string& about) {
  read(key, value, true, describe("number", range), about,
       [&](const Json& json) { return to_number(json, range); });
}

void JsonReader::required(const std::string& key, std::string& value, const std::string& about) {
  read(key, value, true, "string", about, to_text);
}

void JsonReader::required_choice(const std::string& key, std::string& value,
                                 const std::vector<std::string>& known, const std::string& about) {
  read_choice(key, value, true, known, about);
}

bool JsonReader::has(const std::string& key) const { return find(key) != nullptr; }

const Json& JsonReader::raw(const std::string& key, const std::string& about) {
  static const Json kNull;
  docs_.push_back({key, "value", "null", about});
  const Json* found = find(key);
  if (!found) return kNull;
  filled_[key] = *found;
  return *found;
}

void JsonReader::fill(const std::string& key, Json value) { filled_[key] = std::move(value); }

void JsonReader::error(const std::string& key, const std::string& message) {
  errors_.add(key.empty() ? pointer_ : pointer_to(key), message);
}

std::string JsonReader::pointer_to(const std::string& key) const {
  std::string pointer = pointer_ + "/";
  for (char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

void JsonReader::finish() {
  if (!object_) return;
  std::vector<std::string> known;
  for (const OptionDoc& doc : docs_) known.push_back(doc.key);
  for (const auto& [key, value] : value_.items()) {
    const bool schema = pointer_.empty() && key == "$schema";
    if (!schema && std::ranges::find(known, key) == known.end()) error(key, unknown_name("key", key, known));
  }
}

}  // namespace lagtape
