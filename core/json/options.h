#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/named.h"
#include "lagtape/core/option_table.h"

namespace lagtape {

/// The struct that a member pointer belongs to, or that a function takes as its first argument.
template <class Pointer>
struct OwnerOf;
template <class S, class T>
struct OwnerOf<T S::*> {
  using Type = S;
};
template <class Result, class S, class... Others>
struct OwnerOf<Result (*)(S&, Others...)> {
  using Type = S;
};
template <auto pointer>
using Owner = typename OwnerOf<decltype(pointer)>::Type;
template <auto member>
using MemberType = std::remove_reference_t<decltype(std::declval<Owner<member>&>().*member)>;

/// How values of one member type are read, written and described. Values are passed by address, so the code
/// that walks a table is compiled once.
struct OptionKind {
  /// Reads the option's key into the value. Notes errors.
  void (*read)(JsonReader& reader, const Option& option, void* value);
  /// The JSON from which `read` makes the value.
  Json (*write)(const Option& option, const void* value);
  /// The JSON Schema of the value.
  Json (*schema)(const Option& option);
};

/// The kind of members of type T.
template <class T>
struct OptionKindOf : OptionKind {};

/// Makes a kind from functions that take a T.
template <class T, void (*read)(JsonReader&, const Option&, T&), Json (*write)(const Option&, const T&),
          Json (*schema)(const Option&)>
constexpr OptionKindOf<T> option_kind() {
  return {
      {[](JsonReader& reader, const Option& option, void* value) {
         read(reader, option, *static_cast<T*>(value));
       },
       [](const Option& option, const void* value) { return write(option, *static_cast<const T*>(value)); },
       schema}};
}

/// A name that a value may have, and the value if that is an enumerator or a bool.
struct Choice {
  std::string_view name;
  std::optional<std::uint8_t> value = {};

  constexpr Choice(const char* text) : name(text) {}
  constexpr Choice(std::string_view text, auto of) : name(text), value(static_cast<std::uint8_t>(of)) {}
};

/// The names of a choice, in the order in which messages list them.
class Choices {
 public:
  constexpr Choices() = default;
  constexpr Choices(std::initializer_list<Choice> choices) {
    for (const Choice& choice : choices) {
      names_.at(size_) = choice.name;
      values_.at(size_) = choice.value.value_or(static_cast<std::uint8_t>(size_));
      ++size_;
    }
  }
  constexpr std::size_t size() const { return size_; }
  constexpr std::string_view name(std::size_t i) const { return names_[i]; }
  constexpr std::uint8_t value(std::size_t i) const { return values_[i]; }
  /// The value of a name; empty if there is no such name.
  std::optional<std::uint8_t> value_of(std::string_view name) const;
  std::vector<std::string> names() const { return {names_.begin(), names_.begin() + size_}; }

 private:
  std::array<std::string_view, 8> names_ = {};
  std::array<std::uint8_t, 8> values_ = {};
  std::uint8_t size_ = 0;
};

/// The effect of changing an option: on the results of a run, its length or its way to the same results, or only
/// what it reports.
enum class Effect : std::uint8_t { results, course, reports };

/// One key of an object: where its value is stored in an options struct, and everything known about it. The
/// default is the struct's value before reading.
struct Option {
  std::string_view key;  ///< empty: `rows_of` a member
  std::string_view about;
  const OptionKind* kind = nullptr;
  void* (*member)(void* options) = nullptr;
  const void* owner = nullptr;  ///< the struct S of the member, as `owner_of<S>`

  bool is_required = false;
  bool is_open = false;  ///< an empty value (0, "", none) is not written: another setting decides
  Effect effect = Effect::results;
  Range range = {};                          ///< as in Expected
  std::size_t least = 0;                     ///< as in Expected
  Choices choices = {};                      ///< the names that a text, an enumerator or a bool may have
  std::string_view unit = {};                ///< the unit of a number
  void (*prepare)(void* options) = nullptr;  ///< sets a default that depends on earlier rows
  const OptionTable* table = nullptr;        ///< the table of the struct or structs in a member
  const void* inner = nullptr;               ///< their type, as `owner_of`
  // For an optional struct or a list: functions that return the structs in it, and that create a given number
  // of new ones.
  std::vector<void*> (*elements)(void* member) = nullptr;
  void (*resize)(void* member, std::size_t size) = nullptr;
  bool (*applies)(const void* options) = nullptr;  ///< whether the key exists, given the earlier rows
  std::string_view otherwise = {};                 ///< the error if the key does not apply

  // Rows with one field changed; calls can be chained.
  template <class T>
  constexpr Option with(T Option::*field, std::type_identity_t<T> value) const {
    Option changed = *this;
    changed.*field = value;
    return changed;
  }
  constexpr Option needed() const { return with(&Option::is_required, true); }
  constexpr Option open() const { return with(&Option::is_open, true); }
  constexpr Option with_effect(Effect on) const { return with(&Option::effect, on); }
  constexpr Option at_least_one() const { return with(&Option::least, std::size_t{1}); }
  constexpr Option in(std::string_view name) const { return with(&Option::unit, name); }
  /// The key exists only while a flag of the struct, or a function of it, is true. Otherwise it is unknown, or
  /// gives this error.
  template <auto condition>
  constexpr Option when(std::string_view error = {}) const {
    return conditional<condition, true>(error);
  }
  template <auto condition>
  constexpr Option unless(std::string_view error = {}) const {
    return conditional<condition, false>(error);
  }
  /// A default that depends on earlier rows: `void set(S& options)` sets it.
  template <auto set>
  constexpr Option after() const {
    return with(&Option::prepare, [](void* options) { set(*static_cast<Owner<set>*>(options)); });
  }

 private:
  template <auto condition, bool wanted>
  constexpr Option conditional(std::string_view error) const {
    return with(&Option::otherwise, error).with(&Option::applies, [](const void* options) {
      return std::invoke(condition, *static_cast<const Owner<condition>*>(options)) == wanted;
    });
  }
};

template <class S>
inline constexpr char kOwner = 0;
template <class S>
inline constexpr const void* owner_of = &kOwner<S>;

constexpr const Option* begin(const OptionTable& table) { return table.rows; }
constexpr const Option* end(const OptionTable& table) { return table.rows + table.count; }

/// A table with a check of its values together, `void check(const S& options, JsonReader& reader)`.
template <auto check>
constexpr OptionTable checked(OptionTable table) {
  table.check = [](const void* options, JsonReader& reader) {
    check(*static_cast<Owner<check>*>(options), reader);
  };
  return table;
}

// ---- Kinds of plain members -------------------------------------------------------------------------------

/// Numbers, bools, texts (one of the choices, if there are any), and lists of these.
template <class T>
struct PlainOption {
  static const OptionKind kKind;
};
extern template struct PlainOption<std::int64_t>;
extern template struct PlainOption<double>;
extern template struct PlainOption<bool>;
extern template struct PlainOption<std::string>;
extern template struct PlainOption<std::vector<std::int64_t>>;
extern template struct PlainOption<std::vector<double>>;
extern template struct PlainOption<std::vector<std::string>>;

/// The enumerator, bool or char that a member is, or may be (std::optional).
template <class T>
struct NamedType {
  using Type = T;
};
template <class T>
struct NamedType<std::optional<T>> {
  using Type = T;
};
template <class T>
using Named = typename NamedType<T>::Type;

/// The value of a member as Choices represents it.
using ChosenValue = std::optional<std::uint8_t>;
template <class T>
ChosenValue chosen_value(const T& value) {
  if constexpr (std::same_as<T, Named<T>>) {
    return static_cast<std::uint8_t>(value);
  } else {
    return value ? chosen_value(*value) : ChosenValue();
  }
}

void read_name(JsonReader& reader, const Option& option, ChosenValue& value);
Json name_of(const Option& option, ChosenValue value);
Json schema_of_names(const Option& option);

template <class T>
void read_named(JsonReader& reader, const Option& option, T& value) {
  ChosenValue chosen = chosen_value(value);
  read_name(reader, option, chosen);
  if (chosen) value = static_cast<Named<T>>(*chosen);
}
template <class T>
Json write_named(const Option& option, const T& value) {
  return name_of(option, chosen_value(value));
}
template <class T>
inline constexpr auto kNamedOption = option_kind<T, read_named<T>, write_named<T>, schema_of_names>();

// Structs that have tables.
extern const OptionKind kObjectOption, kObjectOrNullOption, kObjectList;

template <class T>
std::vector<void*> elements_of(void* container) {
  T& all = *static_cast<T*>(container);
  std::vector<void*> elements;
  if constexpr (requires { all.has_value(); }) {
    if (all) elements.push_back(&*all);
  } else {
    for (auto& element : all) elements.push_back(&element);
  }
  return elements;
}
template <class T>
void resize(void* container, std::size_t size) {
  if constexpr (requires(T all) { all.has_value(); }) {
    static_cast<T*>(container)->emplace();
  } else {
    *static_cast<T*>(container) = T(size);
  }
}
template <class T>
constexpr const void* inner_of() {
  if constexpr (requires { typename T::value_type; }) {
    return owner_of<typename T::value_type>;
  } else {
    return owner_of<T>;
  }
}

template <class T>
constexpr const OptionKind* kind_of() {
  if constexpr (std::is_enum_v<Named<T>> || std::same_as<T, char>) {
    return &kNamedOption<T>;
  } else {
    return &PlainOption<T>::kKind;
  }
}

// ---- Rows -------------------------------------------------------------------------------------------------

/// A row that accepts every value of its kind.
template <auto member>
constexpr Option row_of(std::string_view key, const OptionKind* kind, std::string_view about) {
  return {.key = key,
          .about = about,
          .kind = kind,
          .member = [](void* options) -> void* { return &(static_cast<Owner<member>*>(options)->*member); },
          .owner = owner_of<Owner<member>>};
}

/// An optional key. `option<&TauGru::dt>("dt", above(0), "time step")`
template <auto member>
constexpr Option option(std::string_view key, std::string_view about) {
  return row_of<member>(key, kind_of<MemberType<member>>(), about);
}
template <auto member>
constexpr Option option(std::string_view key, Range range, std::string_view about) {
  return option<member>(key, about).with(&Option::range, range);
}
template <auto member>
constexpr Option option(std::string_view key, Choices choices, std::string_view about) {
  constexpr bool kIsBool = std::same_as<MemberType<member>, bool>;
  const OptionKind* kind = kIsBool ? &kNamedOption<bool> : kind_of<MemberType<member>>();
  return row_of<member>(key, kind, about).with(&Option::choices, choices);
}
template <auto member>
constexpr Option option(std::string_view key, const OptionKindOf<MemberType<member>>& kind,
                        std::string_view about) {
  return row_of<member>(key, &kind, about);
}

/// A key whose value is stored in several members.
template <class S>
constexpr Option whole(std::string_view key, const OptionKindOf<S>& kind, std::string_view about) {
  return {.key = key,
          .about = about,
          .kind = &kind,
          .member = [](void* options) { return options; },
          .owner = owner_of<S>};
}

/// A required key.
template <auto member, class... Arguments>
constexpr Option required(std::string_view key, const Arguments&... arguments) {
  return option<member>(key, arguments...).needed();
}
template <auto member>
constexpr Option required(std::string_view key, Choices choices, std::string_view about) {
  return option<member>(key, choices, about).needed();
}

/// A key whose value is an object described by another table, an optional object (std::optional, may be null),
/// or a list of objects (std::vector).
template <auto member>
constexpr Option option(std::string_view key, const OptionTable& table, std::string_view about) {
  using T = MemberType<member>;
  Option row = row_of<member>(key, &kObjectOption, about);
  if constexpr (requires { typename T::value_type; }) {
    row.kind = requires(T one) { one.has_value(); }
    ? &kObjectOrNullOption : &kObjectList;
    row.elements = elements_of<T>;
    row.resize = resize<T>;
  }
  row.table = &table;
  row.inner = inner_of<MemberType<member>>();
  return row;
}

/// The rows of a struct inside another struct, with their keys in the same object.
template <auto member>
constexpr Option rows_of(const OptionTable& table) {
  Option row = row_of<member>("", nullptr, "");
  row.table = &table;
  row.inner = inner_of<MemberType<member>>();
  return row;
}

// ---- Functions that walk a table --------------------------------------------------------------------------

// The parts of read_options and json_of that access a struct by its address; require_owner throws Error for
// another struct's rows.
void read_table(JsonReader& reader, const OptionTable& table, void* options);
void write_rows(Json& object, const OptionTable& table, const void* options);
void require_owner(const OptionTable& table, const void* owner);

/// Removes the keys of an object that have that effect.
void erase_keys(Json& object, const OptionTable& table, Effect effect);

Json schema_of(const Option& option);
/// An object with exactly these keys.
Json schema_of_rows(const OptionTable& table);

/// Reads the keys into the struct, then checks them together. The caller calls `finish`.
template <class S>
void read_options(JsonReader& reader, const OptionTable& table, S& options) {
  require_owner(table, owner_of<S>);
  read_table(reader, table, &options);
}

/// The documentation of the options, with the struct's values as their defaults.
template <class S>
std::vector<OptionDoc> described(const OptionTable& table, S options) {
  return documented([&](JsonReader& reader) { read_options(reader, table, options); });
}

/// Reads the key that selects a row of a table. Null, with an error noted, if there is no such row. The key is
/// required unless `name` is its default.
auto read_chosen(JsonReader& reader, const std::string& key, const auto& rows, const std::string& about,
                 std::string name = "") {
  reader.read(key, name, {.is_required = name.empty(), .known = names_of(rows)}, about);
  return find_named(rows, name);
}

/// The object with every value; `read_options` makes the same struct from it.
template <class S>
Json json_of(const OptionTable& table, const S& options) {
  require_owner(table, owner_of<S>);
  Json object = Json::object();
  write_rows(object, table, &options);
  return object;
}

}  // namespace lagtape
