#include "lagtape/cells/models/predictors.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "lagtape/cells/gru.h"
#include "lagtape/cells/models/model.h"

namespace lagtape {
namespace {

Model small_gru() {
  return Model({.layers = {Gru{.units = 5}}, .readout = {.units = 1, .at = ReadAt::every_step}}, {.input = 2},
               1);
}

Tensor ramp(std::int64_t steps, double slope) {
  Tensor x({steps, 2}, Dtype::f32);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, slope * static_cast<double>(i));
  return x;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const auto x = a.values<float>(), y = b.values<float>();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

TEST_CASE("an idle predictor is found again by callers who ask for as many threads") {
  const Model model = small_gru();
  Predictors predictors;
  CHECK(predictors.take(1) == nullptr);
  auto one = std::make_unique<Predictor>(model.evaluation_chain(), Dtype::f32, 1);
  const Predictor* const prepared = one.get();
  predictors.put_back(std::move(one));
  CHECK(predictors.take(2) == nullptr);
  one = predictors.take(1);
  CHECK(one.get() == prepared);
  CHECK(predictors.take(1) == nullptr);  // in use
}

TEST_CASE("threads that share a model predict what one alone does") {
  const Model model = small_gru();
  std::vector<Tensor> inputs, expected;
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(ramp(20 + 7 * i, 0.01 * (i + 1)));
    expected.push_back(model.predict(inputs.back()));
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 50; ++k)
        if (!same_bits(model.predict(inputs[i], 1 + k % 2), expected[i])) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a prediction sees parameters that have changed since the one before") {
  Model model = small_gru();
  const Tensor x = ramp(20, 0.01);
  const Tensor before = model.predict(x);
  CHECK(same_bits(model.predict(x), before));
  for (Parameter& parameter : model.parameters()) parameter.value.fill(0.5);
  CHECK_FALSE(same_bits(model.predict(x), before));
}

}  // namespace
}  // namespace lagtape
