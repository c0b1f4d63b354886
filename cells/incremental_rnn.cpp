#include "lagtape/cells/incremental_rnn.h"

#include "lagtape/cells/build/activation.h"
#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

constexpr Option kIncrementalRnnOptions[] = {
    required<&IncrementalRnn::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&IncrementalRnn::inner_steps>("inner_steps", between(1, 1000), "Euler steps for an input"),
    option<&IncrementalRnn::alpha>("alpha", above(0), "pull towards zero"),
    option<&IncrementalRnn::activation>("activation", kActivations, "activation function"),
};

constinit const LayerEntry IncrementalRnn::kEntry = {
    .name = "incremental_rnn",
    .summary = "network whose every step moves towards an equilibrium (iRNN)",
    .source =
        "RNNs Incrementally Evolving on an Equilibrium Manifold: A Panacea for Vanishing and Exploding "
        "Gradients?",
    .equations =
        "v = 0, then inner_steps times\n"
        "v = v + eta_i * (activation(U @ (v + h) + W @ x + W.bias) - alpha * (v + h))\n"
        "h' = v",
    .options = kIncrementalRnnOptions,
    .read = read_cell<IncrementalRnn>,
};

Layer IncrementalRnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(units));
  const StepVar h = step.state("h", units);
  const StepMatrix U = step.matrix("U", units, units);
  const StepVar Wx = step.affine("W", units, step.input());
  const auto change = [&](std::int64_t i, StepVar s) {
    const std::string name = text_of("eta_", i);
    const StepVar eta = step.named(name, step.scalar(name));
    step.start(name, Initializer::constant(0.01));
    return eta * (activate(activation, product(U, s) + Wx) - alpha * s);
  };
  StepVar v = change(1, h);
  for (std::int64_t i = 2; i <= inner_steps; ++i) v = v + change(i, v + h);

  step.tape().set_next(h, v);
  return step.finish(v);
}

}  // namespace lagtape
