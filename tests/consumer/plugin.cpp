// A plug-in of a host program, with a model inside: a shared library that links the static runtime.

#include <lagtape/cells/models/model.h>

extern "C" __attribute__((visibility("default"))) double first_output(const char* file) {
  const lagtape::Model model = lagtape::Model::load(file);
  return model.predict(lagtape::Tensor({3, model.input_width()}, model.dtype())).at(0);
}
