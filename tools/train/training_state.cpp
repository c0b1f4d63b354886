#include "lagtape/tools/train/training_state.h"

#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/train/update_step.h"

namespace lagtape {

namespace {

/// A number as JSON, which has no word for numbers that are not finite; they are strings (and were null
/// once).
Json json_of(double number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

double number_of(const Json& json) {
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  if (json == "nan" || json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  return json.get<double>();
}

Json json_of(const TrainingPosition& position) {
  return Json::array({position.epoch, position.step_of_epoch, position.step});
}

/// A count of steps, updates or the like. Throws Json::exception for anything else.
std::int64_t count_of(const Json& json, std::int64_t least = 0) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (!json.is_number_integer()) throw Json::exception({}, Rule::wrong_type, "expected a whole number");
  const std::int64_t count = json.get<std::int64_t>();
  if (count < least || count > kMost) throw Json::exception({}, Rule::out_of_range, "expected a count");
  return count;
}

std::int64_t count_at(const Json& json, std::string_view key) {
  return json.contains(key) ? count_of(json.at(key)) : 0;
}

TrainingPosition position_of(const Json& json) {
  return {count_of(json.at(0)), count_of(json.at(1)), count_of(json.at(2))};
}

Json json_of(const AverageState& average) {
  Json json = {{"evaluations", average.evaluations}, {"stalled", average.stalled}};
  if (average.best) json["best"] = json_of(*average.best);
  if (average.begun) json["begun"] = json_of(*average.begun);
  return json;
}

Json json_of(const PlateauState& plateau) {
  Json json = {{"plateaus", plateau.plateaus}, {"stalled", plateau.stalled}};
  if (plateau.best) json["best"] = json_of(*plateau.best);
  return json;
}

Json json_of(const SegmentProgress& progress) {
  return {{"steps", progress.steps},        {"rows", progress.rows},
          {"loss", json_of(progress.loss)}, {"scored", json_of(progress.scored)},
          {"made", progress.made},          {"skipped", progress.skipped}};
}

Json json_of(const TrainingState& state) {
  Json json = {{"position", json_of(state.position)},
               {"evaluated_step", state.evaluated_step},
               {"loss_sum", json_of(state.loss_sum)},
               {"sequences", json_of(state.sequences)},
               {"skipped", state.skipped},
               {"skipped_in_all", state.skipped_in_all},
               {"skipped_in_a_row", state.skipped_in_a_row},
               {"lr", json_of(state.lr)},
               {"seconds", json_of(state.seconds)},
               {"training_seconds", json_of(state.training_seconds)},
               {"time_steps", json_of(state.time_steps)},
               {"average", json_of(state.average)}};
  if (state.plateau.best) json["plateau"] = json_of(state.plateau);
  if (state.segments) json["segments"] = json_of(*state.segments);
  if (state.kept) {
    Json valid = Json::object();
    for (const auto& [name, value] : state.kept->valid) valid[name] = json_of(value);
    json["kept"] = {{"position", json_of(state.kept->position)},
                    {"value", json_of(state.kept->value)},
                    {"averaged", state.kept->averaged},
                    {"valid", valid}};
  }
  return json;
}

AverageState average_of(const Json& json) {
  AverageState average;
  average.evaluations = count_of(json.at("evaluations"));
  average.stalled = count_of(json.at("stalled"));
  if (json.contains("best")) average.best = number_of(json["best"]);
  if (json.contains("begun")) average.begun = position_of(json["begun"]);
  return average;
}

PlateauState plateau_of(const Json& json) {
  PlateauState plateau;
  plateau.plateaus = json.at("plateaus").get<std::int64_t>();
  plateau.stalled = json.at("stalled").get<std::int64_t>();
  if (json.contains("best")) plateau.best = number_of(json["best"]);
  return plateau;
}

SegmentProgress progress_of(const Json& json) {
  SegmentProgress progress;
  progress.steps = count_of(json.at("steps"), 1);
  for (const Json& row : json.at("rows")) progress.rows.push_back(count_of(row));
  progress.loss = number_of(json.at("loss"));
  progress.scored = number_of(json.at("scored"));
  progress.made = count_of(json.at("made"));
  progress.skipped = count_of(json.at("skipped"));
  return progress;
}

TrainingState state_of(const Json& json) {
  TrainingState state;
  state.position = position_of(json.at("position"));
  state.evaluated_step = count_of(json.at("evaluated_step"), -1);
  state.loss_sum = number_of(json.at("loss_sum"));
  state.sequences = number_of(json.at("sequences"));
  state.skipped = count_at(json, "skipped");
  state.skipped_in_all = count_at(json, "skipped_in_all");
  state.skipped_in_a_row = count_at(json, "skipped_in_a_row");
  state.lr = number_of(json.at("lr"));
  state.seconds = number_of(json.at("seconds"));
  state.training_seconds = number_of(json.at("training_seconds"));
  state.time_steps = number_of(json.at("time_steps"));
  if (json.contains("kept")) {
    const Json& kept = json["kept"];
    state.kept.emplace();
    state.kept->position = position_of(kept.at("position"));
    state.kept->value = number_of(kept.at("value"));
    state.kept->averaged = count_at(kept, "averaged");
    for (const auto& [name, value] : kept.at("valid").items())
      state.kept->valid.emplace_back(name, number_of(value));
  }
  if (json.contains("average")) state.average = average_of(json["average"]);
  if (json.contains("plateau")) state.plateau = plateau_of(json["plateau"]);
  if (json.contains("segments")) state.segments = progress_of(json["segments"]);
  return state;
}

TrainingState read_state(const TensorReader& reader) try {
  const auto text = reader.metadata().find("state");
  if (text == reader.metadata().end())
    throw InputError({.op = "checkpoint"}, Rule::damaged, "the file has no training state in its metadata.");
  return state_of(parse_json(text->second, ""));
} catch (const Json::exception&) {
  throw InputError({.op = "checkpoint"}, Rule::damaged, "the training state in the metadata is damaged.");
}

void add_values(SafetensorsFile& file, const std::string& prefix, const Parameters& parameters,
                const std::vector<Tensor>& values) {
  auto value = values.begin();
  for (const Parameter& parameter : parameters) file.tensors.push_back({prefix + parameter.name, *value++});
}

std::vector<Tensor> take_values(TensorReader& reader, const std::string& prefix,
                                const Parameters& parameters) {
  std::vector<Tensor> values;
  for (const Parameter& parameter : parameters) {
    values.push_back(reader.take(prefix + parameter.name, parameter.value.shape(), parameter.value.dtype()));
  }
  return values;
}

std::string window_name(std::size_t number) { return text_of("window.", number); }

Window take_window(TensorReader& reader, const ModelOp& op, std::size_t rows) {
  Window window;
  for (const auto& [shape, dtype] : op.window_shapes(static_cast<std::int64_t>(rows)))
    window.states.push_back(reader.take(window_name(window.states.size()), shape, dtype));
  return window;
}

}  // namespace

SafetensorsFile pack_state(const TrainingState& state, const Parameters& parameters,
                           const Optimizer& optimizer, const std::optional<WeightAverage>& average) {
  SafetensorsFile file;
  file.metadata["state"] = json_of(state).dump();
  for (const Parameter& parameter : parameters)
    file.tensors.push_back({"parameters." + parameter.name, parameter.value});
  if (state.kept) add_values(file, "kept.", parameters, state.kept->parameters);
  if (state.segments) {
    std::size_t number = 0;
    for (const Tensor& values : state.segments->window.states)
      file.tensors.push_back({window_name(number++), values});
  }
  for (const NamedTensor& slot : optimizer.state()) file.tensors.push_back(slot);
  if (average)
    for (const NamedTensor& mean : average->state()) file.tensors.push_back(mean);
  return file;
}

TrainingPosition position_in(const TensorReader& reader) { return read_state(reader).position; }

TrainingState unpack_state(TensorReader& reader, const ModelOp& op, Parameters& parameters,
                           Optimizer& optimizer, std::optional<WeightAverage>& average) {
  TrainingState state = read_state(reader);
  const std::vector<Tensor> values = take_values(reader, "parameters.", parameters);
  if (state.kept) state.kept->parameters = take_values(reader, "kept.", parameters);
  if (state.segments) state.segments->window = take_window(reader, op, state.segments->rows.size());
  std::optional<WeightAverage> means;
  if (state.average.begun) means.emplace(parameters).load_state(reader);
  optimizer.load_state(reader);
  reader.finish();
  assign_values(parameters, values);
  average = std::move(means);
  return state;
}

}  // namespace lagtape
