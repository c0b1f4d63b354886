#include "lagtape/cells/s4d.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/options.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

namespace {

StepVar gelu_of(StepVar a, bool exact) {
  if (exact) return 0.5 * a * (1 + erf((1 / std::numbers::sqrt2) * a));
  return 0.5 * a * (1 + tanh(0.7978845608028654 * (a + 0.044715 * (a * a * a))));
}

/// The real and the imaginary part of exp(A dt), [units, states / 2]; `of` holds log_dt, log_A, A_imag.
struct Decay {
  explicit Decay(std::span<const Var> of) {
    const Var dt = reshape(exp(of[0]), {of[0].value().size(0), 1});
    const Var size = exp(-exp(of[1]) * dt), angle = of[2] * dt;
    re = size * cos(angle);
    im = size * sin(angle);
  }
  Var re, im;
};

/// 2 C (exp(A dt) - 1) / A, [units, states / 2]; `of` holds log_dt, log_A, A_imag, C_re, C_im.
struct Readout {
  explicit Readout(std::span<const Var> of) {
    const Decay e(of);
    const Var a = -exp(of[1]), b = of[2], norm = a * a + b * b;
    const Var re_B = ((e.re - 1.0) * a + e.im * b) / norm, im_B = (e.im * a - (e.re - 1.0) * b) / norm;
    re = 2.0 * (of[3] * re_B - of[4] * im_B);
    im = 2.0 * (of[3] * im_B + of[4] * re_B);
  }
  Var re, im;
};

constexpr Option kS4dOptions[] = {
    required<&S4d::units>("units", between(1, kLargestUnits),
                          "number of channels, the same as that of the input"),
    option<&S4d::states>("states", between(2, kLargestUnits),
                         "real numbers of state for each channel, an even number"),
    option<&S4d::gelu>("gelu", {"tanh", "exact"},
                       "the function after the state spaces: y Phi(y), or its approximation with tanh"),
};

void check_s4d(const S4d& cell, JsonReader& reader) {
  if (cell.states % 2 != 0) reader.error("states", text_of("must be even, got ", cell.states, "."));
}

}  // namespace

constinit const LayerEntry S4d::kEntry = {
    .name = "s4d",
    .summary =
        "block of diagonal linear state spaces with a gated map, a residual connection and a layer norm",
    .source = "On the Parameterization and Initialization of Diagonal State Space Models",
    .equations =
        "E = exp(A * dt), A = -exp(log_A) + 1j * A_imag, dt = exp(log_dt); K = 2 * C * (E - 1) / A\n"
        "s' = E * s + x\n"
        "g = gelu(real(sum(K * s')) + D * x)\n"
        "r = x + (W1 @ g + W1.bias) * sigmoid(W2 @ g + W2.bias)\n"
        "y = scale * (r - mean(r)) / sqrt(var(r) + 1e-5) + shift",
    .options = checked<check_s4d>(kS4dOptions),
    .read = read_cell<S4d>,
};

Layer S4d::build(std::int64_t input) const {
  require_valid(*this);
  if (input != units) {
    throw InputError(
        {}, Rule::shape, text_of("the input has ", input, " channels, not ", units), {},
        text_of("A layer {\"layer\": \"linear\", \"units\": ", units, "} before this gives them."));
  }
  const std::int64_t modes = states / 2;
  LayerRecorder step(input, Initializer::uniform_of(units));
  StepTape& tape = step.tape();
  const RowShape shape = RowShape::grouped(units, modes);
  const StepVar x = step.input();
  const StepVar re = tape.state("re", shape);
  const StepVar im = tape.state("im", shape);

  const auto parameter = [&](const std::string& name, Shape of, const Initializer& start) {
    step.parameter(name, std::move(of));
    step.start(name, start);
  };
  parameter("log_dt", {units}, Initializer::uniform(std::log(0.001), std::log(0.1)));
  parameter("log_A", {units, modes}, Initializer::constant(std::log(0.5)));
  parameter("A_imag", {units, modes}, Initializer::ramp(0, std::numbers::pi));
  parameter("C_re", {units, modes}, Initializer::normal(0, std::sqrt(0.5)));
  parameter("C_im", {units, modes}, Initializer::normal(0, std::sqrt(0.5)));
  const auto derived = [&](const std::string& name, std::vector<std::string> of, auto value) {
    const std::int64_t count = units * modes;
    return tape.reshape(
        step.derived_vector(name, count, std::move(of),
                            [value, count](auto parameters) { return reshape(value(parameters), {count}); }),
        shape);
  };
  const std::vector<std::string> of_decay = {"log_dt", "log_A", "A_imag"};
  const std::vector<std::string> of_readout = {"log_dt", "log_A", "A_imag", "C_re", "C_im"};
  const StepVar E_re = derived("E_re", of_decay, [](auto of) { return Decay(of).re; });
  const StepVar E_im = derived("E_im", of_decay, [](auto of) { return Decay(of).im; });
  const StepVar K_re = derived("K_re", of_readout, [](auto of) { return Readout(of).re; });
  const StepVar K_im = derived("K_im", of_readout, [](auto of) { return Readout(of).im; });
  const StepVar D = step.vector("D", units);
  step.start("D", Initializer::normal(0, 1));

  const StepVar re_next = E_re * re - E_im * im + tape.broadcast(x, shape);
  const StepVar im_next = E_re * im + E_im * re;
  const StepVar g = gelu_of(sum(K_re * re_next - K_im * im_next) + D * x, gelu == "exact");
  const StepVar W1g = step.affine("W1", units, g);
  const StepVar W2g = step.affine("W2", units, g);
  const StepVar r = x + W1g * sigmoid(W2g);
  const StepVar centered = r - mean(r);
  const StepVar scale = step.vector("scale", units);
  const StepVar shift = step.vector("shift", units);
  step.start("scale", Initializer::constant(1));
  step.start("shift", Initializer::constant(0));

  tape.set_next(re, re_next);
  tape.set_next(im, im_next);
  return step.finish(scale * (centered / sqrt(mean(centered * centered) + 1e-5)) + shift);
}

}  // namespace lagtape
