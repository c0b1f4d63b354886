#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/equations.h"

namespace lagtape {
namespace {

/// A cell of 3 units on 2 inputs whose step has the derived weight A alone.
EquationCell cell_with(const std::string& derived, const std::string& step = "h' = A @ h + U @ x") {
  EquationCell cell;
  cell.hyper = {{"beta", 0.25}};
  cell.weights = {{"M", {"units", "units"}}, {"U", {"units", "input"}}, {"v", {"units"}}, {"s", {}}};
  cell.derived = {{"A", derived}};
  cell.states = {{"h", {"units"}}};
  cell.step = {step};
  const bool uses_M = derived.find('M') != std::string::npos;
  cell.output = text_of("h' + v * s * beta", uses_M ? "" : " + M @ h");
  return cell;
}

/// M = 1 .. 9, U = 1 .. 6, v = 1 .. 3, s = 2.
Tensor value_of(const std::string& derived, const std::string& step = "h' = A @ h + U @ x") {
  const CompiledCell cell = compile_cell(cell_with(derived, step), 3, 2);
  Tape tape;
  std::vector<Var> of;
  for (const std::string& name : cell.derived.at(0).of) {
    const Shape shape = name == "M"   ? Shape{3, 3}
                        : name == "U" ? Shape{3, 2}
                        : name == "v" ? Shape{3}
                                      : Shape{};
    Tensor value(shape, Dtype::f64);
    for (std::int64_t i = 0; i < value.numel(); ++i) value.set(i, static_cast<double>(i + 1));
    of.push_back(tape.constant(name == "s" ? Tensor::scalar(2, Dtype::f64) : value));
  }
  return cell.derived[0].value(of).value().clone();
}

void check_values(const Tensor& got, std::initializer_list<double> expected) {
  REQUIRE(got.numel() == std::ssize(expected));
  std::int64_t i = 0;
  for (const double number : expected) CHECK(got.at(i++) == doctest::Approx(number).epsilon(1e-12));
}

std::string error_of(const EquationCell& cell) {
  try {
    compile_cell(cell, 3, 2);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("derived weights are calculated as they are written") {
  check_values(value_of("M - M.T"), {0, -2, -4, 2, 0, -2, 4, 2, 0});
  check_values(value_of("(M + M).T"), {2, 8, 14, 4, 10, 16, 6, 12, 18});
  check_values(value_of("(1 - beta) * eye(units) / 3 * 4"), {1, 0, 0, 0, 1, 0, 0, 0, 1});
  check_values(value_of("-M @ eye(3)"), {-1, -2, -3, -4, -5, -6, -7, -8, -9});
  check_values(value_of("U @ U.T"), {5, 11, 17, 11, 25, 39, 17, 39, 61});
  check_values(value_of("minimum(maximum(M, 3), 5)"), {3, 3, 3, 4, 5, 5, 5, 5, 5});
  check_values(value_of("strict_upper(v, units) + reshape(arange(9), 3, 3) * 0"),
               {0, 1, 2, 0, 0, 3, 0, 0, 0});
  check_values(value_of("expm(strict_upper(v * 0, units)) * s"), {2, 0, 0, 0, 2, 0, 0, 0, 2});
  check_values(value_of("transpose(M) - M.T + sigmoid(M * 0)"), {.5, .5, .5, .5, .5, .5, .5, .5, .5});
  check_values(value_of("sum(M, 1) - mean(M, -1)", "h' = A * h + U @ x"), {4, 10, 16});
  check_values(value_of("M @ v", "h' = A * h + U @ x"), {14, 32, 50});
  check_values(value_of("exp(s) + floor(beta * 10)", "h' = A * h + U @ x"), {std::exp(2.0) + 2});
}

TEST_CASE("derived weights have complex values, indices and the functions of the cell, as a step has them") {
  check_values(value_of("imag((M + 1j * M.T) @ complex(eye(3), M))"),
               {31, 40, 49, 68, 86, 104, 105, 132, 159});
  check_values(value_of("real(conj(complex(M, 2 * M)) ** 2)[::-1, -1][:, None] * v"),
               {-243, -486, -729, -108, -216, -324, -27, -54, -81});
  check_values(value_of("abs(complex(3 * M, 4 * M))"), {5, 10, 15, 20, 25, 30, 35, 40, 45});
  check_values(value_of("ones(3, 3) * M[..., 0] - reshape(M, (-1, 3))[0] + zeros(3)"),
               {0, 2, 4, 0, 2, 4, 0, 2, 4});
  check_values(value_of("transpose(M[None] * v[:, None, None], (2, 1, 0))[:, :, -1]"),
               {3, 12, 21, 6, 15, 24, 9, 18, 27});
  EquationCell cell = cell_with("skew(M)");
  cell.functions = {{"skew", {"a"}, {"b = turned(a)", "a - b"}}, {"turned", {"a"}, {"a.T"}}};
  const CompiledCell compiled = compile_cell(cell, 3, 2);
  Tape tape;
  const Var M =
      tape.constant(Tensor::from({3, 3}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}, Dtype::f64));
  CHECK(compiled.derived[0].of == std::vector<std::string>{"M"});
  check_values(compiled.derived[0].value({&M, 1}).value(), {0, -2, -4, 2, 0, -2, 4, 2, 0});
  cell.functions.back().lines = {"skew(a)"};
  CHECK(error_of(cell).find("'skew' calls itself") != std::string::npos);
  CHECK(error_of(cell_with("complex(M, M)")).find("this is complex") != std::string::npos);
  CHECK(error_of(cell_with("spike(M)")).find("'spike' is a function of steps") != std::string::npos);
}

TEST_CASE("a derived weight depends on what it names, and on nothing else") {
  const CompiledCell cell = compile_cell(cell_with("M + M.T * s"), 3, 2);
  CHECK(cell.derived[0].of == std::vector<std::string>{"M", "s"});
  CHECK(cell.weights.size() == 4);
  CHECK(cell.weights[0].shape == Shape{3, 3});
  std::string names;
  for (const WeightDefinition& weight : cell.program.weights) names += text_of(weight.name, " ");
  CHECK(names.find("M") == std::string::npos);
  CHECK(names.find("A") != std::string::npos);
}

TEST_CASE("derived weights can be made of those before them") {
  EquationCell cell = cell_with("B + B", "h' = A @ h + U @ x");
  cell.derived.insert(cell.derived.begin(), {"B", "M * 2"});
  const CompiledCell compiled = compile_cell(cell, 3, 2);
  REQUIRE(compiled.derived.size() == 2);
  CHECK(compiled.derived[1].of == std::vector<std::string>{"B"});
}

TEST_CASE("errors of derived weights name the line, the column and the shapes") {
  CHECK(error_of(cell_with("M + U")) ==
        "derived 'A', column 3: [add] shapes must agree or broadcast. Got a [3, 3], b [3, 2]. Axes are "
        "aligned from the last; only an extent of 1 is repeated. In: M + U");
  CHECK(error_of(cell_with("U @ M"))
            .find("derived 'A', column 3: [matmul] inner extents must agree. Got a [3, 2], b "
                  "[3, 3]") == 0);
  CHECK(error_of(cell_with("M + N.T"))
            .find("derived 'A', column 5: unknown weight, hyper-parameter or dimension 'N'") == 0);
  const std::string tan = error_of(cell_with("M + tan(M)"));
  CHECK(tan.starts_with(
      "derived 'A', column 5: unknown function 'tan'; did you mean 'tanh'? Known: sum, mean, eye, "
      "arange, reshape, strict_upper, where, mod, expand, concat, einsum, slice, complex, "));
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function)
      CHECK(tan.find(text_of(" ", function.name)) != std::string::npos);
  CHECK(error_of(cell_with("M + h")).find("derived 'A', column 5: unknown weight") == 0);
  CHECK(error_of(cell_with("eye(beta)")) ==
        "derived 'A', column 5: this must be a whole number of at least 1. Got 0.25. In: eye(beta)");
  CHECK(error_of(cell_with("M M")) ==
        "derived 'A', column 3: expected an operator or the end, got 'M'. In: M M");
  CHECK(error_of(cell_with("M", "h' = U @ x")) == "no equation uses 'A'.");
  EquationCell taken = cell_with("M");
  taken.derived[0].first = "U";
  CHECK(error_of(taken) == "derived 'U': the name is taken; it is a weight.");
}

TEST_CASE("a derived weight asks for no memory that the cell's weights do not justify") {
  // Without weights of their size these are tens of gigabytes.
  for (const char* derived :
       {"eye(60000)", "arange(1000000000)", "reshape(arange(60000), 60000, 1) * arange(60000)",
        "maximum(reshape(arange(60000), 60000, 1), arange(60000))",
        "reshape(arange(60000), 60000, 1) @ reshape(arange(60000), 1, 60000)", "strict_upper(v, 60000)"}) {
    CAPTURE(derived);
    CHECK(error_of(cell_with(derived)).find("numbers, where weights of the cell's size may have 4195520.") !=
          std::string::npos);
  }
  CHECK(error_of(cell_with("eye(2048) + M")).find("[add] shapes") != std::string::npos);
  EquationCell wide = cell_with("M");
  wide.weights[0].shape = {"60000", "60000"};
  CHECK(error_of(wide) ==
        "weight 'M': a cell with derived weights may have 134217728 numbers in its weights.");
}

TEST_CASE("the shape of an exponential costs nothing") {
  EquationCell cell = cell_with("expm(M)");
  CHECK(compile_cell(cell, 2000, 2).derived.size() == 1);  // a minute, if it were calculated
  CHECK(error_of(cell_with("expm(U)")).find("[matrix_exponential] a must be a square matrix") !=
        std::string::npos);
}

}  // namespace
}  // namespace lagtape
