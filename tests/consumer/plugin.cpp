// A plug-in of a host program, with a model inside: a shared library that links the static runtime. VERSION numbers two of them.

#include <lagtape/cells/models/model.h>

namespace lagtape {

// Two versions of the library differ like this: one name, two functions.
inline int version_of_plugin() { return VERSION; }

}  // namespace lagtape

extern "C" __attribute__((visibility("default"))) double first_output(const char* file) {
  const lagtape::Model model = lagtape::Model::load(file);
  return model.predict(lagtape::Tensor({3, model.input_width()}, model.dtype())).at(0);
}

extern "C" __attribute__((visibility("default"))) int plugin_version(void) {
  return lagtape::version_of_plugin();
}
