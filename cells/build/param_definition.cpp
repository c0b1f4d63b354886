#include "lagtape/cells/build/param_definition.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {
namespace {

void read_bound(JsonReader& reader, const Option& option, std::optional<double>& bound) {
  const std::string key(option.key);
  double number = 0;
  if (!reader.has(key)) return;
  reader.read(key, number, {}, std::string(option.about));
  bound = number;
}

Json bound_json(const Option&, const std::optional<double>& bound) { return bound ? Json(*bound) : Json(); }

Json bound_schema(const Option&) { return number_schema({}); }

constexpr auto kBound = option_kind<std::optional<double>, read_bound, bound_json, bound_schema>();

void read_size(JsonReader& reader, const Option& option, std::string& size) {
  const std::string key(option.key);
  const Json& given = reader.raw(key, std::string(option.about));
  if (given.is_string()) size = given.get<std::string>();
  if (given.is_number_integer()) size = given.dump();
  if (!given.is_null() && size.empty()) reader.error(key, R"(expected a number of them, like 3 or "units".)");
}

Json size_json(const Option&, const std::string& size) { return size.empty() ? Json() : Json(size); }

Json size_schema(const Option&) {
  return either_schema({Json{{"type", "string"}}, integer_schema(at_least(1))});
}

constexpr auto kSize = option_kind<std::string, read_size, size_json, size_schema>();

std::string scale_needs(const ParamDefinition& param) {
  if (param.scale == Scale::logit && (!param.min || !param.max)) return "the scale logit needs min and max.";
  if (param.scale == Scale::log && param.min.value_or(0) < 0)
    return "the scale log needs a min of 0 or more.";
  return {};
}

/// The range of starts that the bounds allow, in words.
std::string expected_start(const ParamDefinition& param) {
  const Bounds bounds = param.bounds();
  if (bounds.scale == Scale::logit) return text_of("a number between ", bounds.low, " and ", bounds.high);
  if (param.max && param.start > *param.max) return text_of("a number up to ", *param.max);
  return bounds.scale == Scale::log && bounds.low <= 0 ? "a number above 0"
                                                       : text_of("a number from ", bounds.low, " on");
}

Problem out_of_range(std::string expected, double found) {
  Problem problem;
  problem.rule = Rule::out_of_range;
  problem.expected = std::move(expected);
  problem.found = text_of(found);
  return problem;
}

void check_param(const ParamDefinition& param, JsonReader& reader) {
  if (param.min && param.max && !(*param.min < *param.max))
    return reader.error("max", out_of_range(text_of("a number above min, ", *param.min), *param.max));
  if (const std::string need = scale_needs(param); !need.empty()) return reader.error("scale", need);
  if (reader.has("start") && !param.bounds().contains(param.start))
    reader.error("start", out_of_range(expected_start(param), param.start));
}

constexpr Option kRows[] = {
    required<&ParamDefinition::start>("start", "first value"),
    option<&ParamDefinition::min>("min", kBound, "least value").open(),
    option<&ParamDefinition::max>("max", kBound, "largest value").open(),
    option<&ParamDefinition::scale>(
        "scale", Choices{{"linear", Scale::linear}, {"log", Scale::log}, {"logit", Scale::logit}},
        "what is trained is the value, its logarithm, or log((value - min) / (max - value)); by default "
        "logit with "
        "min and max, log with a min of 0, else linear")
        .open(),
    option<&ParamDefinition::train>("train", "whether it is trained; false: it keeps its start"),
    option<&ParamDefinition::size>("size", kSize, "how many there are, as a vector").open(),
    option<&ParamDefinition::unit>("unit", "unit of the values, as text").open(),
};

}  // namespace

constinit const OptionTable kParamOptions = checked<check_param>(kRows);

Bounds ParamDefinition::bounds() const {
  Bounds bounds;
  if (min) bounds.low = *min;
  if (max) bounds.high = *max;
  const Scale by_default = min && max ? Scale::logit : min && *min == 0 ? Scale::log : Scale::linear;
  bounds.scale = scale.value_or(by_default);
  return bounds;
}

ParamDefinition read_param(const Json& value, const std::string& pointer, JsonErrors& errors) {
  ParamDefinition param;
  if (value.is_number()) {
    param.start = value.get<double>();
  } else if (!value.is_object()) {
    errors.add(pointer, R"(expected a number, or an object like {"start": 17, "min": 5, "max": 40}.)");
  } else {
    JsonReader reader(value, pointer, errors);
    read_options(reader, kParamOptions, param);
    reader.finish();
  }
  return param;
}

Json param_schema() { return either_schema({number_schema({}), schema_of_rows(kParamOptions)}); }

}  // namespace lagtape
