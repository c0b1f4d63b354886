#include "lagtape/core/json/json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <ostream>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {

using Text = nlohmann::ordered_json;  ///< reads and writes JSON text

/// Makes values of what the parser of nlohmann/json finds.
struct JsonMaker {
  static void add_key(Json& object, std::string key) { object.keys_.push_back(std::move(key)); }
  static void add_element(Json& parent, Json element) { parent.elements_.push_back(std::move(element)); }

  /// Gives each key of an object its last value, at its first place.
  static void join_repeated_keys(Json& object) {
    bool repeated = false;
    for (std::size_t i = 0; i < object.keys_.size(); ++i)
      repeated = repeated || object.keys_.find(object.keys_[i]) != i;
    if (!repeated) return;
    Json joined = Json::object();
    for (std::size_t i = 0; i < object.keys_.size(); ++i)
      joined[object.keys_[i]] = std::move(object.elements_[i]);
    object = std::move(joined);
  }
};

namespace {

/// Makes a value from what the parser finds, in a time that grows with the text's length and no faster.
class Builder : public nlohmann::json_sax<Text> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(string_t& key) override {
    JsonMaker::add_key(open_.back(), std::move(key));
    return true;
  }
  bool end_object() override {
    JsonMaker::join_repeated_keys(open_.back());
    return close();
  }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    throw Json::exception(error.what());
  }

 private:
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      JsonMaker::add_element(open_.back(), std::move(value));
    }
    return true;
  }
  bool open(Json value) {
    open_.push_back(std::move(value));
    return true;
  }
  bool close() {
    Json done = std::move(open_.back());
    open_.pop_back();
    return add(std::move(done));
  }

  std::vector<Json> open_;  ///< arrays and objects that have not ended, from the outermost one in
  Json root_;
};

}  // namespace

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
    throw exception(text_of("[json] expected ", wanted, ". Got a value of type ", type_name(), "."));
}

template <class T>
T Json::number() const {
  if (type_ == Type::real) {
    if constexpr (std::integral<T>) {
      // Both bounds are exact in double; a number beyond them, or none, has no value as T.
      constexpr double kEnd = std::same_as<T, std::int64_t> ? 0x1p63 : 0x1p64;
      const double least = std::same_as<T, std::int64_t> ? -kEnd : 0;
      if (!(real_ >= least && real_ < kEnd))
        throw exception(text_of("[json] expected an integer. Got ", real_, "."));
    }
    return static_cast<T>(real_);
  }
  if (type_ == Type::natural) {
    if constexpr (std::integral<T>) {
      if (!std::in_range<T>(natural_))
        throw exception(text_of("[json] expected an integer below 2^63. Got ", natural_, "."));
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
    throw exception(text_of("[json] there is no element ", index, " in an array of ", elements_.size(), "."));
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
  if (found == end()) throw exception(text_of("[json] there is no key ", quote(key), "."));
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

namespace {

/// A part of a JSON Pointer as the key that it stands for.
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

// ---- Text ----

std::ostream& operator<<(std::ostream& stream, const Json& json) { return stream << json.dump(); }

namespace {

/// Values are copied and written by functions that call themselves, so that a deep one would exhaust the
/// stack.
constexpr int kDeepest = 100;

/// The deepest level of brackets in a text.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

}  // namespace

Json Json::parse(std::string_view text) {
  if (depth_of(text) > kDeepest) throw exception("nested too deeply");
  if (text.find('\0') != text.npos) throw exception("a NUL byte");  // to the parser, the text ends there
  Builder builder;
  Text::sax_parse(text, &builder);
  return builder.take();
}

bool Json::accept(std::string_view text) {
  return depth_of(text) <= kDeepest && text.find('\0') == text.npos && Text::accept(text);
}

}  // namespace lagtape
