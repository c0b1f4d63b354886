#include "lagtape/cells/build/delay.h"

#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

Json start_json(const Option&, const Delay& delay) {
  return delay.low == delay.high ? Json(delay.low) : Json::array({delay.low, delay.high});
}

Json start_schema(const Option&) {
  return either_schema({number_schema({}), list_schema(number_schema({})), Json{{"type", "null"}}});
}

/// Reads "start", which is a number or [low, high]. Its default depends on the other keys.
void read_start(JsonReader& reader, const Option&, Delay& delay) {
  const double largest = static_cast<double>(delay.max), middle = middle_of(delay.max);
  delay.low = delay.each_unit ? 1 : middle;
  delay.high = delay.each_unit ? largest : middle;
  const Json& start = reader.raw("start", "");
  const bool is_range = start.is_array() && start.size() == 2 && start[0].is_number() && start[1].is_number();
  if (start.is_number()) {
    delay.low = delay.high = start.get<double>();
  } else if (is_range) {
    delay.low = start[0].get<double>();
    delay.high = start[1].get<double>();
  } else if (!start.is_null()) {
    reader.error("start", "expected a number, or two of them.");
  }
  if (!(delay.low >= 1 && delay.low <= delay.high && delay.high <= largest))
    reader.error("start", text_of("must be within 1 .. max, got ", start.dump(), "."));
}

constexpr OptionKindOf<Delay> kStart = option_kind<Delay, read_start, start_json, start_schema>();

constexpr Option kTrainedDelay[] = {
    required<&Delay::max>("max", between(1, StepTape::kLargestLag - 1), "largest value, in steps"),
    option<&Delay::each_unit>("each", Choices{{"layer", false}, {"unit", true}},
                              "one delay for the layer, or one for each unit"),
    whole<Delay>("start", kStart, "first value, or the range of first values"),
};

Delay read_delay(const Json& value, const std::string& pointer, JsonErrors& errors) {
  if (value.is_object()) {
    Delay delay;
    delay.max = 1;
    JsonReader reader(value, pointer, errors);
    read_options(reader, {kTrainedDelay}, delay);
    reader.finish();
    return delay;
  }
  if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
  errors.add(pointer, text_of("expected number >= 0, or {\"max\": 64}, got ", value.dump()));
  return {};
}

Json json_of(const Delay& delay) {
  return delay.is_trained() ? json_of({kTrainedDelay}, delay) : Json(delay.time);
}

Json json_of_delays(const Option&, const Delays& delays) {
  if (delays.size() == 1) return json_of(delays[0]);
  Json list = Json::array();
  for (const Delay& delay : delays) list.push_back(json_of(delay));
  return list;
}

Json delays_schema(const Option&) {
  const Json one = either_schema({number_schema(at_least(0)), schema_of_rows(kTrainedDelay)});
  return either_schema({one["anyOf"][0], one["anyOf"][1], list_schema(one, 1)});
}

/// Reads a delay, or a list of delays, replacing those already set.
void read_delays(JsonReader& reader, const Option& option, Delays& delays) {
  const std::string key(option.key);
  const Json& value = reader.raw(key, "");
  const std::string pointer = reader.pointer_to(key);
  if (value.is_null()) {
    if (reader.is_object()) reader.error(key, Problem{.rule = Rule::missing, .expected = "number >= 0"});
    return;
  }
  delays = {};
  if (!value.is_array()) return delays.push_back(read_delay(value, pointer, reader.errors()));
  if (value.empty()) reader.error(key, "a list of delays must have at least one.");
  for (std::size_t i = 0; i < value.size(); ++i)
    delays.push_back(read_delay(value[i], text_of(pointer, "/", i), reader.errors()));
}

Delay trained_delay(std::int64_t max, bool each_unit, double low, double high) {
  if (max < 1)
    throw InputError({.op = "delay"}, Rule::out_of_range,
                     text_of("a trained delay needs a max of at least 1, got ", max, "."));
  Delay delay;
  delay.max = max;
  delay.each_unit = each_unit;
  delay.low = low;
  delay.high = high;
  return delay;
}

}  // namespace

constinit const OptionKindOf<Delays> kDelays =
    option_kind<Delays, read_delays, json_of_delays, delays_schema>();

Delay Delay::trained(std::int64_t max) { return trained(max, middle_of(max)); }
Delay Delay::trained(std::int64_t max, double start) { return trained_delay(max, false, start, start); }
Delay Delay::trained_each_unit(std::int64_t max) {
  return trained_each_unit(max, 1, static_cast<double>(max));
}
Delay Delay::trained_each_unit(std::int64_t max, double low, double high) {
  return trained_delay(max, true, low, high);
}

Initializer Delay::initializer() const {
  return low == high ? Initializer::constant(low) : Initializer::uniform(low, high);
}

double middle_of(std::int64_t max) { return max == 1 ? 1 : static_cast<double>(max / 2) + 0.5; }

std::map<std::string, Bounds> bounds_of_lags(const StepProgram& program,
                                             const std::map<std::string, std::int64_t>& of_input) {
  std::map<std::string, Bounds> ranges;
  for (const Instruction& v : program.values)
    if (v.op == StepOp::real_lag)
      ranges.try_emplace(program.weights[program.values[v.a].index].name,
                         Bounds{1, static_cast<double>(v.lag)});
  for (const auto& [name, largest] : of_input)
    ranges.try_emplace(name, Bounds{0, static_cast<double>(largest)});
  return ranges;
}

}  // namespace lagtape
