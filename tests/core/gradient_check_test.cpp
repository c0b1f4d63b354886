#include "lagtape/core/gradient_check.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"

using namespace lagtape;

namespace {

// The function sum_i w_i x_i^3 + sin(x_i x_0), with a rule that multiplies the gradient by `factor` and adds
// `slip` to element `at`.
Var cubic(Tape& tape, Var x, double factor = 1, double slip = 0, std::int64_t at = 0) {
  const Tensor v = x.value();
  double sum = 0;
  for (std::int64_t i = 0; i < v.numel(); ++i)
    sum += (i + 1) * std::pow(v.at(i), 3) + std::sin(v.at(i) * v.at(0));
  return tape.record(Tensor::scalar(sum, Dtype::f64), {x},
                     [v, factor, slip, at](const Tensor& grad, InputGradients& inputs) {
                       Tensor dx(v.shape(), Dtype::f64);
                       for (std::int64_t i = 0; i < v.numel(); ++i) {
                         const double c = std::cos(v.at(i) * v.at(0));
                         dx.set(i, dx.at(i) + 3 * (i + 1) * v.at(i) * v.at(i) + c * v.at(0));
                         dx.set(0, dx.at(0) + c * v.at(i));
                       }
                       for (double& g : dx.values<double>()) g *= factor * grad.item();
                       if (slip != 0) dx.set(at, dx.at(at) + slip);
                       inputs.add(0, dx);
                     });
}

Tensor normals(Shape shape, std::uint64_t stream) {
  Tensor tensor(std::move(shape), Dtype::f64);
  const RandomStream draws(3, stream);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, draws.normal_at(i));
  return tensor;
}

GradientReport check_cubic(std::int64_t n, double factor, double slip = 0, std::int64_t at = 0) {
  const std::vector<Tensor> inputs = {normals({n}, 1)};
  return check_gradients(
      [&](Tape& tape, std::span<const Var> x) { return cubic(tape, x[0], factor, slip, at); }, inputs);
}

}  // namespace

TEST_CASE("A right rule passes, with every element compared when there are few") {
  const GradientReport report = check_cubic(20, 1);
  CHECK(report.max_rel_error < 1e-9);
  CHECK(report.compared == 20 + 4);
  CHECK(check_cubic(300, 1).compared == 64 + 4);
  CHECK(check_cubic(300, 1).max_rel_error < 1e-8);
}

TEST_CASE("A wrong rule fails by as much as it is wrong") {
  CHECK(check_cubic(20, 1.001).max_rel_error > 0.9e-3);
  CHECK(check_cubic(20, -1).max_rel_error > 1.9);
  CHECK(check_cubic(20, 0.5).worst.find("analytic") != std::string::npos);
}

TEST_CASE("A rule of zeros fails, also when the sampled elements have no gradient") {
  CHECK(check_cubic(20, 0).max_rel_error >= 0.99);
  CHECK(check_cubic(1000, 0).max_rel_error >= 0.99);
  const auto one_of_many = [](Tape& tape, std::span<const Var> x) {
    return tape.record(Tensor::scalar(x[0].value().at(4321), Dtype::f64), {x[0]},
                       [](const Tensor&, InputGradients&) {});
  };
  CHECK(check_gradients(one_of_many, std::vector{normals({10'000}, 2)}).max_rel_error >= 0.99);
}

TEST_CASE("A rule of zeros fails for a small gradient, without projections") {
  const auto f = [](Tape& tape, std::span<const Var> x) {
    return tape.record(Tensor::scalar(1e-4 * x[0].value().at(1), Dtype::f64), {x[0]},
                       [](const Tensor&, InputGradients&) {});
  };
  CHECK(check_gradients(f, std::vector{normals({3}, 1)}, {.projections = 0}).max_rel_error >= 0.99);
}

TEST_CASE("One wrong element among many that are not sampled is found by the projections") {
  const double right = check_cubic(5000, 1).max_rel_error;
  CHECK(right < 1e-7);
  CHECK(check_cubic(5000, 1, 100, 2500).max_rel_error > 1e-4);  // the largest entry is some 10^5
}

TEST_CASE("Every input is checked, and the report names the worst") {
  const std::vector<Tensor> inputs = {normals({5}, 1), normals({2, 3}, 2)};
  const auto f = [](Tape& tape, std::span<const Var> x) {
    const Var a = cubic(tape, x[0]), b = cubic(tape, x[1], 1, 1e-2, 4);
    return tape.record(Tensor::scalar(a.value().item() + b.value().item(), Dtype::f64), {a, b},
                       [](const Tensor& grad, InputGradients& inputs) {
                         inputs.add(0, grad);
                         inputs.add(1, grad);
                       });
  };
  const GradientReport report = check_gradients(f, inputs);
  CHECK(report.compared == 5 + 6 + 8);
  CHECK(report.max_rel_error > 1e-4);
  CHECK(
      (report.worst.starts_with("input 1 [4]: ") || report.worst.find("of input 1: ") != std::string::npos));
}

TEST_CASE("Inputs come back as they were, and are f64") {
  const std::vector<Tensor> inputs = {normals({20}, 1)};
  const Tensor before = inputs[0].clone();
  const auto f = [](Tape& tape, std::span<const Var> x) { return cubic(tape, x[0]); };
  check_gradients(f, inputs);
  for (std::int64_t i = 0; i < 20; ++i) CHECK(inputs[0].at(i) == before.at(i));
  int evaluations = 0;
  const auto throws = [&](Tape& tape, std::span<const Var> x) {
    if (++evaluations == 3) throw Error("x");
    return cubic(tape, x[0]);
  };
  CHECK_THROWS_AS(check_gradients(throws, inputs), Error);
  for (std::int64_t i = 0; i < 20; ++i) CHECK(inputs[0].at(i) == before.at(i));
  CHECK_THROWS_AS(check_gradients(f, std::vector{Tensor({2}, Dtype::f32)}), InputError);
  CHECK_THROWS_AS(check_gradients(f, std::vector{Tensor()}), InputError);
}

TEST_CASE("A value that is not finite is an infinite error") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(check_cubic(20, std::nan("")).max_rel_error == infinity);
  CHECK(check_cubic(5000, 1, infinity, 17).max_rel_error == infinity);
  const auto infinite_slip = [&](Tape& tape, std::span<const Var> x) {
    return cubic(tape, x[0], 1, infinity, 17);
  };
  const GradientCheckOptions few = {.projections = 0, .elements = 1};
  CHECK(check_gradients(infinite_slip, std::vector{normals({5000}, 1)}, few).max_rel_error == infinity);
  const auto f = [](Tape& tape, std::span<const Var> x) {
    return tape.record(Tensor::scalar(std::nan(""), Dtype::f64), {x[0]},
                       [](const Tensor&, InputGradients&) {});
  };
  CHECK(check_gradients(f, std::vector{normals({2}, 1)}).max_rel_error == infinity);
}

TEST_CASE("A gradient that is zero is compared absolutely") {
  const auto f = [](Tape& tape, std::span<const Var>) {
    return tape.constant(Tensor::scalar(1, Dtype::f64));
  };
  const GradientReport report = check_gradients(f, std::vector{normals({3}, 1)});
  CHECK(report.max_rel_error == 0);
  CHECK(report.compared == 7);
}
