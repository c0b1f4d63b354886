#include "lagtape/ops/loss.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/loss_rows.h"
#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {
namespace {

using Classes = std::vector<std::int32_t>;

TEST_CASE("mse is the mean square over all elements") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Tape tape;
    const Var y = tape.variable(Tensor::from({2, 2}, {1, 2, 3, 4}, dtype));
    const Var loss = mse(y, Tensor::from({2, 2}, {1, 0, 6, 3}, dtype));
    CHECK(loss.shape() == Shape{});
    CHECK(loss.value().item() == 3.5);
    tape.backward(loss);
    CHECK(numbers(y.grad()) == std::vector<double>{0, 1, -1.5, 0.5});
  }
}

TEST_CASE("cross entropy is the mean of log-sum-exp minus the class's logit") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Tape tape;
    const double ln2 = std::log(2.0), ln3 = std::log(3.0);
    const Var logits = tape.variable(Tensor::from({2, 3}, {0, ln2, ln3, 7, 7, 7}, dtype));
    const Var loss = cross_entropy(logits, Classes{2, 0});
    const double digits = dtype == Dtype::f32 ? 1e-6 : 1e-14;
    CHECK(loss.value().item() == doctest::Approx((std::log(2.0) + ln3) / 2).epsilon(digits));
    tape.backward(loss);
    const std::vector<double> expected = {1. / 12, 1. / 6, -1. / 4, -1. / 3, 1. / 6, 1. / 6};
    for (int i = 0; i < 6; ++i)
      CHECK(logits.grad().at(i) == doctest::Approx(expected[i]).epsilon(10 * digits));
  }
}

TEST_CASE("cross entropy does not overflow and is exact far from the target") {
  Tape tape;
  const Var logits = tape.variable(Tensor::from({3, 2}, {1e4, 0, 0, 1e4, -1e300, 1e300}, Dtype::f64));
  CHECK(cross_entropy(logits, Classes{0, 1, 1}).value().item() == 0);
  tape.backward(cross_entropy(logits, Classes{1, 1, 1}));
  CHECK(cross_entropy(logits, Classes{1, 1, 1}).value().item() == doctest::Approx(1e4 / 3));
  CHECK(numbers(logits.grad()) == std::vector<double>{1. / 3, -1. / 3, 0, 0, 0, 0});
}

TEST_CASE("binary cross entropy is exact at the middle and at both ends") {
  for (const Shape& shape : {Shape{4}, Shape{4, 1}}) {
    Tape tape;
    const Var z = tape.variable(Tensor::from(shape, {0, -800, 800, 50}, Dtype::f64));
    const Var loss = binary_cross_entropy(z, Classes{1, 1, 0, 1});
    CHECK(loss.value().item() ==
          doctest::Approx((std::log(2.0) + 800 + 800 + std::exp(-50.0)) / 4).epsilon(1e-14));
    tape.backward(loss);
    CHECK(z.grad().at(0) == -0.125);
    CHECK(z.grad().at(1) == -0.25);
    CHECK(z.grad().at(2) == 0.25);
    CHECK(z.grad().at(3) == doctest::Approx(-std::exp(-50.0) / 4).epsilon(1e-12));
  }
}

TEST_CASE("binary cross entropy is the cross entropy of two classes with logits 0 and z") {
  for (const double z : {-3.0, -0.4, 0.0, 1.7, 20.0}) {
    for (const std::int32_t target : {0, 1}) {
      const double logits[] = {0, z};
      double one = 0, two[2] = {};
      CHECK(binary_cross_entropy_row(&z, target, 0.5, &one) ==
            doctest::Approx(cross_entropy_row(logits, 2, target, 0.5, two)).epsilon(1e-12));
      CHECK(one == doctest::Approx(two[1]).epsilon(1e-8));
    }
  }
}

TEST_CASE("rows return the same loss with and without a gradient, which may overwrite the input") {
  const std::vector<float> x = {0.5f, -1.25f, 2.0f}, target = {1.0f, 0.0f, 2.5f};
  float grad[3], in_place[3];
  const auto check = [&](auto row) {
    std::copy(x.begin(), x.end(), in_place);
    const double loss = row(x.data(), grad);
    CHECK(loss > 0);
    CHECK(row(x.data(), static_cast<float*>(nullptr)) == loss);
    CHECK(row(in_place, in_place) == loss);
    return std::equal(grad, grad + 3, in_place);
  };
  CHECK(check([](const float* y, float* g) { return cross_entropy_row(y, 3, 1, 0.25, g); }));
  CHECK(check([&](const float* y, float* g) { return mse_row(y, target.data(), 3, 0.25, g); }));
  CHECK(grad[1] == 0.25f * 2 * -1.25f);
  CHECK(mse_row(x.data(), target.data(), 3, 1.0, grad) == 0.25 + 1.5625 + 0.25);
}

TEST_CASE("the loss's own gradient scales that of the rows") {
  Tape tape;
  const Var y = tape.variable(Tensor::from({1}, {3}, Dtype::f64));
  tape.backward(mse(y, Tensor::from({1}, {1}, Dtype::f64)), Tensor::scalar(10, Dtype::f64));
  CHECK(y.grad().item() == 40);
}

TEST_CASE("targets and shapes that do not fit are refused by name") {
  Tape tape;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor(std::move(shape), Dtype::f32)); };
  CHECK_THROWS_AS(mse(zeros({2, 3}), Tensor({2}, Dtype::f32)), InputError);
  CHECK(message_of([&] {
          mse(zeros({2, 3}), Tensor({3, 2}, Dtype::f32));
        }) == "[mse] shapes must agree. Got y [2, 3], target [3, 2].");
  CHECK(message_of([&] { mse(zeros({2}), Tensor({2}, Dtype::f64)); }) ==
        "[mse] inputs must have one dtype. Got y f32, target f64.");
  CHECK(message_of([&] {
          mse(zeros({0, 3}), Tensor({0, 3}, Dtype::f32));
        }) == "[mse] there must be something to average. Got y [0, 3].");
  CHECK(message_of([&] {
          cross_entropy(zeros({2, 3}), Classes{0, 3});
        }) == "[cross_entropy] classes must be 0..2. Got 3 at position 1.");
  CHECK(message_of([&] {
          cross_entropy(zeros({2, 3}), Classes{-1, 3});
        }) == "[cross_entropy] classes must be 0..2. Got -1 at position 0.");
  CHECK(message_of([&] {
          cross_entropy(zeros({2, 3}), Classes{0});
        }) == "[cross_entropy] there must be one target per row, not 1. Got logits [2, 3].");
  CHECK(message_of([&] {
          cross_entropy(zeros({0, 3}), Classes{});
        }) == "[cross_entropy] there must be something to average. Got logits [0, 3].");
  CHECK(message_of([&] { cross_entropy(zeros({3}), Classes{0}); }) ==
        "[cross_entropy] logits must be [n, classes]. Got logits [3].");
  CHECK(message_of([&] {
          binary_cross_entropy(zeros({2, 2}), Classes{0, 1});
        }) == "[binary_cross_entropy] logits must be [n] or [n, 1]. Got logits [2, 2].");
  CHECK(message_of([&] {
          binary_cross_entropy(zeros({2}), Classes{0, 2});
        }) == "[binary_cross_entropy] classes must be 0..1. Got 2 at position 1.");
  CHECK(message_of([&] {
          cross_entropy(zeros({2, 0}), Classes{0, 0});
        }) == "[cross_entropy] there must be something to average. Got logits [2, 0].");
}

}  // namespace
}  // namespace lagtape::test
