#include "lagtape/core/json/options.h"

#include "lagtape/core/error.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {
namespace {

std::string key_of(const Option& option) { return std::string(option.key); }
std::string about(const Option& option) { return std::string(option.about); }

// ---- Numbers, bools, texts, and lists of them -----------------------------------------------------------------

Expected expected_of(const Option& option) {
  return {.is_required = option.is_required || option.is_open,
          .range = option.range,
          .least = option.least,
          .known = option.choices.names()};
}

template <class T>
void read_plain(JsonReader& reader, const Option& option, T& value) {
  const std::string key = key_of(option);
  if (!option.is_open || reader.has(key)) reader.read(key, value, expected_of(option), about(option));
}

template <class T>
Json write_plain(const Option&, const T& value) {
  return value;
}

template <class T>
Json schema_of_plain(const Option& option) {
  return schema_of<T>(expected_of(option));
}

// ---- Structs that have tables -----------------------------------------------------------------------------

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
  if (option.resize != nullptr) option.resize(value, 1);
  void* place = option.elements != nullptr ? option.elements(value)[0] : value;
  read_object(given, reader.pointer_to(key), reader.errors(), option, place);
}

/// The structs in a container; a caller that writes JSON does not change them.
std::vector<void*> elements_of(const Option& option, const void* container) {
  return option.elements(const_cast<void*>(container));
}

Json write_one_or_null(const Option& option, const void* value) {
  const std::vector<void*> elements = elements_of(option, value);
  return elements.empty() ? Json() : write_object(option, elements[0]);
}

Json one_or_null_schema(const Option& option) { return or_null(object_schema(option)); }

void read_objects(JsonReader& reader, const Option& option, void* value) {
  const std::string key = key_of(option);
  const Json& given = reader.raw(key, about(option));
  if (given.is_null()) return;
  if (!given.is_array())
    return reader.error(key, text_of("must be a list of objects. Got ", given.type_name(), "."));
  option.resize(value, given.size());
  const std::vector<void*> elements = option.elements(value);
  for (std::size_t i = 0; i < given.size(); ++i)
    read_object(given[i], text_of(reader.pointer_to(key), "/", i), reader.errors(), option, elements[i]);
}

Json write_objects(const Option& option, const void* value) {
  Json list = Json::array();
  for (const void* element : elements_of(option, value)) list.push_back(write_object(option, element));
  return list;
}

Json objects_schema(const Option& option) { return or_null(list_schema(object_schema(option))); }

// ---- Rows -------------------------------------------------------------------------------------------------

bool is_empty(const Json& value) { return value.is_null() || value == 0 || value == ""; }

void* member_of(const Option& option, const void* options) {
  return option.member(const_cast<void*>(options));  // its address; writers do not change it
}

/// The option with its current value as its default.
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

void add_documentation(const OptionTable& table, std::vector<OptionDoc>& options) {
  for (const Option& row : table) {
    if (row.kind == nullptr)
      add_documentation(*row.table, options);
    else
      options.push_back(documentation_of(row, Json()));
  }
}

}  // namespace

template <class T>
constinit const OptionKind PlainOption<T>::kKind =
    option_kind<T, read_plain<T>, write_plain<T>, schema_of_plain<T>>();
template struct PlainOption<std::int64_t>;
template struct PlainOption<double>;
template struct PlainOption<bool>;
template struct PlainOption<std::string>;
template struct PlainOption<std::vector<std::int64_t>>;
template struct PlainOption<std::vector<double>>;
template struct PlainOption<std::vector<std::string>>;

constinit const OptionKind kObjectOption = {read_one, write_object, object_schema};
constinit const OptionKind kObjectOrNullOption = {read_one, write_one_or_null, one_or_null_schema};
constinit const OptionKind kObjectList = {read_objects, write_objects, objects_schema};

std::optional<std::uint8_t> Choices::value_of(std::string_view name) const {
  for (std::size_t i = 0; i < size_; ++i)
    if (names_[i] == name) return values_[i];
  return std::nullopt;
}

Json name_of(const Option& option, ChosenValue value) {
  if (!value) return {};
  for (std::size_t i = 0; i < option.choices.size(); ++i)
    if (option.choices.value(i) == *value) return option.choices.name(i);
  throw Error(text_of("[options] no name for the value of '", option.key, "'."));
}

void read_name(JsonReader& reader, const Option& option, ChosenValue& value) {
  std::string name = value ? name_of(option, value).get<std::string>() : "";
  read_plain(reader, option, name);
  if (const ChosenValue chosen = option.choices.value_of(name)) value = chosen;
}

Json schema_of_names(const Option& option) { return schema_of<std::string>(expected_of(option)); }

void erase_keys(Json& object, const OptionTable& table, Effect effect) {
  for (const Option& row : table)
    if (row.effect == effect && object.is_object()) object.erase(row.key);
}

Json schema_of(const Option& option) { return option.kind->schema(option); }

Json schema_of_rows(const OptionTable& table) {
  std::vector<OptionDoc> options;
  add_documentation(table, options);
  return schema_of_options(options);
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
