#include "lagtape/core/json/json_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

// ---- Words for messages -----------------------------------------------------------------------------------

std::string describe(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string() && !is_utf8(value.get<std::string>())) return quote(value.get<std::string>());
  return shortened(value.dump(-1, ' ', true));
}

// ---- Conversions: nothing when the value is of another type -----------------------------------------------

void convert(const Json& value, std::optional<std::int64_t>& integer) {
  constexpr double kLargestExact = 0x1p53;  // beyond it, 3.0 and its neighbours are not told apart
  if (value.is_number_unsigned()) {
    if (std::in_range<std::int64_t>(value.get<std::uint64_t>())) integer = value.get<std::int64_t>();
  } else if (value.is_number_integer()) {
    integer = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::abs(number) <= kLargestExact && number == std::trunc(number))
      integer = static_cast<std::int64_t>(number);
  }
}

void convert(const Json& value, std::optional<double>& number) {
  if (value.is_number()) number = value.get<double>();
}

void convert(const Json& value, std::optional<bool>& boolean) {
  if (value.is_boolean()) boolean = value.get<bool>();
}

void convert(const Json& value, std::optional<std::string>& text) {
  if (value.is_string()) text = value.get<std::string>();
}

template <class T>
bool within(const Range& range, const T& x) {
  if constexpr (std::is_same_v<T, std::string>)
    return true;
  else {
    const auto number = static_cast<double>(x);
    return (range.below_max ? number < range.max : number <= range.max) &&
           (range.above_min ? number > range.min : number >= range.min);
  }
}

}  // namespace

// ---- JsonErrors -------------------------------------------------------------------------------------------

void JsonErrors::add(const std::string& pointer, const Problem& problem) {
  if (is_full()) {
    ++more_;
  } else {
    problems_.push_back(problem.within({.pointer = pointer}));
  }
}

void JsonErrors::add(const std::string& pointer, const InputError& error) {
  for (const Problem& problem : error.problems()) add(pointer, problem);
}

Problem JsonErrors::unknown(std::string_view kind, const std::string& name,
                            const std::vector<std::string>& known, const std::string& pointer) const {
  const auto found = std::ranges::find(synonyms_, name, &Synonym::word);
  if (found == synonyms_.end()) return unknown_name(kind, name, known);
  std::string place(found->place);
  if (const std::size_t any = place.find('*'); any != place.npos) {
    // The index of the list in which the word stands, if it is in one of that name.
    const bool is_inside = pointer.starts_with(std::string_view(place).substr(0, any));
    place.replace(any, 1, is_inside ? pointer.substr(any, pointer.find('/', any) - any) : "0");
  }
  return {.rule = Rule::unknown_name,
          .statement = std::string(kind),
          .found = name,
          .hint = std::string(found->hint),
          .nearest = place};
}

void JsonErrors::raise(const std::string& where) const {
  if (empty()) return;
  std::vector<Problem> all = problems_;
  if (more_ > 0) all.push_back({.statement = text_of("and ", more_, " more errors")});
  throw InputError(std::move(all)).within({where});
}

// ---- JsonReader -------------------------------------------------------------------------------------------

JsonReader::JsonReader(const Json& value, std::string pointer, JsonErrors& errors)
    : value_(value), pointer_(std::move(pointer)), errors_(errors), object_(value.is_object()) {
  if (!object_)
    error("", Problem{.rule = Rule::wrong_type, .found = describe(value), .expected = "an object"});
}

const Json* JsonReader::find(const std::string& key) const {
  if (!object_) return nullptr;
  const auto found = value_.find(key);
  return found == value_.end() ? nullptr : &*found;
}

template <class T>
void JsonReader::read(const std::string& key, T& value, bool required, const Json& schema,
                      const std::string& about, const Range& range) {
  if (!is_documented(key)) document({key, schema, required ? "" : Json(value).dump(), about});
  if (const Json* found = find(key)) {
    std::optional<T> converted;
    convert(*found, converted);
    if (converted && within(range, *converted)) {
      value = *converted;
    } else {
      const Rule rule = converted ? Rule::out_of_range : Rule::wrong_type;
      error(key, Problem{.rule = rule, .found = describe(*found), .expected = type_words(schema)});
    }
  } else if (required && object_) {
    error(key, Problem{.rule = Rule::missing, .expected = type_words(schema)});
  }
  filled_[key] = value;
}

void JsonReader::read_choice(const std::string& key, std::string& value, bool required,
                             const std::vector<std::string>& known, const std::string& about) {
  const Json schema = {{"enum", known}};
  const Json* found = find(key);
  if (found && found->is_string() && std::ranges::find(known, found->get<std::string>()) == known.end()) {
    if (!is_documented(key)) document({key, schema, required ? "" : Json(value).dump(), about});
    error(key, errors_.unknown("value", found->get<std::string>(), known, pointer_to(key)));
    filled_[key] = value;
  } else {
    read(key, value, required, schema, about);
  }
}

void JsonReader::optional(const std::string& key, std::int64_t& value, Range range,
                          const std::string& about) {
  read(key, value, false, integer_schema(range), about, range);
}

void JsonReader::optional(const std::string& key, double& value, Range range, const std::string& about) {
  read(key, value, false, number_schema(range), about, range);
}

void JsonReader::optional(const std::string& key, bool& value, const std::string& about) {
  read(key, value, false, {{"type", "boolean"}}, about);
}

void JsonReader::optional(const std::string& key, std::string& value, const std::string& about) {
  read(key, value, false, {{"type", "string"}}, about);
}

void JsonReader::choice(const std::string& key, std::string& value, const std::vector<std::string>& known,
                        const std::string& about) {
  read_choice(key, value, false, known, about);
}

void JsonReader::required(const std::string& key, std::int64_t& value, Range range,
                          const std::string& about) {
  read(key, value, true, integer_schema(range), about, range);
}

void JsonReader::required(const std::string& key, double& value, Range range, const std::string& about) {
  read(key, value, true, number_schema(range), about, range);
}

void JsonReader::required(const std::string& key, std::string& value, const std::string& about) {
  read(key, value, true, {{"type", "string"}}, about);
}

void JsonReader::required_choice(const std::string& key, std::string& value,
                                 const std::vector<std::string>& known, const std::string& about) {
  read_choice(key, value, true, known, about);
}

bool JsonReader::has(const std::string& key) const { return find(key) != nullptr; }

const Json& JsonReader::raw(const std::string& key, const std::string& about) {
  static const Json kNull;
  if (!is_documented(key)) document({key, Json::object(), "null", about});
  const Json* found = find(key);
  if (!found) return kNull;
  filled_[key] = *found;
  return *found;
}

void JsonReader::fill(const std::string& key, Json value) { filled_[key] = std::move(value); }

void JsonReader::error(const std::string& key, const Problem& problem) {
  errors_.add(key.empty() ? pointer_ : pointer_to(key), problem);
}

std::string JsonReader::pointer_to(const std::string& key) const { return pointer_ + pointer_part(key); }

std::string JsonReader::place_below(const std::string& key) const {
  for (const auto& [name, section] : filled_.items())
    if (section.is_object() && section.contains(key)) return text_of(pointer_to(name), "/", key);
  return "";
}

void JsonReader::finish() {
  if (!object_) return;
  std::vector<std::string> known;
  for (const OptionDoc& doc : docs_) known.push_back(doc.key);
  for (const auto& [key, value] : value_.items()) {
    const bool schema = pointer_.empty() && key == "$schema";
    if (schema || std::ranges::find(known, key) != known.end()) continue;
    if (errors_.is_full()) {
      error(key, "");
    } else if (const std::string below = place_below(key); !below.empty()) {
      error(key, Problem{.rule = Rule::unknown_name, .statement = "key", .found = key, .nearest = below});
    } else {
      error(key, errors_.unknown("key", key, known, pointer_to(key)));
    }
  }
}

}  // namespace lagtape
