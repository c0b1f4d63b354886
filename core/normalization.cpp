#include "lagtape/core/normalization.h"

#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

namespace {

using f32 = std::numeric_limits<float>;

std::vector<double> read_numbers(const Json& object, const char* key, const std::string& where) {
  std::vector<double> numbers;
  const auto found = object.find(key);
  bool fits = found != object.end() && found->is_array();
  for (std::size_t i = 0; fits && i < found->size(); ++i) {
    fits = (*found)[i].is_number();
    if (fits) numbers.push_back((*found)[i].get<double>());
  }
  if (!fits)
    throw InputError({where}, Rule::wrong_type,
                     text_of("normalization.", key, ": expected an array of numbers"));
  return numbers;
}

// Throws InputError unless number `i` is from `least` to the largest number of f32.
void check_in(double number, double least, const char* name, const char* what, std::int64_t i) {
  if (number >= least && number <= f32::max()) return;
  throw InputError({.op = "normalization"}, Rule::out_of_range,
                   text_of(name, " of ", what, " ", i, ": expected a number from ", least, " to ", f32::max(),
                           ", got ", number));
}

}  // namespace

std::string json_of(const Normalization& normalization) {
  return Json{{"input_mean", normalization.input.mean},
              {"input_scale", normalization.input.scale},
              {"output_mean", normalization.output.mean},
              {"output_scale", normalization.output.scale}}
      .dump();
}

Normalization normalization_from(const std::string& json, const std::string& where) {
  const Json object = parse_json(json, where.empty() ? "normalization" : where + ": normalization");
  const auto numbers = [&](const char* key) { return read_numbers(object, key, where); };
  return {.input = {.mean = numbers("input_mean"), .scale = numbers("input_scale")},
          .output = {.mean = numbers("output_mean"), .scale = numbers("output_scale")}};
}

void Scaling::check(std::int64_t width, const char* what) const {
  const auto means = std::ssize(mean), scales = std::ssize(scale);
  if (means != scales || (means != 0 && means != width)) {
    throw InputError({.op = "normalization"}, Rule::shape,
                     text_of("expected a mean and a scale for each of ", width, " ", what, "s, or none"),
                     text_of(means, " means, ", scales, " scales"));
  }
  for (std::int64_t i = 0; i < means; ++i) {
    check_in(mean[i], -f32::max(), "mean", what, i);
    check_in(scale[i], kLeastScale, "scale", what, i);
  }
}

void Normalization::check(std::int64_t inputs, std::int64_t outputs) const {
  input.check(inputs, "input");
  output.check(outputs, "output");
}

}  // namespace lagtape
