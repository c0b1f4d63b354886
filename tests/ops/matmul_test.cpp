#include "lagtape/ops/matmul.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {
namespace {

/// y(i, j) = sum_k a(i, k) b(k, j) by three loops in double; b is given transposed.
std::vector<double> naive(const Tensor& a, const Tensor& b_transposed) {
  const std::int64_t inner = b_transposed.size(1), columns = b_transposed.size(0), rows = a.numel() / inner;
  std::vector<double> y(rows * columns, 0.0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t k = 0; k < inner; ++k)
        y[i * columns + j] += a.at(i * inner + k) * b_transposed.at(j * inner + k);
    }
  }
  return y;
}

Tensor flipped(const Tensor& m) {
  Tensor out({m.size(1), m.size(0)}, m.dtype());
  for (std::int64_t i = 0; i < m.size(0); ++i) {
    for (std::int64_t j = 0; j < m.size(1); ++j) out.set(j * m.size(0) + i, m.at(i * m.size(1) + j));
  }
  return out;
}

void check_close(const Tensor& y, const std::vector<double>& expected) {
  REQUIRE(y.numel() == static_cast<std::int64_t>(expected.size()));
  const double tolerance = y.dtype() == Dtype::f32 ? 1e-5 : 1e-13;
  for (std::int64_t i = 0; i < y.numel(); ++i)
    CHECK(std::abs(y.at(i) - expected[i]) <= tolerance * (1 + std::abs(expected[i])));
}

TEST_CASE("matmul and linear agree with three loops, for sizes around the kernel's tiles") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const std::int64_t n : {1, 2, 13}) {
      for (const std::int64_t k : {1, 8, 19}) {
        for (const std::int64_t m : {1, 7, 8, 16, 33}) {
          CAPTURE(n);
          CAPTURE(k);
          CAPTURE(m);
          Tape tape;
          const Tensor a = random_tensor({n, k}, dtype, 1), w = random_tensor({m, k}, dtype, 2);
          const Tensor d = random_tensor({n, m}, dtype, 3);
          const Var x = tape.variable(a), matrix = tape.variable(w),
                    flipped_matrix = tape.variable(flipped(w));

          const Var y = linear(x, matrix), z = matmul(x, flipped_matrix);
          check_close(y.value(), naive(a, w));
          CHECK(numbers(z.value()) == numbers(y.value()));

          tape.backward(y, d);
          const std::vector<double> x_grad = numbers(x.grad());
          check_close(x.grad(), naive(d, flipped(w)));
          check_close(matrix.grad(), naive(flipped(d), flipped(a)));
          tape.backward(z, d);
          CHECK(numbers(x.grad()) == x_grad);
          check_close(flipped_matrix.grad(), naive(flipped(a), flipped(d)));
        }
      }
    }
  }
}

TEST_CASE("a row of a product is the same to the bit, whatever stands beside it") {
  Tape tape;
  const Tensor a = random_tensor({29, 50}, Dtype::f32, 1), w = random_tensor({21, 50}, Dtype::f32, 2);
  const Tensor all = linear(tape.constant(a), tape.constant(w)).value();
  for (std::int64_t row = 0; row < 29; ++row) {
    Tensor alone({50}, Dtype::f32);
    for (std::int64_t k = 0; k < 50; ++k) alone.set(k, a.at(row * 50 + k));
    const Tensor y = linear(tape.constant(alone), tape.constant(w)).value();
    REQUIRE(y.shape() == Shape{21});
    for (std::int64_t j = 0; j < 21; ++j) CHECK(y.at(j) == all.at(row * 21 + j));
  }
}

TEST_CASE("the bias is added after the product is rounded") {
  Tape tape;
  const Var x = tape.constant(matrix(2, 2, {1, 2, 3, 4})),
            w = tape.constant(matrix(3, 2, {1, 0, 0, 1, 1, 1}));
  const Var bias = tape.variable(Tensor::from({3}, {10, 20, 30}, Dtype::f64));
  const Var y = linear(x, w, bias);
  CHECK(numbers(y.value()) == std::vector<double>{11, 22, 33, 13, 24, 37});
  tape.backward(y, matrix(2, 3, {1, 2, 3, 4, 5, 6}));
  CHECK(numbers(bias.grad()) == std::vector<double>{5, 7, 9});
}

TEST_CASE("leading axes are rows") {
  Tape tape;
  const Tensor a = random_tensor({2, 3, 4}, Dtype::f64, 1), w = random_tensor({5, 4}, Dtype::f64, 2);
  const Var y = linear(tape.constant(a), tape.constant(w));
  CHECK(y.shape() == Shape{2, 3, 5});
  CHECK(numbers(y.value()) == numbers(linear(tape.constant(a.reshaped({6, 4})), tape.constant(w)).value()));
}

TEST_CASE("an empty batch gives an empty product and zero weight gradients; an empty sum is zero") {
  Tape tape;
  const Var none = tape.variable(Tensor({0, 4}, Dtype::f64)),
            w = tape.variable(random_tensor({5, 4}, Dtype::f64, 1));
  const Var y = linear(none, w);
  CHECK(y.shape() == Shape{0, 5});
  tape.backward(y, Tensor({0, 5}, Dtype::f64));
  CHECK(numbers(w.grad()) == std::vector<double>(20, 0.0));

  const Var thin = tape.variable(Tensor({3, 0}, Dtype::f64)),
            flat = tape.variable(Tensor({0, 2}, Dtype::f64));
  const Var zero = matmul(thin, flat);
  CHECK(numbers(zero.value()) == std::vector<double>(6, 0.0));
  tape.backward(zero, Tensor({3, 2}, Dtype::f64));
  CHECK(flat.grad().shape() == Shape{0, 2});

  const Var no_columns =
      matmul(tape.variable(Tensor({3, 4}, Dtype::f64)), tape.variable(Tensor({4, 0}, Dtype::f64)));
  CHECK(no_columns.shape() == Shape{3, 0});
  tape.backward(no_columns, Tensor({3, 0}, Dtype::f64));
}

TEST_CASE("shapes that do not fit are refused by name") {
  Tape tape;
  const auto zeros = [&](Shape shape) { return tape.constant(Tensor(std::move(shape), Dtype::f32)); };
  CHECK_THROWS_AS(matmul(zeros({8, 3}), zeros({4, 5})), InputError);
  CHECK(message_of([&] {
          matmul(zeros({8, 3}), zeros({4, 5}));
        }) == "[matmul] inner extents must agree. Got a [8, 3], b [4, 5].");
  CHECK(message_of([&] {
          matmul(zeros({8, 3}), zeros({2, 3, 5}));
        }) == "[matmul] a must be [.., k] and b [k, m]. Got a [8, 3], b [2, 3, 5].");
  CHECK(message_of([&] {
          matmul(zeros({}), zeros({1, 1}));
        }) == "[matmul] a must be [.., k] and b [k, m]. Got a [], b [1, 1].");
  CHECK(message_of([&] {
          linear(zeros({8, 3}), zeros({3, 64}));
        }) == "[linear] the last extents of x and W must agree. Got x [8, 3], W [3, 64]. W is [out, in].");
  CHECK(message_of([&] {
          linear(zeros({8, 3}), zeros({64, 4}));
        }) == "[linear] the last extents of x and W must agree. Got x [8, 3], W [64, 4].");
  CHECK(message_of([&] {
          linear(zeros({8, 3}), zeros({3}));
        }) == "[linear] x must be [.., in] and W [out, in]. Got x [8, 3], W [3].");
  CHECK(message_of([&] {
          linear(zeros({8, 3}), zeros({4, 3}), zeros({3}));
        }) == "[linear] the bias must be [out]. Got W [4, 3], bias [3].");
}

}  // namespace
}  // namespace lagtape::test
