#include "lagtape/core/json/normalization_json.h"

#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

std::vector<double> read_numbers(const Json& object, const char* key, const std::string& where) {
  std::vector<double> numbers;
  const auto found = object.find(key);
  bool fits = found != object.end() && found->is_array();
  for (std::size_t i = 0; fits && i < found->size(); ++i) {
    fits = (*found)[i].is_number();
    if (fits) numbers.push_back((*found)[i].get<double>());
  }
  if (!fits)
    throw unexpected({.file = where, .item = text_of("normalization.", key)}, Rule::wrong_type,
                     "an array of numbers");
  return numbers;
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

}  // namespace lagtape
