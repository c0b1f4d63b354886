#include "lagtape/cells/build/delay.h"

#include "lagtape/core/json/json_reader.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

/// Reads "start", which is a number or [low, high].
void read_start(JsonReader& reader, Delay& delay) {
  const Json& start =
      reader.raw("start", "first value, or the range of first values", "number | list of number");
  const bool is_range = start.is_array() && start.size() == 2 && start[0].is_number() && start[1].is_number();
  if (start.is_number()) {
    delay.low = delay.high = start.get<double>();
  } else if (is_range) {
    delay.low = start[0].get<double>();
    delay.high = start[1].get<double>();
  } else if (!start.is_null()) {
    reader.error("start", "expected a number, or two of them.");
  }
  if (!(delay.low >= 1 && delay.low <= delay.high && delay.high <= static_cast<double>(delay.max)))
    reader.error("start", text_of("must be within 1 .. max, got ", start.dump(), "."));
  reader.fill("start", delay.low == delay.high ? Json(delay.low) : Json::array({delay.low, delay.high}));
}

Delay read_trained(JsonReader& reader) {
  Delay delay;
  delay.max = 1;
  reader.required("max", delay.max, between(1, StepTape::kLargestLag - 1), "largest value, in steps");
  std::string each = "layer";
  reader.choice("each", each, {"layer", "unit"}, "what has a delay of its own");
  delay.each_unit = each == "unit";
  const double largest = static_cast<double>(delay.max), middle = middle_of(delay.max);
  delay.low = delay.each_unit ? 1 : middle;
  delay.high = delay.each_unit ? largest : middle;
  read_start(reader, delay);
  reader.finish();
  return delay;
}

/// Reads one delay; `filled` becomes it with its defaults.
Delay read_delay(const Json& value, const std::string& pointer, JsonErrors& errors, Json& filled) {
  filled = value;
  if (value.is_object()) {
    JsonReader reader(value, pointer, errors);
    const Delay delay = read_trained(reader);
    filled = reader.filled();
    return delay;
  }
  if (value.is_number() && value.get<double>() >= 0) {
    filled = value.get<double>();
    return value.get<double>();
  }
  errors.add(pointer, text_of("expected number >= 0, or {\"max\": 64}, got ", value.dump()));
  return {};
}

Json json_of(const Delay& delay) {
  if (!delay.is_trained()) return delay.time;
  const Json start = delay.low == delay.high ? Json(delay.low) : Json::array({delay.low, delay.high});
  return {{"max", delay.max}, {"each", delay.each_unit ? "unit" : "layer"}, {"start", start}};
}

Json json_of(const Delays& delays) {
  if (delays.size() == 1) return json_of(delays[0]);
  Json list = Json::array();
  for (const Delay& delay : delays) list.push_back(json_of(delay));
  return list;
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

void read_delays(JsonReader& reader, const std::string& key, const std::string& about, Delays& delays) {
  const std::string one =
      text_of(R"(number >= 0 | {"max": integer >= 1 and <= )", StepTape::kLargestLag - 1,
              R"(, "each"?: "layer" | "unit", "start"?: number | list of number | null})");
  const Json value = reader.raw(key, about + "; a {\"max\": 64} is trained",
                                text_of(one, " | list of 1 or more (", one, ")"), "");
  const std::string pointer = reader.pointer_to(key);
  if (value.is_null()) {
    if (reader.is_object()) reader.error(key, Problem{.rule = Rule::missing, .expected = "number >= 0"});
    reader.fill(key, json_of(delays));
    return;
  }
  Json filled;
  delays = {};
  if (!value.is_array()) {
    delays.push_back(read_delay(value, pointer, reader.errors(), filled));
    reader.fill(key, filled);
    return;
  }
  if (value.empty()) reader.error(key, "a list of delays must have at least one.");
  Json all = Json::array();
  for (std::size_t i = 0; i < value.size(); ++i) {
    delays.push_back(read_delay(value[i], text_of(pointer, "/", i), reader.errors(), filled));
    all.push_back(filled);
  }
  reader.fill(key, all);
}

}  // namespace lagtape
