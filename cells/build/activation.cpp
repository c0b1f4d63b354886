#include "lagtape/cells/build/activation.h"

namespace lagtape {

const std::vector<std::string>& activations() {
  static const std::vector<std::string> names = {"tanh", "sigmoid", "relu"};
  return names;
}

StepVar activate(const std::string& name, StepVar a) {
  if (name == "relu") return relu(a);
  return name == "sigmoid" ? sigmoid(a) : tanh(a);
}

}  // namespace lagtape
