#include "lagtape/cells/tarnn.h"

#include "lagtape/cells/build/activation.h"
#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/ops/matrices.h"

namespace lagtape {

constexpr Option kTarnnOptions[] = {
    required<&Tarnn::units>("units", between(1, kLargestUnits), "size of the state"),
    required<&Tarnn::length>("length", between(1, kLargestUnits),
                             "number of steps that have their own time constants"),
    option<&Tarnn::inner_steps>("inner_steps", between(1, 1000), "Euler steps for an input"),
    option<&Tarnn::gate>("gate", {"output", "inner"},
                         "whether the gate is on the result or on the inner steps"),
    option<&Tarnn::activation>("activation", kActivations, "activation function"),
};

constinit const LayerEntry Tarnn::kEntry = {
    .name = "tarnn",
    .summary = "network whose every step solves a differential equation, with trained time constants",
    .source = "Time Adaptive Recurrent Neural Network",
    .equations =
        "r = U2 @ h + U2.bias + W1 @ x + W1.bias + W2 @ x[-1]; before the first step x[-1] is the first "
        "input\n"
        "s = sigmoid(Ug @ h + Wg @ x + Wg.bias)\n"
        "q = h, then inner_steps times\n"
        "F = activation(U1 @ q + r) - q - h + (B1 @ x + B2 @ h)\n"
        "q = (1 - Ak[n]) * q + Ak[n] * F; with the gate inside q = q + Ak[n] * s * F\n"
        "h' = (1 - s) * h + s * q; with the gate inside h' = q",
    .options = kTarnnOptions,
    .read = read_cell<Tarnn>,
};

Layer Tarnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::normal(0, 0.1));
  StepTape& tape = step.tape();
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const StepVar before = step.state("x_before", input);

  const StepVar n = tape.step_index();
  const StepVar later = minimum(n, tape.constant(1));
  const StepVar x_before = later * before + (1 - later) * x;
  // A vector that is 1 at the step's index and 0 elsewhere, to select a number from Ak.
  const StepVar places = step.derived_vector("places", length, {"U1"},
                                             [length = length](auto of) { return arange(of[0], length); });
  const StepVar here = minimum(n, tape.constant(static_cast<double>(length - 1)));
  const StepVar pick = relu(1 - abs(places - here));

  const StepMatrix U1 = step.matrix("U1", units, units);
  const StepVar U2h = step.affine("U2", units, h);
  const StepVar W1x = step.affine("W1", units, x);
  const StepVar W2x = step.linear("W2", units, x_before);
  const StepVar r = U2h + W1x + W2x;
  const StepVar B1x = step.linear("B1", units, x);
  const StepVar B2h = step.linear("B2", units, h);
  const StepVar Ugh = step.linear("Ug", units, h);
  const StepVar Wgx = step.affine("Wg", units, x);
  const StepVar s = step.named("s", sigmoid(Ugh + Wgx));
  StepVar q = h;
  for (std::int64_t k = 1; k <= inner_steps; ++k) {
    const std::string name = text_of("A", k);
    const StepVar a = sum(step.vector(name, length) * pick);
    const StepVar F = activate(activation, product(U1, q) + r) - q - h + (B1x + B2h);
    q = gate == "inner" ? q + a * s * F : (1 - a) * q + a * F;
    step.start(name, Initializer::constant(0.01));
  }
  const StepVar next = gate == "inner" ? q : (1 - s) * h + s * q;

  step.start_biases(Initializer::constant(0));
  if (gate == "output") step.start("Wg.bias", Initializer::constant(-3));
  tape.set_next(h, next);
  tape.set_next(before, x);
  return step.finish(next);
}

}  // namespace lagtape
