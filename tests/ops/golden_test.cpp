#include "lagtape/tests/ops/golden.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/loss.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {
namespace {

using namespace golden;
using Classes = std::vector<std::int32_t>;

/// Checks each number to 13 digits; `small` is the error that a sum of larger terms may leave.
void check_numbers(const Tensor& tensor, const std::vector<double>& expected, double small = 0) {
  const std::vector<double> actual = numbers(tensor);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(actual[i] - expected[i]) <= 1e-13 * std::abs(expected[i]) + small);
  }
}

/// Runs backward from the sum of y's elements weighted 1, 2, 3, ...
void backward(const Var& y) {
  Tensor weights(y.shape(), Dtype::f64);
  for (std::int64_t i = 0; i < weights.numel(); ++i) weights.set(i, static_cast<double>(i + 1));
  y.tape().backward(y, weights);
}

TEST_CASE("losses are those of PyTorch, at the extremes too") {
  Tape tape;
  const Var logits = tape.variable(Tensor::from({4, 3}, kCrossEntropyLogits, Dtype::f64));
  const Var loss = cross_entropy(logits, Classes{2, 0, 1, 1});
  check_numbers(loss.value(), kCrossEntropyValue);
  backward(loss);
  check_numbers(logits.grad(), kCrossEntropyLogitsGrad, 1e-16);

  const Var z = tape.variable(Tensor::from({7}, kBinaryCrossEntropyLogits, Dtype::f64));
  const Var binary = binary_cross_entropy(z, Classes{0, 1, 1, 0, 0, 1, 0});
  check_numbers(binary.value(), kBinaryCrossEntropyValue);
  backward(binary);
  check_numbers(z.grad(), kBinaryCrossEntropyLogitsGrad, 1e-16);
}

TEST_CASE("softplus is that of PyTorch, at the extremes too") {
  Tape tape;
  const Var x = tape.variable(Tensor::from({7}, kSoftplusX, Dtype::f64));
  const Var y = softplus(x);
  check_numbers(y.value(), kSoftplusValue);
  backward(y);
  check_numbers(x.grad(), kSoftplusXGrad);
}

TEST_CASE("linear is that of PyTorch") {
  Tape tape;
  const Var x = tape.variable(Tensor::from({2, 2, 3}, kLinearX, Dtype::f64));
  const Var w = tape.variable(Tensor::from({5, 3}, kLinearW, Dtype::f64));
  const Var bias = tape.variable(Tensor::from({5}, kLinearBias, Dtype::f64));
  const Var y = linear(x, w, bias);
  check_numbers(y.value(), kLinearValue, 1e-15);
  backward(y);
  check_numbers(x.grad(), kLinearXGrad, 1e-13);
  check_numbers(w.grad(), kLinearWGrad, 1e-13);
  check_numbers(bias.grad(), kLinearBiasGrad);
}

TEST_CASE("a broadcast formula is that of PyTorch") {
  Tape tape;
  const Var a = tape.variable(Tensor::from({2, 1, 3}, kBroadcastA, Dtype::f64));
  const Var b = tape.variable(Tensor::from({4, 1}, kBroadcastB, Dtype::f64));
  const Var y = tanh(a * b) / (2 + sigmoid(a - b)) + maximum(a, b);
  check_numbers(y.value(), kBroadcastValue, 1e-15);
  backward(y);
  check_numbers(a.grad(), kBroadcastAGrad, 1e-13);
  check_numbers(b.grad(), kBroadcastBGrad, 1e-13);
}

}  // namespace
}  // namespace lagtape::test
