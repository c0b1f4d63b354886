#include "lagtape/cells/layers/dropout.h"

#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

constexpr Option kDropoutOptions[] = {
    required<&Dropout::rate>("rate", from_below(0, 1), "probability with which an element is set to zero"),
    option<&Dropout::variational>("variational", "one mask for all steps of a sequence"),
};

constinit const LayerEntry Dropout::kEntry = {
    .name = "dropout",
    .kind = "layer",
    .summary = "dropout: in training, random elements are set to zero",
    .source = "Srivastava et al. 2014; one mask per sequence: Gal and Ghahramani 2016",
    .equations = "y = x * mask(rate)",
    .options = kDropoutOptions,
    .read = read_layer<Dropout>,
};

Layer Dropout::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::constant(0));
  const StepVar x = step.input();
  return step.finish(step.tape().mask(x.shape(), rate, !variational) * x);
}

}  // namespace lagtape
