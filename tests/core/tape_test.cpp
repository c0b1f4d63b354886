#include "lagtape/core/tape.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/parameter.h"

using namespace lagtape;

namespace {

// Operations on f64 tensors of equal shape, enough to test a tape with.
Var multiply(Var a, Var b) {
  Tape& tape = a.tape();
  const Tensor x = a.value(), y = b.value();
  Tensor product = tape.allocate(x.shape(), x.dtype());
  for (std::int64_t i = 0; i < x.numel(); ++i) product.set(i, x.at(i) * y.at(i));
  return tape.record(product, {a, b}, [x, y](const Tensor& grad, InputGradients& inputs) {
    for (int k : {0, 1}) {
      if (!inputs.wanted(k)) continue;
      Tensor& sum = inputs.accumulator(k);
      for (std::int64_t i = 0; i < x.numel(); ++i)
        sum.set(i, sum.at(i) + grad.at(i) * (k == 0 ? y : x).at(i));
    }
  });
}

Var add(Var a, Var b) {
  Tensor sum = a.tape().allocate(a.shape(), a.dtype());
  for (std::int64_t i = 0; i < sum.numel(); ++i) sum.set(i, a.value().at(i) + b.value().at(i));
  return a.tape().record(sum, {a, b}, [](const Tensor& grad, InputGradients& inputs) {
    inputs.add(0, grad);
    inputs.add(1, grad);
  });
}

Var sine(Var a) {
  const Tensor x = a.value();
  Tensor y = a.tape().allocate(x.shape(), x.dtype());
  for (std::int64_t i = 0; i < x.numel(); ++i) y.set(i, std::sin(x.at(i)));
  return a.tape().record(y, {a}, [x](const Tensor& grad, InputGradients& inputs) {
    Tensor dx = grad.clone();
    for (std::int64_t i = 0; i < x.numel(); ++i) dx.set(i, grad.at(i) * std::cos(x.at(i)));
    inputs.add(0, dx);
  });
}

Tensor number(double value) { return Tensor::scalar(value, Dtype::f64); }

}  // namespace

TEST_CASE("Gradients follow the chain rule worked out by hand") {
  Tape tape;
  const Var x = tape.variable(number(0.7)), y = tape.variable(number(-1.3));
  // f = sin(x y) x + y,  df/dx = cos(x y) y x + sin(x y),  df/dy = cos(x y) x^2 + 1
  const Var f = add(multiply(sine(multiply(x, y)), x), y);
  tape.backward(f);
  CHECK(f.value().item() == doctest::Approx(std::sin(0.7 * -1.3) * 0.7 - 1.3).epsilon(1e-15));
  CHECK(x.grad().item() == doctest::Approx(std::cos(-0.91) * -1.3 * 0.7 + std::sin(-0.91)).epsilon(1e-15));
  CHECK(y.grad().item() == doctest::Approx(std::cos(-0.91) * 0.49 + 1).epsilon(1e-15));
}

TEST_CASE("A value that is used more than once gets the sum of its gradients") {
  Tape tape;
  const Var x = tape.variable(number(3));
  const Var square = multiply(x, x);
  tape.backward(add(square, add(square, x)));  // 2 x^2 + x
  CHECK(x.grad().item() == 13);
  CHECK(square.grad().item() == 2);
}

TEST_CASE("A second backward starts from zero, but parameters accumulate") {
  Parameters parameters;
  Parameter& w = parameters.add("w", number(5));
  Tape tape;
  const Var x = tape.variable(number(2));
  const Var loss = multiply(tape.parameter(w), x);
  tape.backward(loss);
  const Tensor first = x.grad();
  tape.backward(loss);
  CHECK(x.grad().item() == 5);
  CHECK(first.item() == 5);
  CHECK(w.grad.item() == 4);
  parameters.zero_grad();
  CHECK(w.grad.item() == 0);
}

TEST_CASE("A parameter recorded twice gets both gradients") {
  Parameters parameters;
  Parameter& w = parameters.add("w", number(5));
  Tape tape;
  tape.backward(multiply(tape.parameter(w), tape.parameter(w)));
  CHECK(w.grad.item() == 10);
}

TEST_CASE("Constants and frozen parameters get no gradient, and their rules are not asked for one") {
  Parameters parameters;
  Parameter& frozen = parameters.add("frozen", number(5), false);
  Tape tape;
  const Var c = tape.constant(number(2)), p = tape.parameter(frozen), x = tape.variable(number(3));
  const Var fixed = multiply(c, p);
  CHECK_FALSE(fixed.requires_grad());
  const Var loss = multiply(fixed, x);
  CHECK(loss.requires_grad());
  tape.backward(loss);
  CHECK(x.grad().item() == 10);
  CHECK(c.grad().item() == 0);
  CHECK(frozen.grad.item() == 0);
  tape.backward(fixed);
  CHECK(x.grad().item() == 0);
}

TEST_CASE("Backward starts from any node with a given gradient") {
  Tape tape;
  const Var x = tape.variable(Tensor::from({3}, {1, 2, 3}, Dtype::f64));
  const Var y = multiply(x, x);
  const Var unused = multiply(y, y);
  tape.backward(y, Tensor::from({3}, {1, 10, 100}, Dtype::f64));
  CHECK(x.grad().at(0) == 2);
  CHECK(x.grad().at(1) == 40);
  CHECK(x.grad().at(2) == 600);
  CHECK(unused.grad().at(2) == 0);
  CHECK_THROWS_AS(tape.backward(y), InputError);
  CHECK_THROWS_AS(tape.backward(y, number(1)), InputError);
  CHECK_THROWS_AS(tape.backward(y, Tensor({3}, Dtype::f32)), InputError);
}

TEST_CASE("A reference to a value stays valid while nodes are added") {
  Tape tape;
  const Var x = tape.variable(number(3));
  const Tensor& value = x.value();
  for (int i = 0; i < 10'000; ++i) tape.constant(number(i));
  CHECK(&value == &x.value());
  CHECK(value.item() == 3);
}

TEST_CASE("Rewinding gives nodes and memory back, and what was before the mark can be used again") {
  Tape tape;
  const Var w = tape.variable(Tensor::full({1000}, Dtype::f64, 2));
  const Var early = multiply(w, w);
  const Tape::Mark mark = tape.mark();
  const void* memory = nullptr;
  for (int round = 0; round < 100; ++round) {
    const int steps = 1 + round * 5 % 7;  // w^(4 + steps)
    Var y = multiply(early, w);
    if (round == 0) memory = y.value().raw();
    CHECK(y.value().raw() == memory);
    for (int i = 1; i < steps; ++i) y = multiply(y, w);
    y = multiply(y, early);  // its gradient comes first, before the values between are used
    tape.backward(y, Tensor::full({1000}, Dtype::f64, 1));
    const double expected = (4 + steps) * std::pow(2, 3 + steps);
    REQUIRE(w.grad().at(999) == expected);
    tape.rewind(mark);
    CHECK(tape.size() == 2);
    CHECK(w.grad().at(999) == expected);  // a leaf keeps its gradient
    CHECK(early.grad().at(999) == 0);     // a computed value does not
  }
  CHECK(tape.mark().arena.block == mark.arena.block);
  CHECK(tape.mark().arena.offset == mark.arena.offset);
}

TEST_CASE("A chain of 10,000 steps neither recurses nor loses a step") {
  Tape tape;
  const Var x = tape.variable(number(1));
  Var y = x;
  for (int t = 0; t < 10'000; ++t) y = add(y, x);
  tape.backward(y);
  CHECK(y.value().item() == 10'001);
  CHECK(x.grad().item() == 10'001);
  CHECK(tape.size() == 10'001);
  tape.rewind({});
  CHECK(tape.size() == 0);
}

TEST_CASE("A missing or ill-shaped rule is an error, never a zero") {
  Tape tape;
  const Var x = tape.variable(number(1));
  CHECK_THROWS_AS(tape.record(number(1), {x}, nullptr), Error);
  CHECK_NOTHROW(tape.record(number(1), {tape.constant(number(1))}, nullptr));
  const Var y = tape.record(
      number(1), {x}, [](const Tensor&, InputGradients& inputs) { inputs.add(0, Tensor({2}, Dtype::f64)); });
  CHECK_THROWS_AS(tape.backward(y), Error);
}

TEST_CASE("A Var of another tape, of none, or rewound past is refused") {
  Tape tape, other;
  const Var x = other.variable(number(1));
  const auto rule = [](const Tensor&, InputGradients&) {};
  CHECK_THROWS_AS(tape.record(number(1), {x}, rule), InputError);
  CHECK_THROWS_AS(tape.record(number(1), {Var()}, rule), InputError);
  CHECK_THROWS_AS(tape.backward(x), InputError);
  CHECK_THROWS_AS(Var().value(), InputError);
  CHECK_THROWS_AS(tape.constant(Tensor()), InputError);
  other.rewind({});
  CHECK_THROWS_AS(x.value(), InputError);
}
