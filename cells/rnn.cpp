#include "lagtape/cells/rnn.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

constexpr Option kRnnOptions[] = {
    required<&Rnn::units>("units", between(1, kLargestUnits), "size of the state"),
};

constinit const LayerEntry Rnn::kEntry = {
    .name = "rnn",
    .summary = "plain recurrent network with tanh",
    .source = "Finding Structure in Time (Elman 1990)",
    .equations =
        "h' = tanh(W @ h + U @ x)\n"
        "both products have a bias of their own: W.bias, U.bias",
    .options = kRnnOptions,
    .read = read_cell<Rnn>,
};

Layer Rnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(units));
  const StepVar h = step.state("h", units);
  const StepVar Wh = step.affine("W", units, h);
  const StepVar Ux = step.affine("U", units, step.input());
  const StepVar next = tanh(Wh + Ux);

  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
