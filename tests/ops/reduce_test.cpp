#include "lagtape/ops/reduce.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {
namespace {

TEST_CASE("sums and means go over all elements or one axis") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Tape tape;
    const Var x = tape.constant(Tensor::from({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, dtype));
    CHECK(sum(x).shape() == Shape{});
    CHECK(sum(x).value().item() == 78);
    CHECK(mean(x).value().item() == 6.5);
    CHECK(sum(x, 0).shape() == Shape{3, 2});
    CHECK(numbers(sum(x, 0).value()) == std::vector<double>{8, 10, 12, 14, 16, 18});
    CHECK(numbers(sum(x, 1).value()) == std::vector<double>{9, 12, 27, 30});
    CHECK(numbers(sum(x, -1).value()) == std::vector<double>{3, 7, 11, 15, 19, 23});
    CHECK(sum(x, 1, true).shape() == Shape{2, 1, 2});
    CHECK(numbers(mean(x, 1).value()) == std::vector<double>{3, 4, 9, 10});
    CHECK(mean(x, -3, true).shape() == Shape{1, 3, 2});
  }
}

TEST_CASE("an axis of one element is dropped or kept, its values stay") {
  Tape tape;
  const Var x = tape.variable(Tensor::from({2, 1}, {3, 4}, Dtype::f64));
  CHECK(numbers(sum(x, 1).value()) == std::vector<double>{3, 4});
  CHECK(sum(x, 1).shape() == Shape{2});
  tape.backward(sum(x, 1), Tensor::from({2}, {5, 6}, Dtype::f64));
  CHECK(numbers(x.grad()) == std::vector<double>{5, 6});
}

TEST_CASE("a long f32 sum is rounded once") {
  Tape tape;
  const std::int64_t n = 1 << 20;
  const double third = static_cast<float>(1.0 / 3);
  const Var x = tape.constant(Tensor::full({n}, Dtype::f32, third));
  CHECK(sum(x).value().item() == static_cast<float>(n * third));
}

TEST_CASE("a tensor without elements has the sum zero and no mean") {
  Tape tape;
  const Var x = tape.variable(Tensor({0, 3}, Dtype::f64));
  CHECK(sum(x).value().item() == 0);
  CHECK(numbers(sum(x, 0).value()) == std::vector<double>{0, 0, 0});
  CHECK(sum(x, 1).shape() == Shape{0});
  CHECK_THROWS_AS(mean(x), InputError);
  CHECK(message_of([&] { mean(x); }) == "[mean] there must be something to average. Got x [0, 3].");
  CHECK(message_of([&] { mean(x, 0); }) == "[mean] there must be something to average. Got x [0, 3].");
}

TEST_CASE("an axis that is not there is refused") {
  Tape tape;
  const Var x = tape.constant(Tensor({2, 3}, Dtype::f64));
  CHECK(message_of([&] { sum(x, 2); }) == "[sum] there is no axis 2. Got x [2, 3].");
  CHECK(message_of([&] { mean(x, -3); }) == "[mean] there is no axis -3. Got x [2, 3].");
}

}  // namespace
}  // namespace lagtape::test
