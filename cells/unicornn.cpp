#include "lagtape/cells/unicornn.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {
namespace {

/// Reads a number, or a list of numbers. `check` inspects the numbers.
void read_dt(JsonReader& reader, const Option& option, std::vector<double>& dt) {
  const Json& given = reader.raw(std::string(option.key), "");
  if (given.is_null()) return;
  dt.clear();
  if (given.is_number()) dt = {given.get<double>()};
  if (given.is_array())
    for (const Json& value : given) dt.push_back(value.is_number() ? value.get<double>() : 0);
}

Json dt_json(const Option&, const std::vector<double>& dt) { return dt.size() == 1 ? Json(dt[0]) : Json(dt); }

Json dt_schema(const Option&) {
  return either_schema({number_schema(above(0)), list_schema(number_schema(above(0)))});
}

constexpr OptionKindOf<std::vector<double>> kTimeSteps =
    option_kind<std::vector<double>, read_dt, dt_json, dt_schema>();

void check_dt(const Unicornn& cell, JsonReader& reader) {
  bool good = cell.dt.size() == 1 || std::ssize(cell.dt) == cell.layers;
  for (const double value : cell.dt) good = good && value > 0;
  if (good) return;
  const std::string expected =
      text_of("expected a number above 0, or a list of ", cell.layers, ", one for each layer");
  reader.error("dt", reader.has("dt") ? text_of(expected, ". Got ", reader.raw("dt", "").dump(), ".")
                                      : text_of("is missing, ", expected, "."));
}

constexpr Option kUnicornnOptions[] = {
    required<&Unicornn::units>("units", between(1, kLargestUnits), "number of oscillators of a layer"),
    option<&Unicornn::layers>("layers", between(1, 1000), "number of layers, one on top of the other"),
    required<&Unicornn::dt>("dt", kTimeSteps, "time step, > 0: one number, or a list of one for each layer"),
    option<&Unicornn::alpha>("alpha", at_least(0), "strength of the oscillators' own restoring force"),
    option<&Unicornn::dropout>(
        "dropout", from_below(0, 1),
        "probability with which a unit of a layer's output is set to zero for a whole sequence"),
    option<&Unicornn::residual_stacking>(
        "residual_stacking", between(0, 1000),
        "layers that a connection from below skips (S), fewer than there are; 0: no such connections"),
    option<&Unicornn::train_c>("train_c", "whether c, which scales the time step of each unit, is trained"),
    option<&Unicornn::reads>("reads", kStepTime, kAboutStepTime),
};

void check_unicornn(const Unicornn& cell, JsonReader& reader) {
  check_dt(cell, reader);
  if (cell.residual_stacking >= cell.layers)
    reader.error("residual_stacking", text_of("there are ", cell.layers, " layers, so that none is ",
                                              cell.residual_stacking, " above another."));
}

}  // namespace

constinit const LayerEntry Unicornn::kEntry = {
    .name = "unicornn",
    .summary = "undamped independent controlled oscillators, a network whose steps can be undone",
    .source =
        "UnICORNN: A recurrent model for learning very long time dependencies, Equation 6; residual "
        "stacking: Appendix C.5",
    .equations =
        "s = dt * sigmoid(c)\n"
        "z' = z - s * (tanh(w * y + (V @ x + V.bias)) + alpha * y)\n"
        "y' = y + s * z'\n"
        "the input x of every layer but the lowest is the y' of the layer below, in training times a mask "
        "of dropout\n"
        "residual stacking: layers from S + 1 upwards have V @ x + V.bias + Lambda @ y, y that of the layer "
        "S + 1 below",
    .options = checked<check_unicornn>(kUnicornnOptions),
    .read = read_cell<Unicornn>,
};

std::vector<Layer> Unicornn::build(std::int64_t input) const {
  require_valid(*this);
  std::vector<Layer> stack;
  const std::int64_t read = input - (reads.column ? 1 : 0);
  for (std::int64_t layer = 1; layer <= layers; ++layer) stack.push_back(build_layer(layer, read));
  return stack;
}

std::vector<std::int64_t> Unicornn::passed_on(std::int64_t layer) const {
  std::vector<std::int64_t> ys = {layer};
  for (std::int64_t y = layer - 1; y >= std::max<std::int64_t>(0, layer - residual_stacking); --y)
    if (residual_stacking > 0 && y + residual_stacking + 1 <= layers) ys.push_back(y);
  return ys;
}

Layer Unicornn::build_layer(std::int64_t layer, std::int64_t input) const {
  const std::vector<std::int64_t> below = passed_on(layer - 1);
  std::int64_t width = 0;
  std::vector<std::int64_t> begins;
  for (const std::int64_t y : below) {
    begins.push_back(width);
    width += width_of(y, input);
  }
  LayerRecorder step(width + (reads.column ? 1 : 0), Initializer::uniform(0, 1));
  StepTape& tape = step.tape();
  const TimeOfStep time = step.step_time(1, layer > 1 && reads.column ? StepTime{-1} : reads, layer < layers);
  // The part of the input that contains the outputs y_first to y_last of the layers below.
  const auto part = [&](std::int64_t first, std::int64_t last) {
    const auto place = [&](std::int64_t y) {
      return static_cast<std::size_t>(std::ranges::find(below, y) - below.begin());
    };
    return tape.slice(step.input(), begins[place(first)], begins[place(last)] + width_of(last, input));
  };

  const StepVar z = step.state("z", units);
  const StepVar y = step.state("y", units);
  StepVar drive = step.affine("V", units, part(layer - 1, layer - 1));
  const std::int64_t skipped_to = layer - residual_stacking - 1;
  const bool skips = residual_stacking > 0 && skipped_to >= 0;
  if (skips) drive = drive + step.linear("Lambda", units, part(skipped_to, skipped_to));
  const StepVar w = step.vector("w", units);
  step.parameter("c", {units});
  const double dt_of_layer = dt[dt.size() == 1 ? 0 : static_cast<std::size_t>(layer - 1)];
  const StepVar each =
      step.derived_units("s", units, {"c"}, [dt_of_layer](auto of) { return dt_of_layer * sigmoid(of[0]); });
  step.named("s", each);
  const StepVar s = time.given ? time * each : each;

  const StepVar z_next = z - s * (tanh(w * y + drive) + alpha * y);
  const StepVar y_next = y + s * z_next;
  tape.set_next(z, z_next);
  tape.set_next(y, y_next);

  const Initializer of_matrices = {Initializer::Kind::kaiming_uniform, std::sqrt(2.0 / 65), 0};
  step.start("V", of_matrices);
  if (skips) step.start("Lambda", of_matrices);
  step.start("V.bias", Initializer::constant(0));
  step.start("c", Initializer::uniform(-0.1, 0.1));
  StepVar output = dropout > 0 ? y_next * tape.mask(y_next.shape(), dropout, false) : y_next;
  const std::vector<std::int64_t> on = passed_on(layer);
  if (on.size() > 1) output = tape.concatenate(output, part(on[1], on.back()));
  Layer result = step.finish(output);
  for (ParameterDefinition& p : result.parameters) p.trainable = train_c || p.name != "c";
  for (StateDefinition& state : result.program.states) state.arithmetic = kArithmetic;
  return result;
}

}  // namespace lagtape
