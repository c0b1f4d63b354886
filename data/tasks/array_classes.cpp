#include "lagtape/data/tasks/array_classes.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

bool are_one_hot(const Tensor& targets) {
  if (targets.rank() < 2 || targets.rank() > 3 || targets.size(-1) < 2 || targets.numel() == 0) return false;
  const std::int64_t width = targets.size(-1);
  bool has_ones = false;
  for (std::int64_t row = 0; row < targets.numel() / width; ++row) {
    std::int64_t ones = 0;
    for (std::int64_t k = 0; k < width; ++k) {
      const double value = targets.at(row * width + k);
      if (value != 0 && value != 1) return false;
      ones += value == 1 ? 1 : 0;
    }
    if (ones > 1 || (ones == 0 && targets.rank() == 2)) return false;
    has_ones = has_ones || ones == 1;
  }
  return has_ones;
}

Tensor places_of_ones(const Tensor& targets) {
  const std::int64_t width = targets.size(-1);
  Shape shape = targets.shape();
  shape.pop_back();
  Tensor places = Tensor::full(shape, Dtype::f64, -1);
  for (std::int64_t i = 0; i < targets.numel(); ++i)
    if (targets.at(i) == 1) places.set(i / width, static_cast<double>(i % width));
  return places;
}

std::optional<ArrayClasses> classes_of(const std::set<double>& values) {
  constexpr double kLargest = 1e15;
  const auto is_class = [](double value) {
    return value == std::floor(value) && std::abs(value) <= kLargest;
  };
  if (values.size() < 2 || !std::ranges::all_of(values, is_class)) return {};
  ArrayClasses found{.count = std::ssize(values)};
  if (*values.begin() == 0 && *values.rbegin() == static_cast<double>(values.size() - 1)) return found;
  for (const double value : values) found.names.push_back(text_of(static_cast<std::int64_t>(value)));
  return found;
}

namespace {

constexpr double kMostClasses = 1e6;

void read_classes(JsonReader& reader, const Option& option, ArrayClasses& classes) {
  const std::string key(option.key);
  const Json& given = reader.raw(key);
  if (!reader.has(key)) return;
  if (given.is_array()) {
    std::set<double> values;
    for (const Json& one : given) {
      const auto value = one.is_string()   ? parse_number(one.get<std::string>())
                         : one.is_number() ? std::optional(one.get<double>())
                                           : std::nullopt;
      if (value && *value == std::floor(*value) && values.insert(*value).second)
        classes.names.push_back(text_of(static_cast<std::int64_t>(*value)));
    }
    classes.count = std::ssize(classes.names);
    if (classes.names.size() != given.size() || given.size() < 2)
      reader.error(key, text_of("expected at least two whole numbers, each once. Got ", given.dump(), "."));
  } else if (given.is_number_integer() && given.get<double>() >= 0 && given.get<double>() <= kMostClasses) {
    classes.count = given.get<std::int64_t>();
  } else {
    reader.error(key, text_of("expected a number of classes, or a list of them. Got ", given.dump(), "."));
  }
}

Json classes_json(const Option&, const ArrayClasses& classes) {
  return classes.names.empty() ? Json(classes.count) : Json(classes.names);
}
Json classes_schema(const Option&) {
  const Json one = either_schema({Json{{"type", "integer"}}, Json{{"type", "string"}}});
  return either_schema({integer_schema(between(0, kMostClasses)), list_schema(one, 2)});
}

}  // namespace

constinit const OptionKindOf<ArrayClasses> kArrayClasses =
    option_kind<ArrayClasses, read_classes, classes_json, classes_schema>();

}  // namespace lagtape
