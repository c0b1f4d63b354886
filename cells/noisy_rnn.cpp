#include "lagtape/cells/noisy_rnn.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/lipschitz_rnn.h"

namespace lagtape {

constexpr Option kNoisyRnnOptions[] = {
    required<&NoisyRnn::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&NoisyRnn::epsilon>("epsilon", above(0), "first value of the time steps"),
    option<&NoisyRnn::beta>("beta", between(0, 1), "0: symmetric matrices, 1: antisymmetric ones"),
    option<&NoisyRnn::gamma_a>("gamma_a", at_least(0), "damping of A"),
    option<&NoisyRnn::gamma_w>("gamma_w", at_least(0), "damping of W"),
    option<&NoisyRnn::additive>("additive", at_least(0),
                                "standard deviation of the noise added in a step of training"),
    option<&NoisyRnn::multiplicative>("multiplicative", between(0, 1),
                                      "largest part by which a step of training is shortened"),
    option<&NoisyRnn::init_deviation>("init_deviation", at_least(0),
                                      "standard deviation of the first values of M_A and M_W, times units"),
};

constinit const LayerEntry NoisyRnn::kEntry = {
    .name = "noisy_rnn",
    .summary = "Lipschitz network with learned time steps, and noise in training",
    .source = "Noisy Recurrent Neural Networks",
    .equations =
        "A = (1 - beta) * (M_A + M_A.T) + beta * (M_A - M_A.T) - gamma_a * eye(units), and W of M_W and "
        "gamma_w in the same way\n"
        "in training m = 1 - multiplicative * uniform(units), a = additive * normal(units); in evaluation m "
        "= 1, a = 0\n"
        "h' = h + d * m * (A @ h + tanh(W @ h + U @ x + U.bias)) + a",
    .options = kNoisyRnnOptions,
    .read = read_cell<NoisyRnn>,
};

Layer NoisyRnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(input));
  StepTape& tape = step.tape();
  const StepVar h = step.state("h", units);
  const auto matrix = [&](const std::string& name, double gamma) {
    const std::string free = "M_" + name;
    step.parameter(free, {units, units});
    step.start(free, Initializer::normal(0, init_deviation / static_cast<double>(units)));
    return step.derived_matrix(name, units, units, {free},
                               [beta = beta, gamma](auto of) { return mixed_symmetry(of[0], beta, gamma); });
  };
  const StepMatrix A = matrix("A", gamma_a);
  const StepMatrix W = matrix("W", gamma_w);
  const StepVar Ux = step.affine("U", units, step.input());
  const StepVar d = step.vector("d", units);
  step.start("d", Initializer::constant(epsilon));

  using Kind = DrawDefinition::Kind;
  const RowShape shape = RowShape::vector(units);
  const StepVar m =
      multiplicative > 0 ? 1 - multiplicative * tape.draw(Kind::uniform, shape, true, 0) : tape.constant(1);
  const StepVar moved = h + d * m * (product(A, h) + tanh(product(W, h) + Ux));
  const StepVar next = additive > 0 ? moved + additive * tape.draw(Kind::normal, shape, true, 0) : moved;

  tape.set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
