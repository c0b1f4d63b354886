#include "lagtape/ops/shape.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {
namespace {

using Values = std::vector<double>;

Tensor counting(const Shape& shape, Dtype dtype = Dtype::f64) {
  Tensor x(shape, dtype);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, static_cast<double>(i));
  return x;
}

TEST_CASE("reshape shares the elements") {
  Tape tape;
  const Var x = tape.constant(counting({2, 3}));
  CHECK(reshape(x, {3, 2, 1}).shape() == Shape{3, 2, 1});
  CHECK(reshape(x, {6}).value().raw() == x.value().raw());
}

TEST_CASE("transpose permutes axes") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Tape tape;
    CHECK(numbers(transpose(tape.constant(counting({2, 3}, dtype))).value()) == Values{0, 3, 1, 4, 2, 5});
    const std::int64_t axes[] = {2, 0, 1};
    const Var x = tape.variable(counting({2, 3, 4}, dtype)), y = transpose(x, axes);
    REQUIRE(y.shape() == Shape{4, 2, 3});
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        for (std::int64_t k = 0; k < 4; ++k) CHECK(y.value().at(k * 6 + i * 3 + j) == i * 12 + j * 4 + k);
      }
    }
    tape.backward(y, y.value());
    CHECK(numbers(x.grad()) == numbers(x.value()));
  }
}

TEST_CASE("slice, concatenate and stack move elements along one axis") {
  Tape tape;
  const Var x = tape.variable(counting({2, 3}));
  CHECK(numbers(slice(x, 1, 1, 3).value()) == Values{1, 2, 4, 5});
  CHECK(numbers(slice(x, 0, 1, 2).value()) == Values{3, 4, 5});
  CHECK(slice(x, 0, 1, 2).shape() == Shape{1, 3});

  const Var column = tape.variable(Tensor::from({2, 1}, {8, 9}, Dtype::f64));
  const std::vector<Var> parts = {x, column, x};
  const Var y = concatenate(parts, 1);
  CHECK(y.shape() == Shape{2, 7});
  CHECK(numbers(y.value()) == Values{0, 1, 2, 8, 0, 1, 2, 3, 4, 5, 9, 3, 4, 5});
  tape.backward(y, counting({2, 7}));
  CHECK(numbers(column.grad()) == Values{3, 10});
  CHECK(numbers(x.grad()) == Values{0 + 4, 1 + 5, 2 + 6, 7 + 11, 8 + 12, 9 + 13});

  const std::vector<Var> twice = {x, x};
  CHECK(numbers(concatenate(twice, 0).value()) == Values{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  CHECK(stack(twice).shape() == Shape{2, 2, 3});
  CHECK(numbers(stack(twice).value()) == Values{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  CHECK(stack(twice, -1).shape() == Shape{2, 3, 2});
  CHECK(numbers(stack(twice, 1).value()) == Values{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
}

TEST_CASE("moving keeps every bit, the sign of zero too") {
  Tape tape;
  const std::vector<Var> parts = {tape.constant(Tensor::from({2}, {-0.0, 1}, Dtype::f32))};
  CHECK(std::signbit(concatenate(parts, 0).value().at(0)));
}

TEST_CASE("extents of one and empty parts are as good as others") {
  Tape tape;
  const Var one = tape.variable(counting({1, 1, 1})), none = tape.variable(Tensor({0, 1, 1}, Dtype::f64));
  const std::vector<Var> parts = {none, one, none};
  const Var y = concatenate(parts, 0);
  CHECK(y.shape() == Shape{1, 1, 1});
  tape.backward(y, Tensor::full({1, 1, 1}, Dtype::f64, 5));
  CHECK(one.grad().item() == 5);
  CHECK(none.grad().numel() == 0);
  CHECK(transpose(tape.constant(Tensor({0, 3}, Dtype::f64))).shape() == Shape{3, 0});
}

TEST_CASE("shapes that do not fit are refused by name") {
  Tape tape;
  const Var x = tape.constant(Tensor({2, 3}, Dtype::f64)),
            cube = tape.constant(Tensor({2, 3, 4}, Dtype::f64));
  CHECK_THROWS_AS(reshape(x, {4}), InputError);
  CHECK(message_of([&] {
          reshape(x, {4, 2});
        }) == "[reshape] the number of elements must stay, not become that of [4, 2]. Got x [2, 3].");
  CHECK(message_of([&] { transpose(cube); }) ==
        "[transpose] x must be a matrix. Got x [2, 3, 4]. Give the order of the axes.");
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{0, 0}, {0}, {0, 1, 2}, {0, -1}}) {
    CHECK(message_of([&] { transpose(x, axes); }) ==
          text_of("[transpose] axes ", to_string(axes), " must be a permutation of x's. Got x [2, 3]."));
  }
  for (const auto& range : {std::pair{-1, 2}, {1, 1}, {2, 1}, {0, 4}}) {
    const int begin = range.first, end = range.second;
    CHECK(message_of([&] { slice(x, -1, begin, end); }) ==
          text_of("[slice] 0 <= begin < end <= extent must hold, not ", begin, "..", end,
                  " on axis 1. Got x [2, 3]."));
  }
  CHECK(message_of([&] { slice(x, 2, 0, 1); }) == "[slice] there is no axis 2. Got x [2, 3].");

  const std::vector<Var> uneven = {x, x, tape.constant(Tensor({3, 3}, Dtype::f64))}, ranks = {x, cube};
  CHECK(message_of([&] { concatenate(uneven, 1); }) ==
        "[concatenate] extents must agree along all other axes. Got input 0 [2, 3], input 2 [3, 3].");
  CHECK(message_of([&] { concatenate(ranks, 0); }) ==
        "[concatenate] extents must agree along all other axes. Got input 0 [2, 3], input 1 [2, 3, 4].");
  CHECK(message_of([&] { concatenate({}, 0); }) == "[concatenate] there must be an input. Got none.");
  CHECK(message_of([&] { concatenate(uneven, 2); }) ==
        "[concatenate] there is no axis 2. Got input 0 [2, 3].");
  CHECK(message_of([&] { stack(uneven); }) ==
        "[stack] shapes must agree. Got input 0 [2, 3], input 2 [3, 3].");
  CHECK(message_of([&] { stack({&x, 1}, 3); }) == "[stack] the result has no axis 3. Got input 0 [2, 3].");
}

}  // namespace
}  // namespace lagtape::test
