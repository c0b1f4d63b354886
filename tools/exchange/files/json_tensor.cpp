#include "lagtape/tools/exchange/files/json_tensor.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"

namespace lagtape::foreign {
namespace {

void append_numbers(const Json& json, const Shape& shape, std::size_t axis, const Place& place,
                    std::vector<double>& values) {
  if (axis == shape.size()) {
    if (!json.is_number())
      throw unexpected(place, Rule::wrong_type, "a number",
                       text_of(json.is_array() ? "an array" : json.dump()));
    values.push_back(json.get<double>());
    return;
  }
  if (!json.is_array() || std::ssize(json) != shape[axis])
    throw unexpected(place, Rule::wrong_type, text_of("an array of ", shape[axis]),
                     text_of(json.is_array() ? text_of("one of ", json.size()) : json.type_name()));
  std::size_t i = 0;
  for (const Json& element : json)
    append_numbers(element, shape, axis + 1, part_of(place, text_of(i++)), values);
}

const Json& value_at(const Json& parent, std::string_view key, const Place& place) {
  const Json* found = parent.find(key);
  if (found == parent.end()) throw InputError(Problem{.place = part_of(place, key), .rule = Rule::missing});
  return *found;
}

[[noreturn]] void refuse_value(const Json& found, std::string_view key, const Place& place,
                               const std::string& expected) {
  const bool large = found.is_array() || found.is_object();
  throw unexpected(part_of(place, key), Rule::wrong_type, expected,
                   large ? text_of("an ", found.type_name()) : found.dump());
}

}  // namespace

Place part_of(Place place, std::string_view key) {
  place.pointer += pointer_part(std::string(key));
  return place;
}

Tensor tensor_of(const Json& json, const Place& place) {
  Shape shape;
  for (const Json* level = &json; level->is_array(); level = level->begin()) {
    shape.push_back(std::ssize(*level));
    if (level->empty()) throw unexpected(place, Rule::shape, "an array of numbers", "an empty one");
  }
  if (shape.empty()) throw unexpected(place, Rule::wrong_type, "an array of numbers", json.dump());
  std::vector<double> values;
  append_numbers(json, shape, 0, place, values);
  return Tensor::from(shape, values, Dtype::f64);
}

const Json& object_at(const Json& parent, std::string_view key, const Place& place) {
  const Json& found = value_at(parent, key, place);
  if (!found.is_object()) refuse_value(found, key, place, "an object");
  return found;
}

const Json& array_at(const Json& parent, std::string_view key, const Place& place) {
  const Json& found = value_at(parent, key, place);
  if (!found.is_array()) refuse_value(found, key, place, "an array");
  return found;
}

std::int64_t count_at(const Json& parent, std::string_view key, const Place& place, std::int64_t least) {
  constexpr std::int64_t kMost = 1 << 16;
  const Json& found = value_at(parent, key, place);
  if (!found.is_number_integer() || found.get<double>() < static_cast<double>(least) ||
      found.get<double>() > kMost)
    refuse_value(found, key, place, text_of("a whole number, ", least, " to ", kMost));
  return found.get<std::int64_t>();
}

std::string text_at(const Json& parent, std::string_view key, const Place& place) {
  const Json& found = value_at(parent, key, place);
  if (!found.is_string()) refuse_value(found, key, place, "a text");
  return found.get<std::string>();
}

void check_keys(const Json& object, const std::vector<std::string>& known, const Place& place) {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      throw InputError(unknown_name("key", key, known).within(place));
}

void check_shape(const Tensor& tensor, const Shape& wanted, const Place& place) {
  if (tensor.shape() != wanted)
    throw unexpected(place, Rule::shape, text_of("the shape ", to_string(wanted)), to_string(tensor.shape()));
}

}  // namespace lagtape::foreign
