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

/// Learns from a target at every step, in the lines of the documents.
bool learns(lagtape::Model model) {
  float in = 0.5f, target = 0.25f, out = 0;
  lagtape::Learner<float> learner =
      model.learner<float>({.method = lagtape::LearningMethod::e_prop, .lr = 0.001});
  double loss = learner.step(&in, &target, &out);  // allocates, locks and throws nothing
  const double first = loss;
  for (int n = 0; n < 300; ++n) loss = learner.step(&in, &target, &out);
  model.take(learner);  // the model has the weights of now
  return loss < first;
}

}  // namespace

int main(int, char** argv) try {
  if (!streams_the_first_step(argv[1]) || !streams_as_it_predicts(lagtape::Model::load(argv[1]))) {
    std::cerr << "the stream and the prediction differ\n";
    return 1;
  }
  if (!learns(lagtape::Model::load(argv[1]))) {
    std::cerr << "the loss of the learner does not fall\n";
    return 1;
  }
  std::cout << "predicted and streamed\n";
} catch (const lagtape::Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
