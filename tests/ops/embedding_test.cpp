#include "lagtape/ops/embedding.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {
namespace {

TEST_CASE("an embedding gives rows and collects their gradients") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Tape tape;
    const Var e = tape.variable(Tensor::from({3, 2}, {0, 1, 10, 11, 20, 21}, dtype));
    const std::vector<std::int32_t> words = {2, 0, 2};
    const Var y = embedding(e, words);
    CHECK(y.shape() == Shape{3, 2});
    CHECK(numbers(y.value()) == std::vector<double>{20, 21, 0, 1, 20, 21});
    tape.backward(y, Tensor::from({3, 2}, {1, 2, 3, 4, 5, 6}, dtype));
    CHECK(numbers(e.grad()) == std::vector<double>{3, 4, 0, 0, 6, 8});
  }
}

TEST_CASE("an empty list of words gives no rows") {
  Tape tape;
  const Var e = tape.variable(Tensor({3, 2}, Dtype::f32)), y = embedding(e, {});
  CHECK(y.shape() == Shape{0, 2});
  tape.backward(y, Tensor({0, 2}, Dtype::f32));
  CHECK(numbers(e.grad()) == std::vector<double>(6, 0.0));
}

TEST_CASE("an index out of range is refused with its position") {
  Tape tape;
  const Var e = tape.constant(Tensor({3, 2}, Dtype::f32));
  const std::vector<std::int32_t> high = {0, 2, 3, 9}, low = {-1};
  CHECK_THROWS_AS(embedding(e, high), InputError);
  CHECK(message_of([&] { embedding(e, high); }) == "[embedding] indices must be 0..2. Got 3 at position 2.");
  CHECK(message_of([&] { embedding(e, low); }) == "[embedding] indices must be 0..2. Got -1 at position 0.");
  CHECK(message_of([&] { embedding(tape.constant(Tensor({3}, Dtype::f32)), low); }) ==
        "[embedding] E must be [V, d]. Got E [3].");
}

}  // namespace
}  // namespace lagtape::test
