#include "lagtape/core/json/options.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

std::string key_of(const Option& option) { return std::string(option.key); }
std::string about(const Option& option) { return std::string(option.about); }

// ---- Numbers, booleans and texts --------------------------------------------------------------------------

template <class T>
void read_number(JsonReader& reader, const Option& option, T& value) {
  if (option.is_required || (option.is_open && reader.has(key_of(option)))) {
    reader.required(key_of(option), value, option.range, about(option));
  } else if (!option.is_open) {
    reader.optional(key_of(option), value, option.range, about(option));
  }
}

void read_boolean(JsonReader& reader, const Option& option, bool& value) {
  reader.optional(key_of(option), value, about(option));
}

void read_text(JsonReader& reader, const Option& option, std::string& value) {
  const std::string key = key_of(option);
  const bool is_needed = option.is_required || (option.is_open && reader.has(key));
  if (option.is_open && !is_needed) return;
  if (option.choices.size() > 0 && is_needed) {
    reader.required_choice(key, value, option.choices.names(), about(option));
  } else if (option.choices.size() > 0) {
    reader.choice(key, value, option.choices.names(), about(option));
  } else if (is_needed) {
    reader.required(key, value, about(option));
  } else {
    reader.optional(key, value, about(option));
  }
}

Json name_of_value(const Option& option, const void* value) {
  for (std::size_t i = 0; i < option.choices.size(); ++i)
    if (option.choices.value(i) == *static_cast<const std::uint8_t*>(value)) return option.choices.name(i);
  throw Error(text_of("[options] no name for the value of '", option.key, "'."));
}

void read_named_value(JsonReader& reader, const Option& option, void* value) {
  std::string name = name_of_value(option, value).get<std::string>();
  read_text(reader, option, name);
  if (const auto chosen = option.choices.value_of(name)) *static_cast<std::uint8_t*>(value) = *chosen;
}

template <class T>
Json write_plain(const Option&, const T& value) {
  return value;
}

Json schema_of_integer(const Option& option) { return integer_schema(option.range); }
Json schema_of_number(const Option& option) { return number_schema(option.range); }
Json boolean_schema(const Option&) { return {{"type", "boolean"}}; }

Json text_schema(const Option& option) {
  if (option.choices.size() > 0) return names_schema(option.choices);
  return option.least > 0 ? Json{{"type", "string"}, {"minLength", option.least}} : Json{{"type", "string"}};
}

// ---- Lists of them ----------------------------------------------------------------------------------------

Json element_schema(const Option& option, const std::vector<std::int64_t>*) {
  return integer_schema(option.range);
}
Json element_schema(const Option& option, const std::vector<double>*) { return number_schema(option.range); }
Json element_schema(const Option& option, const std::vector<std::string>*) { return text_schema(option); }

bool is_within(const Range& range, double x) {
  return (range.below_max ? x < range.max : x <= range.max) &&
         (range.above_min ? x > range.min : x >= range.min);
}

bool fits(const Option& option, const Json& element, const std::int64_t*) {
  constexpr double kLargestExact = 0x1p53;
  if (!element.is_number()) return false;
  const double number = element.get<double>();
  return std::abs(number) <= kLargestExact && number == std::trunc(number) && is_within(option.range, number);
}
bool fits(const Option& option, const Json& element, const double*) {
  return element.is_number() && is_within(option.range, element.get<double>());
}
bool fits(const Option&, const Json& element, const std::string*) { return element.is_string(); }

template <class T>
Json plain_list_schema(const Option& option) {
  return list_schema(element_schema(option, static_cast<const std::vector<T>*>(nullptr)), option.least);
}

template <class T>
Json schema_of_list(const Option& option) {
  Json list = plain_list_schema<T>(option);
  return option.is_required ? list : either_schema({std::move(list), Json{{"type", "null"}}});
}

/// Notes an error at each text that is not among the names of the option.
void check_names(JsonReader& reader, const Option& option, const std::vector<std::string>& texts) {
  const std::vector<std::string> known = option.choices.names();
  for (std::size_t i = 0; i < texts.size() && !known.empty(); ++i)
    if (std::ranges::find(known, texts[i]) == known.end())
      reader.errors().add(text_of(reader.pointer_to(key_of(option)), "/", i),
                          unknown_name("value", texts[i], known));
}

template <class T>
void read_list(JsonReader& reader, const Option& option, std::vector<T>& values) {
  const std::string key = key_of(option);
  const Json& given = reader.raw(key, about(option));
  if (given.is_null() && (!option.is_required || !reader.is_object())) return;
  bool is_right = given.is_array() && given.size() >= option.least;
  for (std::size_t i = 0; is_right && i < given.size(); ++i)
    is_right = fits(option, given[i], static_cast<const T*>(nullptr));
  if (!is_right) {
    const std::string expected = text_of("a ", type_words(plain_list_schema<T>(option), true));
    if (!reader.has(key)) return reader.error(key, Problem{.rule = Rule::missing, .expected = expected});
    return reader.error(key, Problem{.rule = Rule::wrong_type,
                                     .found = shortened(given.dump(-1, ' ', true)),
                                     .expected = expected});
  }
  values = given.get<std::vector<T>>();
  if constexpr (std::same_as<T, std::string>) check_names(reader, option, values);
}

// ---- Structs with tables of their own ---------------------------------------------------------------------

void read_object(const Json& given, const std::string& pointer, JsonErrors& errors, const Option& option,
                 void* value) {
  JsonReader reader(given, pointer, errors);
  read_table(reader, *option.table, value);
  reader.finish();
}

Json write_object(const Option& option, const void* value) {
  Json object = Json::object();
  write_rows(object, *option.table, value);
  return object;
}

Json object_schema(const Option& option) { return schema_of_rows(*option.table); }

void read_one(JsonReader& reader, const Option& option, void* value) {
  const std::string key = key_of(option);
  const Json& given = reader.raw(key, about(option));
  if (given.is_null()) {
    if (option.is_required && reader.is_object())
      reader.error(key, Problem{.rule = Rule::missing, .expected = "an object"});
    return;
  }
  if (option.container != nullptr) option.container->resize(value, 1);
  void* place = option.container != nullptr ? option.container->elements(value)[0] : value;
  read_object(given, reader.pointer_to(key), reader.errors(), option, place);
}

/// The structs in a container; who writes them does not change them.
std::vector<void*> elements_of(const Option& option, const void* container) {
  return option.container->elements(const_cast<void*>(container));
}

Json write_one_or_null(const Option& option, const void* value) {
  const std::vector<void*> elements = elements_of(option, value);
  return elements.empty() ? Json() : write_object(option, elements[0]);
}

Json one_or_null_schema(const Option& option) {
  return either_schema({object_schema(option), Json{{"type", "null"}}});
}

void read_objects(JsonReader& reader, const Option& option, void* value) {
  const std::string key = key_of(option);
  const Json& given = reader.raw(key, about(option));
  if (given.is_null()) return;
  if (!given.is_array())
    return reader.error(key, text_of("must be a list of objects. Got ", given.type_name(), "."));
  option.container->resize(value, given.size());
  const std::vector<void*> elements = option.container->elements(value);
  for (std::size_t i = 0; i < given.size(); ++i)
    read_object(given[i], text_of(reader.pointer_to(key), "/", i), reader.errors(), option, elements[i]);
}

Json write_objects(const Option& option, const void* value) {
  Json list = Json::array();
  for (const void* element : elements_of(option, value)) list.push_back(write_object(option, element));
  return list;
}

Json objects_schema(const Option& option) {
  return either_schema({list_schema(object_schema(option), option.least), Json{{"type", "null"}}});
}

// ---- Rows -------------------------------------------------------------------------------------------------

bool is_empty(const Json& value) { return value.is_null() || value == 0 || value == ""; }

void* member_of(const Option& option, const void* options) {
  return option.member(const_cast<void*>(options));  // its address; who writes has a struct that may change
}

/// The option with the value that it has now as its default.
OptionDoc documentation_of(const Option& option, const Json& value) {
  const bool has_default = !(option.is_open && is_empty(value));
  return {.key = key_of(option),
          .schema = schema_of(option),
          .fallback = option.is_required ? ""
                      : has_default      ? value.dump()
                                         : "null",
          .about = about(option),
          .unit = std::string(option.unit)};
}

}  // namespace

constinit const OptionKindOf<std::int64_t> kIntegerOption =
    option_kind<std::int64_t, read_number, write_plain, schema_of_integer>();
constinit const OptionKindOf<double> kNumberOption =
    option_kind<double, read_number, write_plain, schema_of_number>();
constinit const OptionKindOf<bool> kBooleanOption =
    option_kind<bool, read_boolean, write_plain, boolean_schema>();
constinit const OptionKindOf<std::string> kTextOption =
    option_kind<std::string, read_text, write_plain, text_schema>();
constinit const OptionKindOf<std::vector<std::int64_t>> kIntegerList =
    option_kind<std::vector<std::int64_t>, read_list, write_plain, schema_of_list<std::int64_t>>();
constinit const OptionKindOf<std::vector<double>> kNumberList =
    option_kind<std::vector<double>, read_list, write_plain, schema_of_list<double>>();
constinit const OptionKindOf<std::vector<std::string>> kTextList =
    option_kind<std::vector<std::string>, read_list, write_plain, schema_of_list<std::string>>();
constinit const OptionKind kNamedOption = {read_named_value, name_of_value, text_schema};
constinit const OptionKind kObjectOption = {read_one, write_object, object_schema};
constinit const OptionKind kObjectOrNullOption = {read_one, write_one_or_null, one_or_null_schema};
constinit const OptionKind kObjectList = {read_objects, write_objects, objects_schema};

std::optional<std::uint8_t> Choices::value_of(std::string_view name) const {
  for (std::size_t i = 0; i < size_; ++i)
    if (names_[i] == name) return values_[i];
  return std::nullopt;
}

Json names_schema(const Choices& choices) { return {{"enum", choices.names()}}; }

void erase_keys(Json& object, const OptionTable& table, Effect effect) {
  for (const Option& row : table)
    if (row.effect == effect && object.is_object()) object.erase(row.key);
}

Json schema_of(const Option& option) { return option.kind->schema(option); }

Json schema_of_rows(const OptionTable& table) {
  Json properties = Json::object(), required = Json::array();
  for (const Option& row : table) {
    properties[row.key] = schema_of(row);
    properties[row.key]["description"] = row.about;
    if (row.is_required) required.push_back(key_of(row));
  }
  Json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

void require_owner(const OptionTable& table, const void* owner) {
  for (const Option& row : table)
    if (row.owner != owner)
      throw Error(text_of("[options] the row '", row.key, "' is of another struct than the one given."));
}

void read_table(JsonReader& reader, const OptionTable& table, void* options) {
  for (const Option& row : table) {
    void* member = member_of(row, options);
    const std::string key = key_of(row);
    if (row.table != nullptr) require_owner(*row.table, row.inner);
    if (row.prepare != nullptr) row.prepare(options);
    if (row.applies != nullptr && !row.applies(options)) {
      if (row.otherwise.empty() || !reader.has(key)) continue;
      reader.raw(key, "");
      reader.error(key, std::string(row.otherwise));
    } else if (row.kind == nullptr) {
      read_table(reader, *row.table, member);
    } else {
      reader.document(documentation_of(row, row.kind->write(row, member)));
      row.kind->read(reader, row, member);
      Json value = row.kind->write(row, member);
      if (!row.is_open || !is_empty(value)) reader.fill(key, std::move(value));
    }
  }
  if (table.check != nullptr && reader.is_object()) table.check(options, reader);
}

std::vector<OptionDoc> describe_rows(const OptionTable& table, void* options) {
  const Json nothing = Json::object();
  JsonErrors missing;
  JsonReader reader(nothing, "", missing);
  read_table(reader, table, options);
  return reader.documentation();
}

void write_rows(Json& object, const OptionTable& table, const void* options) {
  for (const Option& row : table) {
    const void* member = member_of(row, options);
    if (row.applies != nullptr && !row.applies(options)) continue;
    if (row.kind == nullptr) {
      write_rows(object, *row.table, member);
    } else if (Json value = row.kind->write(row, member); !row.is_open || !is_empty(value)) {
      object[row.key] = std::move(value);
    }
  }
}

}  // namespace lagtape
