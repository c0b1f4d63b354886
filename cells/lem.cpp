#include "lagtape/cells/lem.h"

#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/options.h"

namespace lagtape {

namespace {

constexpr Option kLemOptions[] = {
    required<&Lem::units>("units", between(1, kLargestUnits), "size of each of the two states"),
    option<&Lem::dt>("dt", above(0), "largest time scale"),
    option<&Lem::multiscale>("multiscale", "whether the time scales are learned; otherwise both are dt"),
    option<&Lem::chrono>("chrono", at_least(0),
                         "longest time that the first time scales allow for; 0: W1.bias starts like the "
                         "other biases")
        .in("steps"),
    option<&Lem::smallest_scale>("smallest_scale", between(0, 1),
                                 "the time scales are clipped to [smallest_scale, 1]; 0: they are not"),
    option<&Lem::reads>("reads", kStepTime, kAboutStepTime),
};

void check_lem(const Lem& cell, JsonReader& reader) {
  if (cell.chrono > 0 && !(cell.chrono * cell.dt >= 2)) {
    reader.error("chrono", text_of("chrono * dt must be at least 2, got ", cell.chrono * cell.dt, "."));
  }
  if (!cell.multiscale && (cell.chrono > 0 || cell.smallest_scale > 0)) {
    reader.error("multiscale", "without learned time scales there is neither chrono nor smallest_scale.");
  }
}

}  // namespace

constinit const LayerEntry Lem::kEntry = {
    .name = "lem",
    .summary = "long expressive memory: two states, each with learned time scales",
    .source = "Long Expressive Memory for Sequence Modeling, Equation 3",
    .equations =
        "dt1 = dt * sigmoid(W1 @ y + V1 @ x)\n"
        "dt2 = dt * sigmoid(W2 @ y + V2 @ x)\n"
        "z' = (1 - dt1) * z + dt1 * tanh(Wz @ y + Vz @ x)\n"
        "y' = (1 - dt2) * y + dt2 * tanh(Wy @ z' + Vy @ x)\n"
        "each product W @ y, W @ z' and V @ x has its own bias: W1.bias, V1.bias, ...",
    .options = checked<check_lem>(kLemOptions),
    .read = read_cell<Lem>,
};

Layer Lem::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(units));
  StepTape& tape = step.tape();
  const TimeOfStep time = step.step_time(dt, reads);
  const StepVar x = step.input();
  const StepVar z = step.state("z", units);
  const StepVar y = step.state("y", units);
  const auto activation = [&](const std::string& i, StepVar from) {
    const StepVar Wy = step.affine("W" + i, units, from);
    const StepVar Vx = step.affine("V" + i, units, x);
    return Wy + Vx;
  };
  const auto scale = [&](const std::string& i) {
    if (!multiscale) return time.given ? dt * *time.given : tape.constant(dt);
    const StepVar learned = time * sigmoid(activation(i, y));
    if (smallest_scale == 0) return learned;
    return minimum(maximum(learned, tape.constant(smallest_scale)), tape.constant(1));
  };

  const StepVar dt1 = step.named("dt1", scale("1"));
  const StepVar dt2 = step.named("dt2", scale("2"));
  const StepVar z_next = (1 - dt1) * z + dt1 * tanh(activation("z", y));
  const StepVar y_next = (1 - dt2) * y + dt2 * tanh(activation("y", z_next));

  if (chrono > 0) {
    step.start_biases(Initializer::constant(0));
    step.start("W1.bias", Initializer::log_uniform(-1, chrono * dt - 1));
  }
  tape.set_next(z, z_next);
  tape.set_next(y, y_next);
  return step.finish(y_next);
}

}  // namespace lagtape
