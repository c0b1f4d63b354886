#include <algorithm>

#include "lagtape/core/json/json.h"
#include "lagtape/core/json/json_pointer.h"

// Comparison that does not use a value of the underlying library: its destructors allocate, and terminate the
// program if that fails.

namespace lagtape {
namespace {

bool are_equal_numbers(const Json& a, const Json& b) {
  if (a.is_number_float() || b.is_number_float()) return a.get<double>() == b.get<double>();
  return a.get<std::int64_t>() == b.get<std::int64_t>();
}

/// Whether two values differ; if so, `pointer` is extended by the path to the first difference.
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
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t place = b.keys_.find(a.keys_[i]);
    if (place == b.size() || !(a.elements_[i] == b.elements_[place])) return false;
  }
  return true;
}

}  // namespace lagtape
