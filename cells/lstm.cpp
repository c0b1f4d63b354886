#include "lagtape/cells/lstm.h"

#include "lagtape/cells/recorder.h"
#include "lagtape/core/json_reader.h"

namespace lagtape {

void Lstm::read(JsonReader& reader) {
  reader.required("units", units, between(1, kLargestUnits), "size of the state");
}

Layer Lstm::build(std::int64_t input) const {
  LayerRecorder step(input, Initializer::uniform_of(units));
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const StepVar c = step.state("c", units);
  const auto activation = [&](const std::string& gate) {
    const StepVar Wh = step.affine("W_" + gate, units, h);
    const StepVar Ux = step.affine("U_" + gate, units, x);
    return Wh + Ux;
  };

  const StepVar i = sigmoid(activation("i"));
  const StepVar f = sigmoid(activation("f"));
  const StepVar g = tanh(activation("g"));
  const StepVar o = sigmoid(activation("o"));
  const StepVar c_next = f * c + i * g;
  const StepVar h_next = o * tanh(c_next);

  step.tape().set_next(h, h_next);
  step.tape().set_next(c, c_next);
  return step.finish(h_next);
}

}  // namespace lagtape
