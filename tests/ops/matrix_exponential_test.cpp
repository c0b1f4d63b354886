#include "lagtape/ops/matrix_exponential.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"

namespace lagtape {
namespace {

Tensor matrix_exponential_of(const Tensor& a) {
  Tape tape;
  return matrix_exponential(tape.constant(a)).value().clone();
}

Tensor random_square(std::int64_t n, double scale, std::uint64_t seed = 3) {
  RandomStream random(seed, 1);
  Tensor a({n, n}, Dtype::f64);
  for (std::int64_t i = 0; i < a.numel(); ++i) a.set(i, scale * random.next_normal());
  return a;
}

TEST_CASE("the exponential of a turn's generator is the turn, for any angle") {
  for (const double angle : {1e-9, 0.3, 0.8, 3.0, -40.0}) {
    const Tensor q = matrix_exponential_of(Tensor::from({2, 2}, {0, -angle, angle, 0}, Dtype::f64));
    CHECK(q.at(0) == doctest::Approx(std::cos(angle)).epsilon(1e-13));
    CHECK(q.at(1) == doctest::Approx(-std::sin(angle)).epsilon(1e-13));
    CHECK(q.at(2) == doctest::Approx(std::sin(angle)).epsilon(1e-13));
    CHECK(q.at(3) == doctest::Approx(std::cos(angle)).epsilon(1e-13));
  }
}

TEST_CASE("the exponential of a nilpotent matrix is its finite series, also where numbers are large") {
  const Tensor e = matrix_exponential_of(Tensor::from({3, 3}, {0, 2, 5, 0, 0, 4, 0, 0, 0}, Dtype::f64));
  const double expected[] = {1, 2, 9, 0, 1, 4, 0, 0, 1};
  for (int i = 0; i < 9; ++i) CHECK(e.at(i) == doctest::Approx(expected[i]).epsilon(1e-13));
}

TEST_CASE("the exponential of a diagonal matrix is that of its numbers") {
  const Tensor e = matrix_exponential_of(Tensor::from({2, 2}, {-30, 0, 0, 2.5}, Dtype::f64));
  CHECK(e.at(0) == doctest::Approx(std::exp(-30)).epsilon(1e-11));
  CHECK(e.at(3) == doctest::Approx(std::exp(2.5)).epsilon(1e-13));
}

TEST_CASE("the exponential of a skew matrix is orthogonal, and its inverse that of the opposite") {
  for (const std::int64_t n : {1, 2, 7, 40}) {
    Tape tape;
    const Var a = tape.constant(random_square(n, 1));
    const Var q = matrix_exponential(a - transpose(a));
    const Var back = matrix_exponential(transpose(a) - a);
    for (const Var& product : {matmul(transpose(q), q), matmul(q, back)}) {
      const Tensor off = (product - identity(q, n)).value();
      double largest = 0;
      for (std::int64_t i = 0; i < off.numel(); ++i) largest = std::max(largest, std::abs(off.at(i)));
      CHECK(largest < 1e-12);
    }
  }
}

TEST_CASE("gradients of the matrix exponential agree with central differences, halved or not") {
  for (const double scale : {0.05, 1.0}) {
    const auto value = [](Tape& tape, std::span<const Var> a) {
      const Var weights = tape.constant(random_square(5, 1, 9));
      return sum(weights * matrix_exponential(a[0]));
    };
    const GradientReport report = check_gradients(value, std::vector{random_square(5, scale)}, {});
    CHECK(report.compared > 0);
    CHECK(report.max_rel_error < 1e-8);
  }
}

TEST_CASE("the matrix exponential of f32 is that of f64, to its digits, and what is not finite stays so") {
  const Tensor a = random_square(6, 0.5);
  const Tensor exact = matrix_exponential_of(a), rough = matrix_exponential_of(a.to(Dtype::f32));
  for (std::int64_t i = 0; i < exact.numel(); ++i) CHECK(std::abs(rough.at(i) - exact.at(i)) < 2e-5);
  const Tensor wrong = matrix_exponential_of(Tensor::from({2, 2}, {0, NAN, 1, 0}, Dtype::f64));
  CHECK(std::isnan(wrong.at(0)));
}

TEST_CASE("only a square matrix has an exponential") {
  CHECK_THROWS_WITH_AS(matrix_exponential_of(Tensor({2, 3}, Dtype::f64)),
                       "[matrix_exponential] a must be a square matrix. Got a [2, 3].", InputError);
}

TEST_CASE("the numbers above the diagonal stand row by row, and their gradients come from there") {
  Tape tape;
  const Var v = tape.variable(Tensor::from({6}, {1, 2, 3, 4, 5, 6}, Dtype::f64));
  const Var m = strict_upper(v, 4);
  const double expected[] = {0, 1, 2, 3, 0, 0, 4, 5, 0, 0, 0, 6, 0, 0, 0, 0};
  for (int i = 0; i < 16; ++i) CHECK(m.value().at(i) == expected[i]);
  tape.backward(sum(m * reshape(arange(v, 16), {4, 4})));
  const double places[] = {1, 2, 3, 6, 7, 11};
  for (int i = 0; i < 6; ++i) CHECK(v.grad().at(i) == places[i]);
  CHECK_THROWS_WITH_AS(strict_upper(v, 3),
                       "[strict_upper] v must be [3], the triangle above [3, 3]. Got v [6].", InputError);
}

}  // namespace
}  // namespace lagtape
