#include "lagtape/tests/ops/recurrence/support/compare.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "lagtape/core/gradient_check.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

namespace lagtape {
namespace {

using namespace test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor vector(std::initializer_list<double> values) {
  return Tensor::from({static_cast<std::int64_t>(values.size())}, values, Dtype::f64);
}

/// The result of that name times a factor.
Results scaled(Results results, const std::string& name, double factor) {
  for (NamedTensor& result : results) {
    if (result.name != name) continue;
    result.tensor = result.tensor.clone();
    for (std::int64_t i = 0; i < result.tensor.numel(); ++i)
      result.tensor.set(i, factor * result.tensor.at(i));
  }
  return results;
}

TEST_CASE("a difference is measured by the largest entry") {
  CHECK(difference(vector({4, 1}), vector({4, 1})).relative == 0);
  CHECK(difference(vector({4, 1.5}), vector({4, 1})).relative == 0.125);
  CHECK(difference(vector({4, 1.5}), vector({4, 1})).where == "[1] of [2]: 1.5 where 1 was expected");
  CHECK(difference(vector({0, 0}), vector({4, 1})).relative == 1);
}

TEST_CASE("where gradients cancel, they are measured by a hundredth of the largest result") {
  const auto results = [](double small) {
    return Results{{"d W", vector({1, 0})}, {"d b", vector({small})}};
  };
  CHECK(differences(results(2e-15), results(-1e-15), 1e-12) == "");
  CHECK(differences(results(2e-13), results(-1e-13), 1e-12) != "");
  CHECK(differences(results(0), results(1e-9), 1e-12) != "");
  const Results value = {{"d W", vector({1, 0})}, {"loss", vector({1e-16})}};
  CHECK(differences({value[0], {"loss", vector({2e-16})}}, value, 1e-12) != "");
}

TEST_CASE("zeros, numbers that are not finite and other shapes are never close") {
  CHECK(difference(vector({0, 0}), vector({1e-30, 0})).relative == 1);
  CHECK(difference(vector({1e-30}), vector({0})).relative == kInfinity);
  CHECK(difference(vector({0}), vector({0})).relative == 0);
  CHECK(difference(vector({NAN}), vector({NAN})).relative == kInfinity);
  CHECK(difference(vector({1, 2}), vector({1})).where == "f64 [2] where f64 [1] was expected");
  CHECK(difference(vector({1}), vector({1}).to(Dtype::f32)).relative == kInfinity);
}

TEST_CASE("bits differ where numbers are equal") {
  CHECK(bit_difference(vector({1, 0}), vector({1, 0})) == "");
  CHECK(bit_difference(vector({1, -0.0}), vector({1, 0})) == "[1] of [2]: -0 where 0 was expected");
  CHECK(bit_difference(vector({std::nextafter(1, 2)}), vector({1})) ==
        "[0] of [1]: 1.0000000000000002 where 1 was expected");
}

TEST_CASE("a gradient that is scaled, zero or missing does not pass for the right one") {
  const Results right = run_unrolled(random_case(3));
  CHECK(differences(right, right, 0) == "");
  CHECK(bit_differences(right, right) == "");
  int gradients = 0;
  for (const NamedTensor& result : right) {
    if (difference(result.tensor, Tensor(result.tensor.shape(), Dtype::f64)).relative == 0) continue;
    ++gradients;
    CAPTURE(result.name);
    CHECK(differences(scaled(right, result.name, 1 + 1e-8), right, 1e-12) != "");
    CHECK(differences(scaled(right, result.name, 1 + 1e-14), right, 1e-12) == "");
    CHECK(bit_differences(scaled(right, result.name, 1 + 1e-14), right) != "");
    CHECK(differences(scaled(right, result.name, 0), right, 1e-6) != "");
  }
  CHECK(gradients >= 4);
  CHECK(differences({right.begin(), right.end() - 1}, right, 1) != "");
}

TEST_CASE("a rule that is wrong by a part in a million, or zero, does not agree with central differences" *
          doctest::test_suite("slow")) {
  const SequenceCase c = random_case(3, {.steps = 5, .rows = 2, .width = 4, .layers = 1});
  const auto error = [&](double factor) {
    const auto f = [&](Tape& tape, std::span<const Var> inputs) {
      std::vector<Var> bent;
      for (const Var& input : inputs) {
        bent.push_back(
            tape.record(input.value(), {input}, [factor](const Tensor& d, InputGradients& gradients) {
              Tensor wrong = d.clone();
              for (std::int64_t i = 0; i < d.numel(); ++i) wrong.set(i, factor * d.at(i));
              gradients.add(0, wrong);
            }));
      }
      return scalar_unrolled(tape, c, bent);
    };
    return check_gradients(f, differentiable(c), {.step = 1e-3}).max_rel_error;
  };
  CHECK(error(1) <= 1e-7);
  CHECK(error(1 + 1e-6) > 1e-7);
  CHECK(error(0) > 0.1);
}

}  // namespace
}  // namespace lagtape
