#include "lagtape/ops/recurrence/derive/tangent_stack.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/core/text.h"
#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

namespace lagtape {
namespace {

using namespace test;

Tensor outputs_of(const StackDefinition& stack, const std::vector<Tensor>& weights,
                  const SequenceBatch& batch) {
  ThreadPool pool(1);
  return SequenceOp(stack, Dtype::f64).evaluate(weights, batch, pool);
}

std::vector<Tensor> moved(const std::vector<Tensor>& weights, const std::vector<Tensor>& by, double step) {
  std::vector<Tensor> all;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    all.push_back(weights[w].clone());
    for (std::int64_t i = 0; i < by[w].numel(); ++i) all.back().set(i, weights[w].at(i) + step * by[w].at(i));
  }
  return all;
}

TEST_CASE("tangents of random stacks are the derivatives of their outputs, in several directions at a time") {
  double largest = 0;
  for_each_seed("tangents of random stacks", 300, [&](std::uint64_t seed) -> std::string {
    SequenceCase c = random_case(seed, {.steps = 12, .rows = 3, .width = 6, .layers = 3});
    if (c.weights.empty()) return "";
    c.batch.training = false;
    constexpr std::size_t kDirections = 2;
    std::vector<std::vector<bool>> changes(c.weights.size(), std::vector<bool>(kDirections));
    std::vector<std::vector<Tensor>> by(kDirections);
    RandomStream random(seed, stream_name({0x74616e67}));
    for (std::size_t d = 0; d < kDirections; ++d)
      for (std::size_t w = 0; w < c.weights.size(); ++w) {
        changes[w][d] = random.next_uniform() < 0.7;
        by[d].push_back(changes[w][d] ? random_tensor(random, c.weights[w].shape(), 1)
                                      : Tensor(c.weights[w].shape(), Dtype::f64));
      }
    const TangentStack tangent(c.stack, changes);
    const Tensor found = outputs_of(tangent.stack(), tangent.weights(c.weights, by), c.batch);
    const Tensor same = outputs_of(c.stack, c.weights, c.batch);
    const std::int64_t width = c.stack.output_width(), rows = same.numel() / width;
    REQUIRE(found.numel() == same.numel() * (kDirections + 1));
    double error = 0, scale = 1e-6;
    for (std::size_t d = 0; d < kDirections; ++d) {
      const double step = 1e-6;
      const Tensor up = outputs_of(c.stack, moved(c.weights, by[d], step), c.batch);
      const Tensor down = outputs_of(c.stack, moved(c.weights, by[d], -step), c.batch);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < width; ++i) {
          const std::int64_t at = r * width + i, there = r * width * (kDirections + 1);
          CHECK(found.at(there + i) == doctest::Approx(same.at(at)).epsilon(1e-12));
          const double difference = (up.at(at) - down.at(at)) / (2 * step);
          error = std::max(error, std::abs(found.at(there + (d + 1) * width + i) - difference));
          scale = std::max(scale, std::abs(difference));
        }
    }
    largest = std::max(largest, scale);
    return error <= 1e-6 * std::max(scale, 1.0) ? "" : text_of("off by ", error, " of ", scale, "\n");
  });
  CHECK(largest > 0.1);
}

}  // namespace
}  // namespace lagtape
