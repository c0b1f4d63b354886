#include "lagtape/ops/recurrence/equations/equations.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// A cell of 3 units on 2 inputs whose output is one expression.
std::string printed(const std::string& expression, std::vector<EquationCell::Named> weights = {}) {
  EquationCell cell;
  cell.hyper = {{"k", 2}};
  cell.weights = std::move(weights);
  cell.states = {{"h", {"units"}}};
  cell.step = {"h' = h[-k]"};
  cell.output = expression;
  const std::string text = to_string(compile_equations(cell, 3, 2));
  const std::size_t header = text.find("state h [3]\n") + 12;
  const std::size_t next = text.find("h' = ");
  return text.substr(header, next - header) + text.substr(text.find("output ") + 7);
}

EquationCell tau_gru() {
  EquationCell cell;
  cell.hyper = {{"tau", 20}, {"alpha", 1}};
  for (const std::string i : {"1", "2", "3", "4"}) {
    cell.weights.push_back({"W" + i, {"units", "units"}});
    cell.weights.push_back({"U" + i, {"units", "input"}});
    cell.weights.push_back({"b" + i, {"units"}});
  }
  cell.states = {{"h", {"units"}}};
  cell.step = {"u = tanh(W1 @ h + U1 @ x + b1)", "z = tanh(W2 @ h[-tau] + U2 @ x + b2)",
               "g = sigmoid(W3 @ h + U3 @ x + b3)", "a = sigmoid(W4 @ h + U4 @ x + b4)",
               "h' = (1 - g) * h + g * (u + alpha * a * z)"};
  cell.output = "h'";
  return cell;
}

TEST_CASE("the equations of the manual give the program they say") {
  CHECK(to_string(compile_equations(tau_gru(), 16, 1)) == R"(input x [1]
state h [16]
weight W3 [16, 16]
weight U3 [16, 1]
weight b3 [16]
weight W1 [16, 16]
weight U1 [16, 1]
weight b1 [16]
weight W4 [16, 16]
weight U4 [16, 1]
weight b4 [16]
weight W2 [16, 16]
weight U2 [16, 1]
weight b2 [16]
%2 = W3 @ h
%4 = U3 @ x
%5 = %2 + %4
%7 = %5 + b3
%8 = sigmoid(%7)
%9 = 1 - %8
%10 = %9 * h
%11 = W1 @ h
%12 = U1 @ x
%13 = %11 + %12
%15 = %13 + b1
%16 = tanh(%15)
%17 = W4 @ h
%18 = U4 @ x
%19 = %17 + %18
%21 = %19 + b4
%22 = sigmoid(%21)
%24 = W2 @ h[-20]
%25 = U2 @ x
%26 = %24 + %25
%28 = %26 + b2
%29 = tanh(%28)
%30 = %22 * %29
%31 = %16 + %30
%32 = %8 * %31
%33 = %10 + %32
h' = %33
output h'
)");
}

TEST_CASE("names of steps do not change the program, nor does their order") {
  EquationCell cell = tau_gru();
  std::swap(cell.step[0], cell.step[2]);
  std::swap(cell.weights[0], cell.weights[7]);
  cell.step[4] = "h' = (1 - g) * h + g * (u + alpha * (one * a) * z)";
  cell.step.insert(cell.step.begin(), "one = units / 16");
  CHECK(to_string(compile_equations(cell, 16, 1)) == to_string(compile_equations(tau_gru(), 16, 1)));
}

TEST_CASE("operators bind as in Python") {
  CHECK(printed("h + h * h - h") == "%2 = h * h\n%3 = h + %2\n%4 = %3 - h\n%4\n");
  CHECK(printed("h / h * h") == "%2 = h / h\n%3 = %2 * h\n%3\n");
  CHECK(printed("W @ h * h", {{"W", {"units", "units"}}}) ==
        "weight W [3, 3]\n%2 = W @ h\n%3 = %2 * h\n%3\n");
  CHECK(printed("-h * h") == "%2 = -h\n%3 = %2 * h\n%3\n");
  CHECK(printed("h - -(h - h)") == "%2 = h - h\n%3 = -%2\n%4 = h - %3\n%4\n");
}

TEST_CASE("numbers, hyper-parameters and dimensions are folded") {
  CHECK(printed("h * (1 + k / 4 - 2e-1 * units)") == "%3 = h * 0.8999999999999999\n%3\n");
  CHECK(printed("1 * h / (input / 2)") == "h\n");
  CHECK(printed("h * exp(0) + .5") == "%3 = h + 0.5\n%3\n");
}

TEST_CASE("lags are made of numbers and hyper-parameters") {
  CHECK(printed("h[-k]") == "h'\n");
  CHECK(printed("h[-(k + 1)]") == "h[-3]\n");
  CHECK(printed("h[-2 * k]") == "h[-4]\n");
  CHECK(printed("h[-k - 1]") == "h[-3]\n");
  CHECK(printed("h[-floor(k / 1.5)]") == "h[-1]\n");
  CHECK(printed("h[-0]") == "h\n");
  CHECK(printed("h[1 - 1]") == "h\n");
}

TEST_CASE("a lag that is a weight is interpolated up to its largest value") {
  EquationCell cell;
  cell.weights = {{"theta", {}}, {"thetas", {"units"}}};
  cell.states = {{"h", {"units"}}};
  cell.lags = {{"theta", "64"}, {"thetas", "4 * units"}};
  cell.step = {"h' = tanh(h[-theta]) + h[-thetas]"};
  cell.output = "h'";
  CHECK(to_string(compile_equations(cell, 3, 1)) == R"(input x [1]
state h [3]
weight theta []
weight thetas [3]
%1 = h[-theta], at most 64
%2 = tanh(%1)
%4 = h[-thetas], at most 12
%5 = %2 + %4
h' = %5
output h'
)");
}

TEST_CASE("grouped states, sums and reshapes") {
  EquationCell cell;
  cell.weights = {{"W", {"units", "units"}}, {"V", {"2 * units", "input"}}, {"c", {"2"}}};
  cell.states = {{"h", {"2", "units"}}};
  cell.step = {"drive = reshape(V @ x, 2, units)", "h' = tanh(h @ W.T + drive) * c[:, None]",
               "y = reshape(h', 2 * units)"};
  cell.output = "y * mean(sum(h', 1))";
  CHECK(to_string(compile_equations(cell, 3, 1)) == R"(input x [1]
state h [2, 3]
weight W [3, 3]
weight V [6, 1]
weight c [2]
%1 = W @ h
%3 = V @ x
%4 = reshape(%3, [2, 3])
%5 = %1 + %4
%6 = tanh(%5)
%8 = broadcast(c, [2, 3])
%9 = %6 * %8
%10 = reshape(%9, [6])
%11 = sum(%9)
%12 = sum(%11)
%14 = %12 * 0.5
%15 = broadcast(%14, [6])
%16 = %10 * %15
h' = %9
output %16
)");
}

TEST_CASE("vectors are put together and taken apart") {
  EquationCell cell;
  cell.weights = {{"W", {"units", "units"}}, {"a", {}}};
  cell.states = {{"h", {"units"}}};
  cell.step = {"h' = tanh(W @ concat(slice(x, 1, input), a))"};
  cell.output = "concat(h', x, slice(h', 0, units))";
  CHECK(to_string(compile_equations(cell, 3, 3)) == R"(input x [3]
state h [3]
weight a []
weight W [3, 3]
%1 = slice(x, 1, 3)
%3 = concat(%1, a)
%4 = W @ %3
%5 = tanh(%4)
%6 = concat(%5, x)
%7 = concat(%6, %5)
h' = %5
output %7
)");
}

TEST_CASE("draws have a shape, a rhythm and a value outside training") {
  CHECK(
      printed("h * normal(units) + uniform_once(units)") ==
      "draw0 = normal[3] every step, 0 in evaluation\ndraw1 = uniform[3] every sequence, 0.5 in evaluation\n"
      "%3 = h * draw0\n%5 = %3 + draw1\n%5\n");
  CHECK(
      printed("uniform(evaluate = 1 / 4) + normal_once(units, evaluate = 1)") ==
      "draw0 = uniform[] every step, 0.25 in evaluation\ndraw1 = normal[3] every sequence, 1 in evaluation\n"
      "%2 = broadcast(draw0, [3])\n%4 = %2 + draw1\n%4\n");
}

TEST_CASE("several states, a dotted weight, the step index, and names that are not ASCII") {
  EquationCell cell;
  cell.hyper = {{"Δt", 0.5}};
  cell.weights = {{"W.bias", {"units"}}};
  cell.states = {{"y", {"units"}}, {"z", {"units"}}};
  cell.arithmetic = Arithmetic::grid;
  cell.step = {"z' = z - Δt * (tanh(y) + W.bias)", "y' = y + Δt * z' / (n + 1)"};
  cell.output = "y'";
  CHECK(to_string(compile_equations(cell, 3, 1)) == R"(input x [1]
state y [3] on the grid
state z [3] on the grid
weight W.bias [3]
%3 = tanh(y)
%5 = %3 + W.bias
%6 = 0.5 * %5
%7 = z - %6
%8 = 0.5 * %7
%11 = n + 1
%12 = broadcast(%11, [3])
%13 = %8 / %12
%14 = y + %13
y' = %14
z' = %7
output y'
)");
}

TEST_CASE("a long equation is fine, a deep one is refused") {
  std::string sum = "h";
  for (int i = 0; i < 100'000; ++i) sum += " + h";
  CHECK(printed(sum).ends_with("%100001\n"));
  CHECK_THROWS_WITH_AS(printed(std::string(100'000, '(') + "h"),
                       doctest::Contains("nested more than 200 deep"), InputError);
  CHECK_THROWS_WITH_AS(printed(std::string(100'000, '-') + "h"),
                       doctest::Contains("nested more than 200 deep"), InputError);
  CHECK(printed(std::string(150, '(') + "h" + std::string(150, ')')) == "h\n");
}

TEST_CASE("an error shows the text around its place") {
  CHECK_THROWS_WITH_AS(printed("h * tanh(h) + oops"), doctest::Contains(" In: h * tanh(h) + oops"),
                       InputError);
  std::string sum = "h";
  for (int i = 0; i < 40; ++i) sum += " + h";
  CHECK_THROWS_WITH_AS(
      printed(sum + " + oops" + sum),
      doctest::Contains(" In: ...+ h + h + h + h + h + h + h + h + h + h + h + h + oopsh + h"), InputError);
}

TEST_CASE("what is declared and not used, or used and not declared, is an error") {
  const auto error_with = [](auto change) -> std::string {
    EquationCell cell = tau_gru();
    change(cell);
    try {
      compile_equations(cell, 16, 1);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  using Cell = EquationCell;
  CHECK(error_with([](Cell& c) { c.weights.push_back({"W5", {"units"}}); }) == "no equation uses 'W5'.");
  CHECK(error_with([](Cell& c) { c.hyper.push_back({"beta", 1}); }) == "no equation uses 'beta'.");
  CHECK(error_with([](Cell& c) { c.step[4] = "h' = (1 - g) * h + g * alpha * u"; }) ==
        "no equation uses 'z', 'a'.");
  CHECK(error_with([](Cell& c) { c.step.pop_back(); }) ==
        "state 'h': has no next value: no equation sets h'.");
  CHECK(error_with([](Cell& c) {
          c.states.push_back({"c", {}});
        }) == "state 'c': has no next value: no equation sets c'.");
  CHECK(error_with([](Cell& c) {
          c.weights.push_back({"x", {"units"}});
        }) == "weight 'x': the name is taken; it is the input.");
  CHECK(error_with([](Cell& c) {
          c.weights.push_back({"W1", {"units"}});
        }) == "weight 'W1': the name is taken; it is a weight.");
  CHECK(error_with([](Cell& c) {
          c.hyper.push_back({"units", 3});
        }) == "hyper-parameter 'units': the name is taken; it is a dimension.");
  CHECK(error_with([](Cell& c) {
          c.states.push_back({"h'", {"units"}});
        }) == "state 'h'': a name is made of letters, digits, '_' and '.', a letter first.");
  CHECK(error_with([](Cell& c) {
          c.weights[0].shape = {"units", "unit"};
        }) == "weight 'W1', column 1: unknown name 'unit'; did you mean 'units'? In: unit");
  CHECK(error_with([](Cell& c) {
          c.weights[0].shape = {"units", "units / 3"};
        }) == "weight 'W1', column 1: this must be a whole number. Got 5.33333. In: units / 3");
  CHECK(error_with([](Cell& c) {
          c.weights[0].shape = {"1", "2", "3", "4"};
        }) == "weight 'W1': a shape has at most 3 dimensions. Got 4.");
  CHECK(error_with([](Cell& c) { c.states[0].shape = {"-tau"}; }) ==
        "state 'h', column 1: this must be at least 1. Got -20. In: -tau");
  CHECK(error_with([](Cell& c) {
          c.lags = {{"W1", "64"}};
        }) == "lag 'W1': there is no scalar or vector weight of that name.");
  CHECK(error_with([](Cell& c) {
          c.lags = {{"b1", "0"}};
        }) == "lag 'b1', column 1: this must be at least 1. Got 0. In: 0");
  CHECK(error_with([](Cell& c) { c.step[4] = "h' = x"; }) ==
        "equation 5, column 1: [set_next] the next value of a state must have its shape. Got h [16] and [1]. "
        "In: "
        "h' = x");
}

}  // namespace
}  // namespace lagtape
