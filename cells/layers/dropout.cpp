#include "lagtape/cells/layers/dropout.h"

#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

constinit const LayerEntry Dropout::kEntry = {
    .name = "dropout",
    .kind = "layer",
    .summary = "dropout: in training, random elements are set to zero",
    .source = "Srivastava et al. 2014; one mask per sequence: Gal and Ghahramani 2016",
    .equations = "y = x * mask(rate)",
    .read = read_layer<Dropout>,
};

void Dropout::read(JsonReader& reader) {
  reader.required("rate", rate, at_least(0), "probability with which an element is set to zero");
  if (rate >= 1) reader.error("rate", text_of("must be below 1, got ", rate, "."));
  reader.optional("variational", variational, "one mask for all steps of a sequence");
}

Layer Dropout::build(std::int64_t input) const {
  check(*this);
  LayerRecorder step(input, Initializer::constant(0));
  const StepVar x = step.input();
  return step.finish(step.tape().mask(x.shape(), rate, !variational) * x);
}

}  // namespace lagtape
