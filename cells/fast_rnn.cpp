#include "lagtape/cells/fast_rnn.h"

#include "lagtape/cells/build/activation.h"
#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {

constexpr Option kFastRnnOptions[] = {
    required<&FastRnn::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&FastRnn::activation>("activation", kActivations, "activation function"),
    option<&FastRnn::rank_w>("rank_w", between(0, kLargestUnits), "rank of W = W1 @ W2; 0: full"),
    option<&FastRnn::rank_u>("rank_u", between(0, kLargestUnits), "rank of U = U1 @ U2; 0: full"),
};

constinit const LayerEntry FastRnn::kEntry = {
    .name = "fast_rnn",
    .summary = "plain network with a weighted residual connection",
    .source = "FastGRNN: A Fast, Accurate, Stable and Tiny Kilobyte Sized Gated Recurrent Neural Network",
    .equations =
        "h' = sigmoid(beta) * h + sigmoid(alpha) * activation(W @ x + U @ h + b)\n"
        "with ranks W = W1 @ W2, U = U1 @ U2",
    .options = kFastRnnOptions,
    .read = read_cell<FastRnn>,
};

Layer FastRnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::normal(0, 0.1));
  const StepVar h = step.state("h", units);
  const auto share = [&](const std::string& name, double first) {
    step.parameter(name, {});
    step.start(name, Initializer::constant(first));
    return step.derived_scalar("sigmoid_" + name, {name}, [](auto of) { return sigmoid(of[0]); });
  };

  const StepVar Wx = step.linear("W", units, step.input(), rank_w);
  const StepVar Uh = step.linear("U", units, h, rank_u);
  const StepVar b = step.vector("b", units);
  const StepVar kept = step.named("beta", share("beta", 3));
  const StepVar taken = step.named("alpha", share("alpha", -3));
  const StepVar next = kept * h + taken * activate(activation, Wx + Uh + b);

  step.start("b", Initializer::constant(1));
  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
