#include "lagtape/cells/exp_rnn.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/matrix_exponential.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

constexpr Option kExpRnnOptions[] = {
    required<&ExpRnn::units>("units", between(2, kLargestUnits), "size of the state"),
    option<&ExpRnn::start>("start", {"henaff", "cayley"},
                           "first rotations: by any angle, or those that a Cayley transform gives"),
};

constinit const LayerEntry ExpRnn::kEntry = {
    .name = "exp_rnn",
    .summary = "network with an orthogonal matrix, the exponential of a skew-symmetric one",
    .source =
        "Cheap Orthogonal Constraints in Neural Networks: A Simple Parametrization of the Orthogonal and "
        "Unitary Group",
    .equations =
        "Q = expm(S - S.T), S strictly upper triangular\n"
        "u = Q @ h + V @ x\n"
        "h' = sign(u) * relu(abs(u) + b)",
    .options = kExpRnnOptions,
    .read = read_cell<ExpRnn>,
};

Layer ExpRnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::kaiming_normal());
  const StepVar h = step.state("h", units);
  step.parameter("S", {units * (units - 1) / 2});
  step.start("S", start == "cayley" ? Initializer::cayley() : Initializer::henaff());
  const StepMatrix Q = step.derived_matrix("Q", units, units, {"S"}, [units = units](auto of) {
    const Var S = strict_upper(of[0], units);
    return matrix_exponential(S - transpose(S));
  });
  const StepVar u = product(Q, h) + step.linear("V", units, step.input());
  const StepVar b = step.vector("b", units);
  step.start("b", Initializer::uniform(-0.01, 0.01));
  const StepVar next = sign(u) * relu(abs(u) + b);

  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
