#include "lagtape/cells/delay.h"

#include "lagtape/core/json/json_reader.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

/// "start": a number, or [low, high].
void read_start(JsonReader& reader, Delay& delay) {
  const Json& start = reader.raw("start", "first value, or the range of first values");
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

/// One delay, and what it becomes with its defaults.
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

}  // namespace

Delay Delay::trained(std::int64_t max, bool each_unit, double low, double high) {
  Delay delay;
  delay.max = max;
  delay.each_unit = each_unit;
  delay.low = low;
  delay.high = high;
  return delay;
}

Initializer Delay::initializer() const {
  return low == high ? Initializer::constant(low) : Initializer::uniform(low, high);
}

double middle_of(std::int64_t max) { return max == 1 ? 1 : static_cast<double>(max / 2) + 0.5; }

std::vector<Delay> read_delays(JsonReader& reader, const std::string& key, const std::string& about) {
  const Json value =
      reader.raw(key, about, "number >= 0, {\"max\": 64} for one that is trained, or a list", "");
  const std::string pointer = reader.pointer_to(key);
  if (value.is_null()) {
    if (reader.is_object()) reader.error(key, "is missing, expected number >= 0");
    return {Delay()};
  }
  Json filled;
  if (!value.is_array()) {
    const Delay delay = read_delay(value, pointer, reader.errors(), filled);
    reader.fill(key, filled);
    return {delay};
  }
  if (value.empty()) reader.error(key, "a list of delays must have at least one.");
  std::vector<Delay> delays;
  Json all = Json::array();
  for (std::size_t i = 0; i < value.size(); ++i) {
    delays.push_back(read_delay(value[i], text_of(pointer, "/", i), reader.errors(), filled));
    all.push_back(filled);
  }
  reader.fill(key, all);
  if (delays.empty()) delays.emplace_back();
  return delays;
}

}  // namespace lagtape
