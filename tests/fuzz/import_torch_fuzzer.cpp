#include "lagtape/tests/fuzz/fuzz.h"
#include "lagtape/tests/fuzz/safetensors_mutator.h"
#include "lagtape/tools/exchange/import/import_model.h"

using namespace lagtape;

/// A file that is read as a model predicts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) {
    const MemoryFile file(bytes);
    const Model model = import_model(file.path()).model;
    model.predict(Tensor({3, model.input_width()}, model.dtype()));
  });
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  return mutate_safetensors(data, size, most, seed);
}
