#include "lagtape/cells/lipschitz_rnn.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

constexpr Option kLipschitzRnnOptions[] = {
    required<&LipschitzRnn::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&LipschitzRnn::epsilon>("epsilon", above(0), "time step"),
    option<&LipschitzRnn::alpha>("alpha", "weight of the linear part"),
    option<&LipschitzRnn::beta>("beta", between(0, 1), "0: symmetric matrices, 1: antisymmetric ones"),
    option<&LipschitzRnn::gamma>("gamma", at_least(0), "damping"),
    option<&LipschitzRnn::init_deviation>(
        "init_deviation", at_least(0), "standard deviation of the first values of M_A and M_W, times units"),
};

constinit const LayerEntry LipschitzRnn::kEntry = {
    .name = "lipschitz_rnn",
    .summary = "residual network with a bounded Lipschitz constant",
    .source = "Lipschitz Recurrent Neural Networks",
    .equations =
        "A = (1 - beta) * (M_A + M_A.T) + beta * (M_A - M_A.T) - gamma * eye(units), and W of M_W in the "
        "same way\n"
        "h' = h + epsilon * (alpha * (A @ h) + tanh(W @ h + U @ x + U.bias))",
    .options = kLipschitzRnnOptions,
    .read = read_cell<LipschitzRnn>,
};

Var mixed_symmetry(const Var& M, double beta, double gamma) {
  const Var T = transpose(M);
  return (1 - beta) * (M + T) + beta * (M - T) - gamma * identity(M, M.value().size(0));
}

Layer LipschitzRnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(input));
  const StepVar h = step.state("h", units);
  const auto matrix = [&](const std::string& name) {
    const std::string free = "M_" + name;
    step.parameter(free, {units, units});
    step.start(free, Initializer::normal(0, init_deviation / static_cast<double>(units)));
    return step.derived_matrix(name, units, units, {free}, [beta = beta, gamma = gamma](auto of) {
      return mixed_symmetry(of[0], beta, gamma);
    });
  };
  const StepMatrix A = matrix("A");
  const StepMatrix W = matrix("W");
  const StepVar Ux = step.affine("U", units, step.input());
  const StepVar next = h + epsilon * (alpha * product(A, h) + tanh(product(W, h) + Ux));

  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
