#include "lagtape/ops/dropout.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {
namespace {

TEST_CASE("dropout keeps and scales what the stream's draws say, and passes gradients the same way") {
  Tape tape;
  const Tensor ones = Tensor::full({40, 50}, Dtype::f64, 1);
  const Var x = tape.variable(ones), y = dropout(x, 0.2, 3, 4, true);
  const RandomStream draws(3, 4);
  int dropped = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    CHECK(y.value().at(i) == (draws.uniform_at(i) < 0.2 ? 0 : 1 / 0.8));
    dropped += y.value().at(i) == 0;
  }
  CHECK(std::abs(dropped - 400) < 90);  // five standard deviations
  tape.backward(y, ones);
  CHECK(numbers(x.grad()) == numbers(y.value()));
}

TEST_CASE("an element's mask does not depend on how many follow, only on seed and stream") {
  Tape tape;
  const auto mask = [&](std::int64_t n, std::uint64_t seed, std::uint64_t stream) {
    std::vector<double> values =
        numbers(dropout(tape.constant(Tensor::full({n}, Dtype::f32, 1)), 0.5, seed, stream, true).value());
    values.resize(20);
    return values;
  };
  CHECK(mask(20, 1, 1) == mask(33, 1, 1));
  CHECK(mask(20, 1, 1) != mask(20, 2, 1));
  CHECK(mask(20, 1, 1) != mask(20, 1, 2));
}

TEST_CASE("dropout changes nothing in evaluation and for p = 0") {
  Tape tape;
  const Var x = tape.variable(random_tensor({4}, Dtype::f32, 1));
  CHECK(dropout(x, 0.5, 1, 2, false).index() == x.index());
  CHECK(dropout(x, 0, 1, 2, true).index() == x.index());
}

TEST_CASE("a probability outside [0, 1) is refused") {
  Tape tape;
  const Var x = tape.variable(Tensor({4}, Dtype::f32));
  CHECK_THROWS_AS(dropout(x, 1, 1, 2, true), InputError);
  CHECK(message_of([&] { dropout(x, 1, 1, 2, false); }) == "[dropout] 0 <= p < 1 must hold. Got p 1.");
  CHECK(message_of([&] { dropout(x, -0.1, 1, 2, true); }) == "[dropout] 0 <= p < 1 must hold. Got p -0.1.");
  CHECK_THROWS_AS(dropout(x, std::nan(""), 1, 2, true), InputError);
}

}  // namespace
}  // namespace lagtape::test
