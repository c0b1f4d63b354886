#include "lagtape/cells/unicornn.h"

#include <cmath>
#include <span>

#include "lagtape/cells/recorder.h"
#include "lagtape/core/json_reader.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {
namespace {

/// A number, or a list of one for each layer.
std::vector<double> read_dt(JsonReader& reader, std::int64_t layers) {
  const Json& given =
      reader.raw("dt", "time step, > 0: one number, or a list of one a layer", "number | list", "");
  std::vector<double> dt;
  if (given.is_number()) dt = {given.get<double>()};
  if (given.is_array())
    for (const Json& value : given) dt.push_back(value.is_number() ? value.get<double>() : 0);
  bool good = dt.size() == 1 || std::ssize(dt) == layers;
  for (double value : dt) good = good && value > 0;
  if (!good) {
    reader.error("dt", concat("expected a number above 0, or a list of ", layers, ", one a layer. Got ",
                              given.dump(), "."));
    return {1};
  }
  return dt;
}

}  // namespace

void Unicornn::read(JsonReader& reader) {
  reader.required("units", units, between(1, kLargestUnits), "oscillators of a layer");
  reader.optional("layers", layers, between(1, 1000), "layers, one on top of the other");
  dt = read_dt(reader, layers);
  reader.optional("alpha", alpha, at_least(0), "strength of the oscillators' own restoring force");
  reader.optional("dropout", dropout, at_least(0),
                  "probability with which a unit of a layer's output is left out for a whole sequence");
  if (dropout >= 1) reader.error("dropout", concat("must be below 1, got ", dropout, "."));
  reader.optional("train_c", train_c, "whether c, which scales the time step of each unit, is trained");
}

std::vector<Layer> Unicornn::build(std::int64_t input) const {
  std::vector<Layer> stack;
  for (std::int64_t l = 0; l < layers; ++l)
    stack.push_back(
        build_layer(l == 0 ? input : units, dt[dt.size() == 1 ? 0 : static_cast<std::size_t>(l)]));
  return stack;
}

Layer Unicornn::build_layer(std::int64_t input, double dt_of_layer) const {
  LayerRecorder step(input, Initializer::uniform(0, 1));
  StepTape& tape = step.tape();
  const StepVar z = step.state("z", units);
  const StepVar y = step.state("y", units);
  const StepVar Vx = step.affine("V", units, step.input());
  const StepVar w = step.vector("w", units);
  step.parameter("c", {units});
  const StepVar s =
      step.derived_vector("s", units, {"c"}, [dt_of_layer, train = train_c](std::span<const Var> of) {
        const Var c = train ? of[0] : of[0].tape().constant(of[0].value());
        return dt_of_layer * sigmoid(c);
      });

  const StepVar z_next = z - s * (tanh(w * y + Vx) + alpha * y);
  const StepVar y_next = y + s * z_next;
  tape.set_next(z, z_next);
  tape.set_next(y, y_next);

  step.start("V", {Initializer::Kind::kaiming_uniform, std::sqrt(2.0 / 65), 0});
  step.start("V.bias", Initializer::constant(0));
  step.start("c", Initializer::uniform(-0.1, 0.1));
  return step.finish(dropout > 0 ? y_next * tape.mask(y_next.shape(), dropout, false) : y_next);
}

}  // namespace lagtape
