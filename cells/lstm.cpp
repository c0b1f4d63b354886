#include "lagtape/cells/lstm.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/options.h"

namespace lagtape {

namespace {

constexpr Option kLstmOptions[] = {
    required<&Lstm::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&Lstm::forget_gate>("forget_gate", "whether a gate forgets; otherwise f = 1"),
    option<&Lstm::chrono>("chrono", at_least(0),
                          "longest time that is remembered at first; 0: the biases start like the matrices")
        .in("steps"),
    option<&Lstm::scaling>(
        "scaling", {"none", "v1", "v2"},
        "gates that update c: none: f and i; v1: dt * f and dt * i; v2: (1 - dt) * f and dt * i"),
    option<&Lstm::dt>("dt", above(0), "time step of scaling v1 and v2"),
};

void check_lstm(const Lstm& cell, JsonReader& reader) {
  if (cell.chrono > 0 && cell.chrono < 2)
    reader.error("chrono", text_of("must be 0 or at least 2, got ", cell.chrono, "."));
  if (cell.dt != 1 && cell.scaling == "none") reader.error("dt", "there is no dt without scaling.");
}

}  // namespace

constinit const LayerEntry Lstm::kEntry = {
    .name = "lstm",
    .summary = "long short-term memory",
    .source =
        "Long Short-Term Memory (Hochreiter and Schmidhuber 1997); Learning to Forget (Gers, Schmidhuber "
        "and Cummins 2000)",
    .equations =
        "i = sigmoid(W_i @ h + U_i @ x)\n"
        "f = sigmoid(W_f @ h + U_f @ x)\n"
        "g = tanh(W_g @ h + U_g @ x)\n"
        "o = sigmoid(W_o @ h + U_o @ x)\n"
        "c' = f * c + i * g\n"
        "h' = o * tanh(c')\n"
        "each product W @ h and U @ x has its own bias: W_i.bias, U_i.bias, ...",
    .options = checked<check_lstm>(kLstmOptions),
    .read = read_cell<Lstm>,
};

Layer Lstm::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(units));
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const StepVar c = step.state("c", units);
  const auto activation = [&](const std::string& gate) {
    const StepVar Wh = step.affine("W_" + gate, units, h);
    const StepVar Ux = step.affine("U_" + gate, units, x);
    return Wh + Ux;
  };

  const StepVar i = step.named("i", sigmoid(activation("i")));
  const StepVar f = step.named("f", forget_gate ? sigmoid(activation("f")) : step.tape().constant(1));
  const StepVar g = tanh(activation("g"));
  const StepVar o = sigmoid(activation("o"));
  const double f_scale = scaling == "v1" ? dt : scaling == "v2" ? 1 - dt : 1;
  const double i_scale = scaling == "none" ? 1 : dt;
  const StepVar c_next = f_scale * f * c + i_scale * i * g;
  const StepVar h_next = o * tanh(c_next);

  if (chrono > 0) {
    step.start_biases(Initializer::constant(0));
    if (forget_gate) step.start("W_f.bias", Initializer::log_uniform(1, chrono - 1));
    step.start("W_i.bias", Initializer::log_uniform(-1, chrono - 1), "W_f.bias");
  }
  step.tape().set_next(h, h_next);
  step.tape().set_next(c, c_next);
  return step.finish(h_next);
}

}  // namespace lagtape
