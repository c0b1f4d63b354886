#include "lagtape/cells/delay_gru.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

constexpr Option kDelayGruOptions[] = {
    required<&DelayGru::units>("units", between(1, kLargestUnits), "size of the state"),
    required<&DelayGru::tau>("tau", between(0, StepTape::kLargestLag), "delay").in("steps"),
};

constinit const LayerEntry DelayGru::kEntry = {
    .name = "delay_gru",
    .summary = "gated recurrent unit whose candidate also sees a past state",
    .source = "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback, Equation 12",
    .equations =
        "g = sigmoid(W3 @ h + U3 @ x)\n"
        "h' = (1 - g) * h + g * tanh(W1 @ h + W2 @ h[-tau] + U @ x)\n"
        "each product W @ h and U @ x has its own bias: W1.bias, U.bias, ...",
    .options = kDelayGruOptions,
    .read = read_cell<DelayGru>,
};

Layer DelayGru::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(units));
  StepTape& tape = step.tape();
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);

  const StepVar W1h = step.affine("W1", units, h);
  const StepVar W2h = step.affine("W2", units, tape.lag(h, tau));
  const StepVar Ux = step.affine("U", units, x);
  const StepVar W3h = step.affine("W3", units, h);
  const StepVar U3x = step.affine("U3", units, x);
  const StepVar g = step.named("g", sigmoid(W3h + U3x));
  const StepVar next = (1 - g) * h + g * tanh(W1h + W2h + Ux);

  tape.set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
