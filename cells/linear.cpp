#include "lagtape/cells/linear.h"

#include "lagtape/cells/recorder.h"
#include "lagtape/core/json_reader.h"

namespace lagtape {

void read_linear_init(JsonReader& reader, std::string& init) {
  reader.choice("init", init, {"linear", "kaiming_normal"},
                "first values: all from U(+-1/sqrt(input)), or the matrix from N(0, 2 / input)");
}

void Linear::read(JsonReader& reader) {
  reader.required("units", units, between(1, kLargestUnits), "size of the output");
  read_linear_init(reader, init);
}

Layer Linear::build(std::int64_t input) const {
  LayerRecorder step(input, Initializer::uniform_of(input));
  const StepVar y = step.affine("W", units, step.input());
  Layer layer = step.finish(y);
  if (init == "kaiming_normal") layer.parameters[0].initializer = Initializer::kaiming_normal();
  return layer;
}

}  // namespace lagtape
