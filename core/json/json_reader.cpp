#include "lagtape/core/json/json_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>
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

// ---- Conversions: the rule that a value breaks, if it breaks one ------------------------------------------

using Broken = std::optional<Rule>;

Broken outside(const Range& range, double x) {
  const bool fits = (range.below_max ? x < range.max : x <= range.max) &&
                    (range.above_min ? x > range.min : x >= range.min);
  return fits ? Broken() : Rule::out_of_range;
}

Broken convert(const Json& value, const Expected& expected, std::int64_t& integer) {
  constexpr double kLargestExact = 0x1p53;  // beyond it, 3.0 and its neighbors are not told apart
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::abs(number) > kLargestExact || number != std::trunc(number)) return Rule::wrong_type;
    integer = static_cast<std::int64_t>(number);
  } else {
    if (!value.is_number()) return Rule::wrong_type;
    if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>()))
      return Rule::wrong_type;
    integer = value.get<std::int64_t>();
  }
  return outside(expected.range, static_cast<double>(integer));
}

Broken convert(const Json& value, const Expected& expected, double& number) {
  if (!value.is_number()) return Rule::wrong_type;
  number = value.get<double>();
  return outside(expected.range, number);
}

Broken convert(const Json& value, const Expected&, bool& boolean) {
  if (!value.is_boolean()) return Rule::wrong_type;
  boolean = value.get<bool>();
  return {};
}

Broken convert(const Json& value, const Expected&, std::string& text) {
  if (!value.is_string()) return Rule::wrong_type;
  text = value.get<std::string>();
  return {};
}

template <class T>
Broken convert(const Json& value, const Expected& expected, std::vector<T>& list) {
  if (!value.is_array()) return Rule::wrong_type;
  if (value.size() < expected.least) return Rule::out_of_range;
  for (const Json& element : value)
    if (const Broken rule = convert(element, expected, list.emplace_back())) return rule;
  return {};
}

// ---- Texts --------------------------------------------------------------------------------------------------

template <class T>
std::string words_of(Expected expected) {
  if (!kIsList<T>) return type_words(schema_of<T>(expected));
  expected.is_required = true;
  return "a " + type_words(schema_of<T>(expected), true);
}

/// Whether all texts are among the known ones, if any are listed. Notes an error for each that is not.
template <class T>
bool is_known(JsonErrors& errors, const std::string& pointer, const std::vector<std::string>& known,
              const T& value) {
  bool all_known = true;
  if constexpr (kIsList<T>) {
    for (std::size_t i = 0; i < value.size(); ++i)
      all_known = is_known(errors, text_of(pointer, "/", i), known, value[i]) && all_known;
  } else if constexpr (std::same_as<T, std::string>) {
    all_known = known.empty() || std::ranges::find(known, value) != known.end();
    if (!all_known) errors.add(pointer, errors.unknown("value", value, known, pointer));
  }
  return all_known;
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
    // Where the word is inside that list, * becomes the index of its element.
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
void JsonReader::read(const std::string& key, T& value, const Expected& expected, const std::string& about) {
  if (!is_documented(key))
    document({key, schema_of<T>(expected), expected.is_required ? "" : Json(value).dump(), about});
  const Json* found = find(key);
  const bool is_left_out = found == nullptr || (kIsList<T> && found->is_null() && !expected.is_required);
  T given = {};
  if (is_left_out) {
    if (expected.is_required && object_)
      error(key, Problem{.rule = Rule::missing, .expected = words_of<T>(expected)});
  } else if (Broken rule = convert(*found, expected, given)) {
    error(key, Problem{.rule = *rule,
                       .found = kIsList<T> ? shortened(found->dump(-1, ' ', true)) : describe(*found),
                       .expected = words_of<T>(expected)});
  } else if (is_known(errors_, pointer_to(key), expected.known, given)) {
    value = std::move(given);
  }
  filled_[key] = value;
}

template void JsonReader::read(const std::string&, std::int64_t&, const Expected&, const std::string&);
template void JsonReader::read(const std::string&, double&, const Expected&, const std::string&);
template void JsonReader::read(const std::string&, bool&, const Expected&, const std::string&);
template void JsonReader::read(const std::string&, std::string&, const Expected&, const std::string&);
template void JsonReader::read(const std::string&, std::vector<std::int64_t>&, const Expected&,
                               const std::string&);
template void JsonReader::read(const std::string&, std::vector<double>&, const Expected&, const std::string&);
template void JsonReader::read(const std::string&, std::vector<std::string>&, const Expected&,
                               const std::string&);

bool JsonReader::has(const std::string& key) const { return find(key) != nullptr; }

const Json& JsonReader::raw(const std::string& key, const std::string& about) {
  static const Json kNull;
  if (std::ranges::find(docs_, key, &OptionDoc::key) == docs_.end())
    document({key, Json::object(), "null", about});
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

std::vector<OptionDoc> documented(const std::function<void(JsonReader&)>& read, const Json& given) {
  JsonErrors errors;
  JsonReader reader(given, "", errors);
  read(reader);
  return reader.documentation();
}

}  // namespace lagtape
