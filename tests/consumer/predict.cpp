// Loads a trained model, predicts a batch, and streams the same rows one step at a time: the same numbers,
// bit for bit.

#include <lagtape/cells/models/model.h>
#include <lagtape/core/error.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <vector>

namespace {

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kSteps = 40;

lagtape::Tensor waves(std::int64_t width) {
  lagtape::Tensor x({kRows, kSteps, width}, lagtape::Dtype::f32);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    x.set(i, std::sin(0.1 * static_cast<double>(i)));
  }
  return x;
}

bool streams_as_it_predicts(const lagtape::Model& model) {
  const lagtape::Tensor x = waves(model.input_width());
  const lagtape::Tensor y = model.predict(x);

  const std::int64_t per_row = kSteps * model.output_width();
  std::vector<float> streamed(kRows * per_row);
  for (std::int64_t row = 0; row < kRows; ++row) {
    lagtape::Stream<float> stream = model.stream<float>();
    for (std::int64_t n = 0; n < kSteps; ++n) {
      stream.step(x.values<float>().data() + (row * kSteps + n) * model.input_width(),
                  streamed.data() + row * per_row + n * model.output_width());
    }
  }
  const bool moves = streamed.front() != streamed.back();
  return moves &&
         std::memcmp(streamed.data(), y.values<float>().data(), streamed.size() * sizeof(float)) == 0;
}

/// Loads, predicts and streams in the few lines of the documents.
bool streams_the_first_step(const char* run) {
  const lagtape::Model model = lagtape::Model::load(run);
  const lagtape::Tensor x({500, 1}, lagtape::Dtype::f32);  // zeros: [T, 1] or [B, T, 1]
  const lagtape::Tensor y = model.predict(x);
  lagtape::Stream<float> stream = model.stream<float>();  // owns its windows of past states
  float in = 0, out = 0;
  stream.step(&in, &out);  // allocates, locks and throws nothing
  return out == y.values<float>()[0];
}

}  // namespace

int main(int, char** argv) try {
  if (!streams_the_first_step(argv[1]) || !streams_as_it_predicts(lagtape::Model::load(argv[1]))) {
    std::cerr << "the stream and the prediction differ\n";
    return 1;
  }
  std::cout << "predicted and streamed\n";
} catch (const lagtape::Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
