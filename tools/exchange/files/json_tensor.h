#pragma once

#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/core/problem.h"
#include "lagtape/core/tensor.h"

namespace lagtape::foreign {

/// The place of the value of `key`.
Place part_of(Place place, std::string_view key);

/// The numbers in nested arrays as an f64 tensor. Throws InputError at `place` unless all arrays at a level
/// have the same length, above 0, and contain numbers.
Tensor tensor_of(const Json& json, const Place& place);

/// A required value that must be an object, an array, an integer of at least `least` or a text. Throws
/// InputError with the key and the value at `place`.
const Json& object_at(const Json& parent, std::string_view key, const Place& place);
const Json& array_at(const Json& parent, std::string_view key, const Place& place);
std::int64_t count_at(const Json& parent, std::string_view key, const Place& place, std::int64_t least = 1);
std::string text_at(const Json& parent, std::string_view key, const Place& place);

/// Throws InputError for the first unknown key.
void check_keys(const Json& object, const std::vector<std::string>& known, const Place& place);

/// Throws InputError unless a tensor has that shape.
void check_shape(const Tensor& tensor, const Shape& wanted, const Place& place);

}  // namespace lagtape::foreign
