#include "lagtape/core/json/json.h"

#include <algorithm>
#include <charconv>
#include <ostream>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/quote.h"

namespace lagtape {

// ---- Making values ----

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(const char* text) : type_(Type::string), text_(text) {}
Json::Json(std::string text) : type_(Type::string), text_(std::move(text)) {}
Json::Json(std::string_view text) : type_(Type::string), text_(text) {}
Json::Json(Boolean value) : type_(Type::boolean), boolean_(value.value) {}
Json::Json(Integer value) : type_(Type::integer), integer_(value.value) {}
Json::Json(Natural value) : type_(Type::natural), natural_(value.value) {}
Json::Json(Real value) : type_(Type::real), real_(value.value) {}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) {
  Json copy(other);  // the other one may be inside this one
  return *this = std::move(copy);
}
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> elements) {
  const bool pairs = std::ranges::all_of(elements, [](const Json& element) {
    return element.is_array() && element.size() == 2 && element[0].is_string();
  });
  if (!pairs) {
    *this = array(elements);
    return;
  }
  type_ = Type::object;
  for (const Json& element : elements) {
    if (!contains(element[0].text_)) (*this)[element[0].text_] = element[1];
  }
}

Json Json::array() { return array({}); }

Json Json::array(std::initializer_list<Json> elements) {
  Json json;
  json.type_ = Type::array;
  json.elements_.assign(elements.begin(), elements.end());
  return json;
}

Json Json::object() {
  Json json;
  json.type_ = Type::object;
  return json;
}

// ---- Reading values ----

const char* Json::type_name() const {
  switch (type_) {
    case Type::null: return "null";
    case Type::boolean: return "boolean";
    case Type::string: return "string";
    case Type::array: return "array";
    case Type::object: return "object";
    default: return "number";
  }
}

void Json::require(Type type, const char* wanted) const {
  if (type_ != type)
    throw exception({.op = "json"}, Rule::wrong_type, text_of("expected ", wanted),
                    text_of("a value of type ", type_name()));
}

template <class T>
T Json::number() const {
  if (type_ == Type::real) {
    if constexpr (std::integral<T>) {
      // Both bounds are exact in double; a number beyond them, or none, has no value as T.
      constexpr double kEnd = std::same_as<T, std::int64_t> ? 0x1p63 : 0x1p64;
      const double least = std::same_as<T, std::int64_t> ? -kEnd : 0;
      if (!(real_ >= least && real_ < kEnd))
        throw exception({.op = "json"}, Rule::out_of_range, "expected an integer", text_of(real_));
    }
    return static_cast<T>(real_);
  }
  if (type_ == Type::natural) {
    if constexpr (std::integral<T>) {
      if (!std::in_range<T>(natural_))
        throw exception({.op = "json"}, Rule::out_of_range, "expected an integer below 2^63",
                        text_of(natural_));
    }
    return static_cast<T>(natural_);
  }
  if (type_ != Type::boolean) require(Type::integer, "a number");
  return type_ == Type::boolean ? static_cast<T>(boolean_) : static_cast<T>(integer_);
}

void Json::read(bool& value) const {
  require(Type::boolean, "a boolean");
  value = boolean_;
}

void Json::read(std::int64_t& value) const { value = number<std::int64_t>(); }
void Json::read(std::uint64_t& value) const { value = number<std::uint64_t>(); }
void Json::read(double& value) const { value = number<double>(); }

void Json::read(std::string& value) const {
  require(Type::string, "a string");
  value = text_;
}

// ---- Elements ----

std::size_t Json::size() const {
  if (is_null()) return 0;
  return is_array() || is_object() ? elements_.size() : 1;
}

void Json::push_back(Json element) {
  if (is_null()) *this = array();
  require(Type::array, "an array");
  elements_.push_back(std::move(element));
}

const Json& Json::at(std::size_t index) const {
  require(Type::array, "an array");
  if (index >= elements_.size())
    throw exception({.op = "json"}, Rule::out_of_range,
                    text_of("there is no element ", index, " in an array of ", elements_.size(), "."));
  return elements_[index];
}

Json& Json::at(std::size_t index) { return const_cast<Json&>(std::as_const(*this).at(index)); }

Json& Json::operator[](std::size_t index) {
  if (is_null()) *this = array();
  require(Type::array, "an array");
  if (index >= elements_.size()) elements_.resize(index + 1);
  return elements_[index];
}

void Json::erase(std::size_t index) {
  at(index);
  elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(index));
}

const Json* Json::find(std::string_view key) const {
  return elements_.data() + (is_object() ? keys_.find(key) : elements_.size());
}

const Json& Json::at(std::string_view key) const {
  require(Type::object, "an object");
  const Json* found = find(key);
  if (found == end())
    throw exception({.op = "json"}, Rule::missing, text_of("there is no key ", quote(key), "."));
  return *found;
}

Json& Json::at(std::string_view key) { return const_cast<Json&>(std::as_const(*this).at(key)); }

Json& Json::operator[](std::string_view key) {
  if (is_null()) *this = object();
  require(Type::object, "an object");
  const Json* found = find(key);
  if (found != end()) return const_cast<Json&>(*found);
  append(key, {});
  return elements_.back();
}

void Json::append(std::string_view key, Json value) {
  if (is_null()) *this = object();
  require(Type::object, "an object");
  keys_.push_back(std::string(key));
  elements_.push_back(std::move(value));
}

std::size_t Json::erase(std::string_view key) {
  require(Type::object, "an object");
  const std::size_t place = keys_.find(key);
  if (place == keys_.size()) return 0;
  keys_.erase(place);
  elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(place));
  return 1;
}

void Json::update(const Json& other) {
  for (const auto& [key, value] : other.items()) (*this)[key] = value;
}

// ---- JSON Pointers ----

std::string pointer_part(std::string_view key) {
  std::string part = "/";
  for (const char c : key) part += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return part;
}

namespace {

/// A part of a JSON Pointer as a key.
std::string unescaped(std::string_view part) {
  std::string key;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool escape = part[i] == '~' && i + 1 < part.size();
    key += !escape ? part[i] : part[i + 1] == '0' ? '~' : '/';
    if (escape) ++i;
  }
  return key;
}

}  // namespace

const Json* Json::find_pointer(std::string_view pointer) const {
  const Json* place = this;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the "/"
    const std::string_view part = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(part.size());
    const Json* next = nullptr;
    if (place->is_array()) {
      std::size_t index = 0;
      const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), index);
      const bool is_index = error == std::errc() && rest == part.data() + part.size() &&
                            (part.size() == 1 || part.front() != '0');
      next = is_index && index < place->size() ? place->begin() + index : place->end();
    } else {
      next = place->find(unescaped(part));
    }
    if (next == place->end()) return nullptr;
    place = next;
  }
  return place;
}

const Json& value_at(const Json& json, std::string_view pointer) {
  static const Json kNull;
  const Json* found = json.find_pointer(pointer);
  return found != nullptr ? *found : kNull;
}

std::ostream& operator<<(std::ostream& stream, const Json& json) { return stream << json.dump(); }

}  // namespace lagtape
