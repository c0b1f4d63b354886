#include "lagtape/cells/indrnn.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/ops/elementwise.h"

namespace lagtape {

constexpr Option kIndRnnOptions[] = {
    required<&IndRnn::units>("units", between(1, kLargestUnits), "size of the state"),
    option<&IndRnn::longest>(
        "longest", at_least(0),
        "number of steps in which a state may at most double, for which w is clipped; 0: w is not clipped"),
    option<&IndRnn::start>("start", {"uniform", "ones"}, "first values of the recurrent weights"),
};

constinit const LayerEntry IndRnn::kEntry = {
    .name = "indrnn",
    .summary = "network of independent units, each with a single recurrent weight",
    .source = "Independently Recurrent Neural Network (IndRNN): Building A Longer and Deeper RNN",
    .equations =
        "w_clipped = minimum(maximum(w, -r), r), r = 2^(1 / longest)\n"
        "h' = relu(W @ x + W.bias + w_clipped * h)",
    .options = kIndRnnOptions,
    .read = read_cell<IndRnn>,
};

namespace {

/// minimum(maximum(w, -bound), bound)
struct Clip {
  double bound;
  Var operator()(std::span<const Var> of) const { return minimum(maximum(of[0], -bound), bound); }
  StepVar operator()(std::span<const StepVar> of) const {
    StepTape& tape = of[0].tape();
    return minimum(maximum(of[0], tape.constant(-bound)), tape.constant(bound));
  }
};

}  // namespace

Layer IndRnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::normal(0, 0.001));
  const StepVar h = step.state("h", units);
  const double bound = longest > 0 ? std::exp2(1 / longest) : 1;
  const auto clipped = [&] {
    step.parameter("w", {units});
    return step.derived_units("w_clipped", units, {"w"}, Clip{bound});
  };

  const StepVar Wx = step.affine("W", units, step.input());
  const StepVar w = step.named("w", longest > 0 ? clipped() : step.vector("w", units));
  const StepVar next = relu(Wx + w * h);

  step.start("W.bias", Initializer::constant(0));
  step.start("w", start == "ones" ? Initializer::constant(1) : Initializer::uniform(-bound, bound));
  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
