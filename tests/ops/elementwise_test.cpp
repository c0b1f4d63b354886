#include "lagtape/ops/elementwise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {
namespace {

struct Unary {
  std::string_view name;
  std::function<Var(const Var&)> apply;
  std::function<double(double)> expected;
  Domain domain = Domain::real;
};

const std::vector<Unary> kOthers = {
    {"negate", [](const Var& x) { return -x; }, [](double x) { return -x; }},
    {"square", square, [](double x) { return x * x; }},
    {"pow_constant", [](const Var& x) { return pow_constant(x, 2.5); },
     [](double x) { return x * x * std::sqrt(x); }, Domain::positive},
};

/// All functions of one input: these, and those that equations name.
std::vector<Unary> functions_of_one() {
  std::vector<Unary> all = kOthers;
  for (const ElementFunction& f : kElementFunctions)
    if (f.notation == ElementNotation::function && f.arrays == 1)
      all.push_back({f.name, [op = f.op](const Var& x) { return elementwise(op, x); },
                     [value = f.value](double x) { return value(x, 0); }, f.domain});
  return all;
}

/// The tolerance relative to the largest value: kernels are accurate to a few units in the last place.
double tolerance(Dtype dtype) { return dtype == Dtype::f32 ? 1e-6 : 1e-14; }

TEST_CASE("functions of one input have the values of the standard library, at every length of tail") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const std::int64_t n : {1, 7, 8, 15, 16, 17, 100}) {
      for (const Unary& f : functions_of_one()) {
        CAPTURE(f.name);
        CAPTURE(n);
        Tape tape;
        const Tensor x = random_tensor({n}, dtype, 3, f.domain);
        const Tensor y = f.apply(tape.constant(x)).value();
        REQUIRE(y.shape() == Shape{n});
        REQUIRE(y.dtype() == dtype);
        for (std::int64_t i = 0; i < n; ++i) {
          const double expected = f.expected(x.at(i));
          CHECK(std::abs(y.at(i) - expected) <= tolerance(dtype) * std::max(1.0, std::abs(expected)));
        }
      }
    }
  }
}

template <class T>
void check_bits(Dtype dtype) {
  const std::vector<std::pair<Var (*)(const Var&), ElementOp>> functions = {
      {tanh, ElementOp::tanh}, {sigmoid, ElementOp::sigmoid}, {exp, ElementOp::exp}, {log, ElementOp::log},
      {sqrt, ElementOp::sqrt}, {sin, ElementOp::sin},         {cos, ElementOp::cos}};
  for (const auto& [function, op] : functions) {
    Tape tape;
    const Tensor x = random_tensor({37}, dtype, 4, Domain::positive);
    Tensor wide({padded<T>(37)}, dtype), expected({padded<T>(37)}, dtype);
    for (std::int64_t i = 0; i < 37; ++i) wide.set(i, x.at(i));
    kernels<T>(best_level())
        .element[static_cast<int>(op)](expected.values<T>().data(), wide.values<T>().data(), nullptr, nullptr,
                                       0, wide.numel());
    const Tensor y = function(tape.constant(x)).value();
    for (std::int64_t i = 0; i < 37; ++i) CHECK(y.at(i) == expected.at(i));
  }
}

TEST_CASE("functions have the bits of the kernels that the sequence op runs") {
  check_bits<float>(Dtype::f32);
  check_bits<double>(Dtype::f64);
}

TEST_CASE("shapes broadcast as in NumPy") {
  Tape tape;
  const Var a = tape.variable(Tensor::from({2, 1, 3}, {1, 2, 3, 4, 5, 6}, Dtype::f64));
  const Var b = tape.variable(Tensor::from({2, 1}, {10, 20}, Dtype::f64));
  const Var y = a - b;
  CHECK(y.shape() == Shape{2, 2, 3});
  CHECK(numbers(y.value()) == std::vector<double>{-9, -8, -7, -19, -18, -17, -6, -5, -4, -16, -15, -14});

  tape.backward(y, Tensor::from({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Dtype::f64));
  CHECK(numbers(a.grad()) == std::vector<double>{5, 7, 9, 17, 19, 21});
  CHECK(numbers(b.grad()) == std::vector<double>{-30, -48});
}

TEST_CASE("a number is rounded to the input's dtype and stands on either side") {
  Tape tape;
  const Var x = tape.constant(Tensor::from({3}, {1, 2, 4}, Dtype::f32));
  CHECK(numbers((x + 0.1).value())[0] == 1.0f + 0.1f);
  CHECK(numbers((1 - x).value()) == std::vector<double>{0, -1, -3});
  CHECK(numbers((x - 1).value()) == std::vector<double>{0, 1, 3});
  CHECK(numbers((2 / x).value()) == std::vector<double>{2, 1, 0.5});
  CHECK(numbers((x / 2).value()) == std::vector<double>{0.5, 1, 2});
  CHECK(numbers((x / 3).value())[0] == 1.0f / 3.0f);
  CHECK(numbers((3 * x).value()) == std::vector<double>{3, 6, 12});
  CHECK(numbers(minimum(x, 2.5).value()) == std::vector<double>{1, 2, 2.5});
  CHECK(numbers(maximum(x, 2.5).value()) == std::vector<double>{2.5, 2.5, 4});
}

TEST_CASE("gradients at kinks and ties are the documented ones") {
  Tape tape;
  const Var zero = tape.variable(Tensor::scalar(0, Dtype::f64));
  const Var same = tape.variable(Tensor::scalar(0, Dtype::f64));
  const auto gradients = [&](const Var& y) {
    tape.backward(y);
    return std::pair(zero.grad().item(), same.grad().item());
  };
  CHECK(gradients(relu(zero)) == std::pair(0.0, 0.0));
  CHECK(gradients(abs(zero)) == std::pair(0.0, 0.0));
  CHECK(gradients(minimum(zero, same)) == std::pair(1.0, 0.0));
  CHECK(gradients(maximum(zero, same)) == std::pair(1.0, 0.0));
  CHECK(gradients(pow_constant(zero, 0)) == std::pair(0.0, 0.0));
  CHECK(sign(zero).value().item() == 0);
  CHECK_FALSE(sign(zero).requires_grad());
}

TEST_CASE("softplus and sigmoid are finite and exact at both ends") {
  Tape tape;
  const Var x = tape.variable(Tensor::from({4}, {-700, -40, 40, 700}, Dtype::f64));
  const Var y = softplus(x);
  CHECK(y.value().at(0) == doctest::Approx(std::exp(-700.0)).epsilon(1e-12));
  CHECK(y.value().at(1) == doctest::Approx(std::exp(-40.0)).epsilon(1e-12));
  CHECK(y.value().at(2) == 40);
  CHECK(y.value().at(3) == 700);
  tape.backward(y, Tensor::full({4}, Dtype::f64, 1));
  CHECK(x.grad().at(1) == doctest::Approx(std::exp(-40.0)).epsilon(1e-12));
  CHECK(x.grad().at(2) == 1);
  CHECK(x.grad().at(3) == 1);
  const Tensor s = sigmoid(tape.constant(Tensor::from({2}, {-1e4, 1e4}, Dtype::f32))).value();
  CHECK(s.at(0) >= 0);
  CHECK(s.at(0) < 1e-37);
  CHECK(s.at(1) == 1);
}

TEST_CASE("an empty batch gives an empty result and no gradient to what was repeated") {
  Tape tape;
  const Var x = tape.variable(Tensor({0, 3}, Dtype::f64));
  const Var b = tape.variable(Tensor::from({3}, {1, 2, 3}, Dtype::f64));
  const Var y = tanh(x) * b;
  CHECK(y.shape() == Shape{0, 3});
  tape.backward(y, Tensor({0, 3}, Dtype::f64));
  CHECK(numbers(b.grad()) == std::vector<double>{0, 0, 0});
}

TEST_CASE("shapes that do not broadcast are refused by name") {
  Tape tape;
  const Var a = tape.constant(Tensor({8, 3}, Dtype::f32)), b = tape.constant(Tensor({4}, Dtype::f32));
  CHECK_THROWS_AS(a + b, InputError);
  CHECK(message_of([&] { a + b; }) ==
        "[add] shapes must agree or broadcast. Got a [8, 3], b [4]. Axes are aligned from the last; only an "
        "extent of 1 is "
        "repeated.");
  CHECK(message_of([&] {
          maximum(b, a);
        }).starts_with("[maximum] shapes must agree or broadcast. Got a [4], b [8, 3]."));
  CHECK(message_of([&] { a* tape.constant(Tensor({3}, Dtype::f64)); }) ==
        "[multiply] inputs must have one dtype. Got a f32, b f64.");
  CHECK(message_of([] { 1 / Var(); }) == "[divide] inputs must be on a tape. Got an empty Var for b.");
  CHECK(message_of([] { softplus(Var()); }) ==
        "[softplus] inputs must be on a tape. Got an empty Var for x.");
}

}  // namespace
}  // namespace lagtape::test
