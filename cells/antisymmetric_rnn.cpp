#include "lagtape/cells/antisymmetric_rnn.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

constexpr Option kAntisymmetricRnnOptions[] = {
    required<&AntisymmetricRnn::units>("units", between(2, kLargestUnits), "size of the state"),
    option<&AntisymmetricRnn::epsilon>("epsilon", above(0), "time step"),
    option<&AntisymmetricRnn::gamma>("gamma", at_least(0), "damping"),
    option<&AntisymmetricRnn::form>("form", {"plain", "gated", "residual"},
                                    "plain, with a gate on the step, or the baseline with any matrix"),
};

constinit const LayerEntry AntisymmetricRnn::kEntry = {
    .name = "antisymmetric_rnn",
    .summary = "residual network at the edge of stability",
    .source = "AntisymmetricRNN: A Dynamical System View on Recurrent Neural Networks",
    .equations =
        "A = W - W.T - gamma * eye(units), W strictly upper triangular; in the form residual A = W, any "
        "matrix\n"
        "s = sigmoid(A @ h + Uz @ x + Uz.bias) in the form gated, else 1\n"
        "h' = h + epsilon * s * tanh(A @ h + U @ x + U.bias)",
    .options = kAntisymmetricRnnOptions,
    .read = read_cell<AntisymmetricRnn>,
};

Layer AntisymmetricRnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(input));
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const auto antisymmetric = [&] {
    step.parameter("W", {units * (units - 1) / 2});
    return step.derived_matrix("A", units, units, {"W"}, [units = units, gamma = gamma](auto of) {
      const Var W = strict_upper(of[0], units);
      return W - transpose(W) - gamma * identity(W, units);
    });
  };

  const StepMatrix A = form == "residual" ? step.matrix("W", units, units) : antisymmetric();
  step.start("W", Initializer::normal(0, 1 / std::sqrt(static_cast<double>(units))));
  const StepVar Ah = product(A, h);
  const StepVar change = tanh(Ah + step.affine("U", units, x));
  const bool gated = form == "gated";
  const auto gate = [&] { return step.named("z", sigmoid(Ah + step.affine("Uz", units, x))); };
  const StepVar next = gated ? h + epsilon * gate() * change : h + epsilon * change;

  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
