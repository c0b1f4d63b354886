#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/equations.h"
#include "lagtape/ops/recurrence/step/gradient_paths.h"
#include "lagtape/tests/cells/support/evaluate.h"

// Columns that a step reads besides its input: resets, masks, the length of the step.

namespace lagtape::test {
namespace {

Vector weight(const std::string& name) {
  Vector values(name == "W" ? 9 : name == "U" ? 6 : 3);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(1.7 * static_cast<double>(i) + static_cast<double>(name[0]));
  return values;
}

EquationCell cell_with(std::vector<std::pair<std::string, std::int64_t>> reads) {
  EquationCell cell;
  cell.reads = std::move(reads);
  cell.weights = {{"W", {"units", "units"}}, {"U", {"units", "input"}}};
  cell.states = {{"h", {"units"}}};
  cell.step = {"h' = 0.3 * h[-2] + tanh(W @ h + U @ x + 0.2 * sum(x[-1]))"};
  cell.output = "h'";
  return cell;
}

/// Ten steps of two numbers, with flags put in at some column.
std::vector<Vector> steps(const std::vector<std::pair<std::size_t, double>>& flags, std::size_t column) {
  std::vector<Vector> x;
  for (std::size_t t = 0; t < 10; ++t) {
    x.push_back({std::cos(0.9 * static_cast<double>(t)), std::sin(0.4 * static_cast<double>(t))});
    double flag = 0;
    for (const auto& [at, value] : flags)
      if (at == t) flag = value;
    x.back().insert(x.back().begin() + static_cast<std::ptrdiff_t>(column), flag);
  }
  return x;
}

void check_equal(const std::vector<Vector>& a, const std::vector<Vector>& b, std::size_t from) {
  for (std::size_t t = from; t < a.size(); ++t)
    for (std::size_t u = 0; u < a[t].size(); ++u)
      CHECK(a[t][u] == doctest::Approx(b[t - from][u]).epsilon(1e-14));
}

TEST_CASE("states, lags and past inputs begin again where reset is above 0") {
  for (const std::int64_t column : {0, 1, -1}) {
    const std::size_t at = column < 0 ? 2 : static_cast<std::size_t>(column);
    const StepProgram program = compile_equations(cell_with({{"reset", column}}), 3, 3);
    const StepProgram plain = compile_equations(cell_with({}), 3, 2);
    std::vector<Vector> x = steps({{4, 1.0}}, at), same = steps({{4, -1.0}}, at), alone;
    for (Vector& step : steps({}, at)) {
      step.erase(step.begin() + static_cast<std::ptrdiff_t>(at));
      alone.push_back(step);
    }
    const std::vector<Vector> reset = evaluate(program, weight, x);
    check_equal(reset, evaluate(plain, weight, {alone.begin() + 4, alone.end()}), 4);
    check_equal(evaluate(program, weight, same), evaluate(plain, weight, alone), 0);  // below 0: none
    CHECK(std::abs(reset[5][0] - evaluate(plain, weight, alone)[5][0]) > 1e-3);
  }
}

TEST_CASE("a step reads columns by names of their own, and x is the others") {
  EquationCell cell = cell_with({{"dt", 1}, {"mask", 0}});
  cell.step = {"h' = h + dt * mask * (U @ x)"};
  cell.weights = {{"U", {"units", "input"}}};
  const std::vector<Vector> y =
      evaluate(compile_equations(cell, 3, 4), weight, {{2, 0.5, 1, 0}, {-3, 9, 1, 1}});
  for (std::size_t u = 0; u < 3; ++u) {
    CHECK(y[0][u] == doctest::Approx(0.5 * weight("U")[2 * u]).epsilon(1e-14));
    CHECK(y[1][u] == y[0][u]);  // a mask of 0
  }
  cell.reads = {{"dt", 4}};
  CHECK_THROWS_WITH_AS(compile_equations(cell, 3, 4),
                       doctest::Contains("the input has 4 columns, 0 to 3 or -1 to -4. Got 4."), InputError);
}

TEST_CASE("weights that comparisons keep from any gradient are found") {
  const auto lost = [](const std::string& step, const std::string& output) {
    EquationCell cell = cell_with({});
    cell.step = {step};
    cell.output = output;
    return gradient_paths(compile_equations(cell, 3, 2)).lost;
  };
  CHECK(lost("h' = tanh(W @ h + U @ x)", "h' > 0") == std::vector<std::string>{"W", "U"});
  CHECK(lost("h' = tanh(W @ h + U @ x)", "spike(h')").empty());
  CHECK(lost("h' = tanh(W @ h + stop(U @ x))", "h'").empty());
  CHECK(lost("h' = tanh(W @ h) * floor(U @ x)", "h'") == std::vector<std::string>{"U"});
  const auto ends = [](const std::string& step, const std::string& output) {
    EquationCell cell = cell_with({});
    cell.step = {step};
    cell.output = output;
    return gradient_paths(compile_equations(cell, 3, 2)).ends;
  };
  CHECK(ends("h' = tanh(W @ h + U @ x)", "h' > 0") == std::vector<std::string>{"/output, column 4"});
  CHECK(ends("h' = tanh(W @ h) * floor(U @ x)", "h'") == std::vector<std::string>{"/step/0, column 20"});
  CHECK(ends("h' = tanh(W @ h + U @ x)", "h'").empty());
}

}  // namespace
}  // namespace lagtape::test
