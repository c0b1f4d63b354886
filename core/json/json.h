#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_keys.h"

namespace lagtape {

/// A JSON value: null, a boolean, a number, a string, an array, or an object that keeps the order of its keys.
/// Names and semantics match nlohmann::ordered_json, whose parser reads the text. It is not an
/// nlohmann::ordered_json for three reasons:
///
/// - Compile time. 163 sources include this header, of 0.9 to 1.7 s of processor time each (GCC 12, -O1, common headers
///   precompiled). With nlohmann/json.hpp precompiled too each takes 0.5 to 0.6 s more, and 1.0 to 1.7 s more where its
///   templates are used. About 600 lines fewer are not worth that.
/// - It finds a key by comparing all keys, so the time to read a file of very many keys grows with their square.
/// - Its destructor allocates memory, and ends the program when there is none.
class Json {
 public:
  /// Thrown when a value is read as the wrong type, and for a key or an index that does not exist.
  class exception : public InputError {
   public:
    using InputError::InputError;
  };

  Json();
  Json(std::nullptr_t);
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  template <std::same_as<bool> T>
  Json(T value) : Json(Boolean{value}) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value) : Json(integer_of(value)) {}
  template <std::floating_point T>
  Json(T value) : Json(Real{static_cast<double>(value)}) {}
  /// An array of the elements.
  template <class T>
  requires std::constructible_from<Json, const T&> Json(const std::vector<T>& elements) : Json(array()) {
    for (const auto& element : elements) push_back(Json(element));
  }
  /// An object if every element is a pair that starts with a string, otherwise an array.
  Json(std::initializer_list<Json> elements);
  static Json array();
  static Json array(std::initializer_list<Json> elements);
  static Json object();

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  bool is_null() const { return type_ == Type::null; }
  bool is_boolean() const { return type_ == Type::boolean; }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_number_integer() const { return type_ == Type::integer || type_ == Type::natural; }
  bool is_number_unsigned() const { return type_ == Type::natural; }
  bool is_number_float() const { return type_ == Type::real; }
  bool is_string() const { return type_ == Type::string; }
  bool is_array() const { return type_ == Type::array; }
  bool is_object() const { return type_ == Type::object; }

  /// The value as T: bool, a number (converted), std::string, or a vector of these. Throws exception when it is
  /// of another type.
  template <class T>
  T get() const {
    T value{};
    read(value);
    return value;
  }

  const char* type_name() const;  ///< "null", "boolean", "number", "string", "array" or "object"

  std::size_t size() const;  ///< number of elements; 0 for null, 1 for a single value
  bool empty() const { return size() == 0; }

  // The elements of an array, or the values of an object.
  Json* begin() { return elements_.data(); }
  Json* end() { return elements_.data() + elements_.size(); }
  const Json* begin() const { return elements_.data(); }
  const Json* end() const { return elements_.data() + elements_.size(); }

  void push_back(Json element);  ///< Appends to an array; null becomes an array.
  Json& operator[](std::size_t index);
  const Json& operator[](std::size_t index) const { return at(index); }
  Json& at(std::size_t index);
  const Json& at(std::size_t index) const;
  Json& operator[](int index) { return (*this)[static_cast<std::size_t>(index)]; }
  const Json& operator[](int index) const { return at(static_cast<std::size_t>(index)); }
  Json& at(int index) { return at(static_cast<std::size_t>(index)); }
  const Json& at(int index) const { return at(static_cast<std::size_t>(index)); }
  void erase(std::size_t index);

  /// The value of a key. A missing key is added, and null becomes an object.
  Json& operator[](std::string_view key);
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  const Json& operator[](const char* key) const { return at(std::string_view(key)); }
  /// Adds a key that is known to be new, without searching; null becomes an object.
  void append(std::string_view key, Json value);
  Json& at(std::string_view key);
  const Json& at(std::string_view key) const;
  Json& at(const char* key) { return at(std::string_view(key)); }
  const Json& at(const char* key) const { return at(std::string_view(key)); }
  /// The value of a key; end() if this is not an object or lacks the key.
  const Json* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != end(); }
  /// The value of a key, or `missing` if there is none.
  template <class T>
  T value(std::string_view key, T missing) const {
    const Json* found = find(key);
    if (found == end()) return missing;
    if constexpr (std::same_as<T, Json>) {
      return *found;
    } else {
      return found->get<T>();
    }
  }
  std::string value(std::string_view key, const char* missing) const {
    return value(key, std::string(missing));
  }
  void update(const Json& other);           ///< Adds all keys of another object.
  std::size_t erase(std::string_view key);  ///< Returns the number of erased keys, 0 or 1.
  std::size_t erase(const char* key) { return erase(std::string_view(key)); }

  /// The value at a JSON Pointer such as "/train/batch", or null (no value) when there is none.
  const Json* find_pointer(std::string_view pointer) const;
  Json* find_pointer(std::string_view pointer) {
    return const_cast<Json*>(std::as_const(*this).find_pointer(pointer));
  }
  /// The JSON Pointer of the first change that turns this value into `other`; empty when they are equal.
  std::string first_difference(const Json& other) const;

  /// Keys and values of an object, for `for (const auto& [key, value] : json.items())`.
  struct Item {
    const std::string& key;
    const Json& value;
  };
  class Items {
   public:
    struct Iterator {
      const Json* object;
      std::size_t index;
      Item operator*() const { return {object->keys_[index], object->elements_[index]}; }
      Iterator& operator++() { return ++index, *this; }
      bool operator==(const Iterator& other) const { return index == other.index; }
    };
    explicit Items(const Json& object) : object_(object) {}
    Iterator begin() const { return {&object_, 0}; }
    Iterator end() const { return {&object_, object_.keys_.size()}; }

   private:
    const Json& object_;
  };
  Items items() const { return Items(*this); }

  /// Numbers are equal if their values are, whatever their types; objects are equal whatever the order of their
  /// keys.
  friend bool operator==(const Json& a, const Json& b);
  friend std::ostream& operator<<(std::ostream& stream, const Json& json);

  /// The text; on one line when indent is negative. Throws exception for a string that is not UTF-8.
  std::string dump(int indent = -1, char fill = ' ', bool ascii = false) const;
  std::string dump_sorted() const;  ///< On one line, the keys of every object in alphabetical order.
  /// The value of a JSON text. Throws exception "line L, column C: ..." for any other text, for a key that occurs twice and
  /// for more than 100 levels of nesting.
  static Json parse(std::string_view text);
  /// Whether a text is JSON.
  static bool accept(std::string_view text);

 private:
  enum class Type : std::uint8_t { null, boolean, integer, natural, real, string, array, object };
  struct Boolean {
    bool value;
  };
  struct Integer {
    std::int64_t value;
  };
  struct Natural {
    std::uint64_t value;
  };
  struct Real {
    double value;
  };
  explicit Json(Boolean value);
  explicit Json(Integer value);
  explicit Json(Natural value);
  explicit Json(Real value);
  template <class T>
  static auto integer_of(T value) {
    if constexpr (std::is_signed_v<T>) {
      return Integer{value};
    } else {
      return Natural{value};
    }
  }

  void read(Json& value) const { value = *this; }
  void read(bool& value) const;
  void read(std::int64_t& value) const;
  void read(std::uint64_t& value) const;
  void read(double& value) const;
  void read(std::string& value) const;
  template <std::integral T>
  void read(T& value) const {
    std::int64_t wide = 0;
    read(wide);
    value = static_cast<T>(wide);
  }
  template <std::floating_point T>
  void read(T& value) const {
    value = static_cast<T>(get<double>());
  }
  template <class T>
  void read(std::vector<T>& values) const {
    require(Type::array, "an array");
    for (const Json& element : elements_) values.push_back(element.get<T>());
  }
  template <class T>
  T number() const;
  void require(Type type, const char* wanted) const;

  Type type_ = Type::null;
  union {
    bool boolean_;
    std::int64_t integer_ = 0;
    std::uint64_t natural_;
    double real_;
  };
  std::string text_;
  JsonKeys keys_;               ///< of an object
  std::vector<Json> elements_;  ///< elements of an array, or values of an object
};

}  // namespace lagtape
