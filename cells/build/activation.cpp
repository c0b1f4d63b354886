#include "lagtape/cells/build/activation.h"

namespace lagtape {

StepVar activate(const std::string& name, StepVar a) {
  if (name == "relu") return relu(a);
  return name == "sigmoid" ? sigmoid(a) : tanh(a);
}

}  // namespace lagtape
