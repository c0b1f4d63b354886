#include <algorithm>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/tests/fuzz/fuzz.h"
#include "lagtape/tests/fuzz/safetensors_mutator.h"

using namespace lagtape;

namespace {

template <class T>
void step(const Model& model) {
  Stream<T> stream = model.stream<T>(1);
  std::vector<T> x(static_cast<std::size_t>(model.input_width())),
      y(static_cast<std::size_t>(model.output_width()));
  for (int k = 0; k < 5; ++k) stream.step(x.data(), y.data());
}

}  // namespace

/// A model that is read predicts and streams; one with much memory of its past is only read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) {
    const Model model = Model::parse(bytes, "input");
    std::int64_t lag = 0;
    for (const LayerSummary& layer : model.layers()) lag = std::max(lag, layer.largest_lag());
    if (lag > 10'000 || model.input_width() > 10'000) return;
    model.predict(Tensor({2, 7, model.input_width()}, model.dtype()));
    if (model.dtype() == Dtype::f32) {
      step<float>(model);
    } else {
      step<double>(model);
    }
  });
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  return mutate_safetensors(data, size, most, seed);
}
