#include <algorithm>
#include <numeric>
#include <vector>

#include "lagtape/core/json/json.h"

// Comparison, without a value of the library beneath: its destructors allocate, and end the program where that fails.

namespace lagtape {
namespace {

bool are_equal_numbers(const Json& a, const Json& b) {
  if (a.is_number_float() || b.is_number_float()) return a.get<double>() == b.get<double>();
  return a.get<std::int64_t>() == b.get<std::int64_t>();
}

/// A key as a part of a JSON Pointer.
std::string pointer_part(const std::string& key) {
  std::string part = "/";
  for (const char c : key) part += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return part;
}

/// Whether two values differ; `pointer` is then extended by the way to the first difference.
bool differs(const Json& a, const Json& b, std::string& pointer) {
  const auto in = [&](const std::string& part, const Json& from, const Json& to) {
    const std::size_t before = pointer.size();
    pointer += part;
    if (differs(from, to, pointer)) return true;
    pointer.resize(before);
    return false;
  };
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      if (!b.contains(key)) return pointer += pointer_part(key), true;
      if (in(pointer_part(key), value, b.at(key))) return true;
    }
    for (const auto& [key, value] : b.items())
      if (!a.contains(key)) return pointer += pointer_part(key), true;
    return false;
  }
  if (a.is_array() && b.is_array()) {
    const std::size_t common = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < common; ++i)
      if (in(text_of("/", i), a.at(i), b.at(i))) return true;
    if (a.size() == b.size()) return false;
    return pointer += text_of("/", common), true;
  }
  return !(a == b);
}

/// The places of an object's keys in the order of the alphabet.
std::vector<std::size_t> sorted_places(const std::vector<std::string>& keys) {
  std::vector<std::size_t> places(keys.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, {}, [&](std::size_t place) -> const std::string& { return keys[place]; });
  return places;
}

}  // namespace

std::string Json::first_difference(const Json& other) const {
  std::string pointer;
  return differs(*this, other, pointer) ? pointer : std::string();
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return are_equal_numbers(a, b);
  if (a.type_ != b.type_) return false;
  switch (a.type_) {
    case Json::Type::null: return true;
    case Json::Type::boolean: return a.boolean_ == b.boolean_;
    case Json::Type::string: return a.text_ == b.text_;
    case Json::Type::array: return a.elements_ == b.elements_;
    default: break;
  }
  if (a.keys_ == b.keys_) return a.elements_ == b.elements_;
  if (a.size() != b.size()) return false;
  return std::ranges::equal(sorted_places(a.keys_), sorted_places(b.keys_),
                            [&](std::size_t i, std::size_t j) {
                              return a.keys_[i] == b.keys_[j] && a.elements_[i] == b.elements_[j];
                            });
}

}  // namespace lagtape
