#include "lagtape/cells/fast_grnn.h"

#include "lagtape/cells/build/activation.h"
#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {

constexpr Option kFastGrnnOptions[] = {
    required<&FastGrnn::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&FastGrnn::gate>("gate", kActivations, "function of the gate"),
    option<&FastGrnn::update>("update", kActivations, "function of the candidate"),
    option<&FastGrnn::rank_w>("rank_w", between(0, kLargestUnits), "rank of W = W1 @ W2; 0: full"),
    option<&FastGrnn::rank_u>("rank_u", between(0, kLargestUnits), "rank of U = U1 @ U2; 0: full"),
};

constinit const LayerEntry FastGrnn::kEntry = {
    .name = "fast_grnn",
    .summary = "gated network whose gate and candidate share their matrices",
    .source = "FastGRNN: A Fast, Accurate, Stable and Tiny Kilobyte Sized Gated Recurrent Neural Network",
    .equations =
        "p = W @ x + U @ h\n"
        "g = gate(p + b_g)\n"
        "c = update(p + b_u)\n"
        "h' = g * h + (sigmoid(zeta) * (1 - g) + sigmoid(nu)) * c\n"
        "with ranks W = W1 @ W2, U = U1 @ U2",
    .options = kFastGrnnOptions,
    .read = read_cell<FastGrnn>,
};

Layer FastGrnn::build(std::int64_t input) const {
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
  const StepVar p = Wx + Uh;
  const StepVar g = step.named("g", activate(gate, p + step.vector("b_g", units)));
  const StepVar c = activate(update, p + step.vector("b_u", units));
  const StepVar zeta = share("zeta", 1);
  const StepVar nu = share("nu", -4);
  const StepVar next = g * h + (zeta * (1 - g) + nu) * c;

  step.start("b_g", Initializer::constant(1));
  step.start("b_u", Initializer::constant(1));
  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
