#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/equations.h"

namespace lagtape {
namespace {

/// One equation more in a cell of 3 units on 2 inputs, used by the output.
std::string error_of(const std::string& equation) {
  EquationCell cell;
  cell.hyper = {{"tau", 4}, {"dt", 0.5}};
  cell.weights = {{"W", {"units", "units"}}, {"U", {"units", "input"}}, {"b", {"units"}}, {"theta", {}}};
  cell.states = {{"h", {"units"}}};
  cell.step = {"h' = dt * tanh(W @ h[-tau] + U @ x + b) * theta", equation};
  cell.output = "y";
  try {
    compile_equations(cell, 3, 2);
  } catch (const InputError& error) {
    const std::string text = error.what();
    const std::string tail = " In: " + equation;
    return text.ends_with(tail) ? text.substr(0, text.size() - tail.size()) : text;
  }
  return "no error";
}

using ErrorTable = std::vector<std::pair<std::string, std::string>>;

/// Checks the errors of equations, each with the text that is expected.
void check_errors(const ErrorTable& table) {
  for (const auto& row : table) {
    CAPTURE(row.first);
    CHECK(error_of(row.first) == row.second);
  }
}

TEST_CASE("errors of loops, arrays, complex values, spikes and products from the wrong side") {
  check_errors({
      {"for k in 3: y = h",
       "equation 2, column 11: a loop reads for k in 0..6: NAME = EXPRESSION; k is 0 to 5."},
      {"for k in 2..2: y = h",
       "equation 2, column 5: a loop has at least one turn; its end is not counted. Got 2..2."},
      {"for h in 0..2: y = h", "equation 2, column 5: the name 'h' is taken: it is a state."},
      {"for k in 0..100000: y = h",
       "equation 2, column 5: the loops of a step have at most 16384 turns together. Got 100000."},
      {"y = [1, [2, 3]]", "equation 2, column 10: the rows of an array have the same length."},
      {"y = [h, 1]",
       "equation 2, column 6: an array is written of numbers, hyper-parameters and dimensions; values are "
       "joined by concat(a, "
       "b)."},
      {"y = tanh(h) * abs(complex(h, b) < 2)",
       "equation 2, column 33: complex values have no order and no '<'; compare abs(z), real(z) or imag(z)."},
      {"h' = complex(h, b)", "equation 2, column 1: h' is set twice."},
      {"y = where(1j, h, b)",
       "equation 2, column 11: this is complex; states, outputs, weights and real functions take real(z), "
       "imag(z) or "
       "abs(z)."},
      {"y = tanh(complex(h, b))",
       "equation 2, column 5: 'tanh' is not a function of complex values; these are exp, log, abs, angle, "
       "real, "
       "imag, "
       "conj, sum, mean, norm, outer, einsum, cumsum, concat, where, indices and shapes."},
      {"y = spike(h, 'tanh')",
       "equation 2, column 5: unknown surrogate 'tanh'. Known: fast_sigmoid, sigmoid, "
       "atan, "
       "triangle."},
      {"y = x @ U",
       "equation 2, column 7: what is left of @ has as many elements as the matrix has rows. Got [2] and U "
       "[3, 2]. "
       "Write U @ x."},
  });
}

TEST_CASE("an error of an equation has its rule, its operation and what was found as fields") {
  const auto problem_of = [](const std::string& equation) {
    EquationCell cell;
    cell.weights = {{"W", {"units", "units"}}};
    cell.states = {{"h", {"units"}}};
    cell.step = {"h' = W @ h", equation};
    cell.output = "y";
    try {
      compile_equations(cell, 3, 2);
    } catch (const InputError& error) {
      return error.problems().front();
    }
    return Problem{};
  };
  const Problem product = problem_of("y = W @ x");
  CHECK(product.rule == Rule::shape);
  CHECK(product.place.op == "@");
  CHECK(product.place.column == 7);
  CHECK(product.found == "W [3, 3] and [2]");
  CHECK(problem_of("y = h[-0.5]").rule == Rule::wrong_type);
  CHECK(problem_of("y = h[3]").rule == Rule::out_of_range);
  CHECK(problem_of("y = h[3]").found == "3");
  CHECK(problem_of("W = h").rule == Rule::conflict);
  CHECK(problem_of("y = h / (1 / 0)").rule == Rule::not_finite);
  CHECK(problem_of("y = (h").rule == Rule::syntax);
}

TEST_CASE("an error names the equation, the column, and the name or the shapes that do not fit") {
  const std::string not_one_shape =
      "shapes must agree or broadcast as in NumPy, aligned at the last axis. Got ";
  check_errors({
      {"y = sigmid(h)", "equation 2, column 5: unknown name 'sigmid'; did you mean 'sigmoid'?"},
      {"y = h + taw * h", "equation 2, column 9: unknown name 'taw'; did you mean 'tau'?"},
      {"y = Δ + q",
       "equation 2, column 5: unknown name 'Δ'. Known: x, n, units, input, tau, dt, h, W, U, b, theta, h'."},
      {"y = W @ x",
       "equation 2, column 7: [@] a matrix [out, in] multiplies a vector [in] or [g, in]. Got W [3, 3] and "
       "[2]."},
      {"y = W @ 2",
       "equation 2, column 7: [@] a matrix [out, in] multiplies a vector [in] or [g, in]. Got W [3, 3] and "
       "[]."},
      {"y = h + x", "equation 2, column 7: [add] " + not_one_shape + "[3] and [2]."},
      {"y = tanh(h - U @ x * x)", "equation 2, column 20: [multiply] " + not_one_shape + "[3] and [2]."},
      {"y = minimum(h, x)", "equation 2, column 5: [minimum] " + not_one_shape + "[3] and [2]."},
      {"y = b @ x",
       "equation 2, column 7: [@] the last axis on the left and the axis before the last on the right must "
       "agree. "
       "Got [3] and [2]."},
      {"y = W @ U @ h",
       "equation 2, column 11: [@] a matrix [out, in] multiplies a vector [in] or [g, in]. Got (W @ U) [3, "
       "2] "
       "and [3]."},
      {"y = U @ W @ h",
       "equation 2, column 7: the columns on the left and the rows on the right must agree. Got [3, 2] and "
       "[3, 3]."},
  });
}

TEST_CASE("an error names the index or lag that cannot be") {
  check_errors({
      {"y = h[tau]",
       "equation 2, column 7: h[-k] is h k steps before, and h itself that of k = 0; an element of it is "
       "h[..., 4], a part "
       "h[4:]. Got 4."},
      {"y = h[0]",
       "equation 2, column 7: h[-k] is h k steps before, and h itself that of k = 0; an element of it is "
       "h[..., 0], a part "
       "h[0:]. Got 0."},
      {"y = h[-dt]", "equation 2, column 7: the lag must be a whole number. Got 0.5."},
      {"y = h[-h]", "equation 2, column 7: this must be made of numbers, hyper-parameters and dimensions."},
      {"y = h[-1e10]", "equation 2, column 7: the lag must be at most 2^30 in size. Got 1e+10."},
      {"y = h[-theta]",
       "equation 2, column 7: the lag 'theta' is a weight; its largest value must be given in \"lags\"."},
      {"y = x[1]",
       "equation 2, column 7: x[-k] is x k steps before, and x itself that of k = 0; an element of it is "
       "x[..., 1], a part "
       "x[1:]. Got 1."},
      {"y = x[-h]",
       "equation 2, column 7: a lag of the input is a number, as in x[-3], or a weight out of \"lags\", as "
       "in "
       "x[-theta]."},
      {"y = b[-4]", "equation 2, column 7: an index of this axis is from -3 to 2. Got -4."},
      {"y = b[[0, 1]]",
       "equation 2, column 7: an index is a whole number, made of numbers, hyper-parameters and dimensions, "
       "a part b:e:s, "
       "... or None; of a list join the parts: concat(a[0:1], a[3:4])."},
      {"y = b[h > 0]",
       "equation 2, column 7: an index is a whole number, made of numbers, hyper-parameters and dimensions, "
       "a part b:e:s, "
       "... or None; what depends on values is where(c, a, b)."},
      {"y = h'[-1]",
       "equation 2, column 8: a new value has no past; the state before the step is h, the one before that "
       "h[-1], and an "
       "element of the new value, from its end, is (h')[-1]. Got -1."},
      {"y = b[3]", "equation 2, column 7: an index of this axis is from -3 to 2. Got 3."},
      {"y = b[0, 0]", "equation 2, column 10: there are more indices than axes. Got [3]."},
      {"y = b[2:1]", "equation 2, column 7: this part of an axis of 3 has no elements."},
      {"y = b[::0]", "equation 2, column 7: the step of a part is not 0."},
      {"y = b[h:]",
       "equation 2, column 7: an index is a whole number, made of numbers, hyper-parameters and dimensions, "
       "a part b:e:s, "
       "... or None; what depends on values is where(c, a, b)."},
      {"y = outer(h, h)[..., None].T",
       "equation 2, column 27: the transpose of 3 axes exchanges all of them in NumPy; the last two are "
       "exchanged by a.mT, "
       "and an order of axes is transpose(a, 0, 2, 1). Got [3, 3, 1]."},
  });
}

TEST_CASE("an error names the place at which an equation leaves the grammar") {
  check_errors({
      {"y = h[-1", "equation 2, column 9: expected an operator or ']', got the end."},
      {"y = tanh(h", "equation 2, column 11: expected an operator or ')', got the end."},
      {"y = tanh(h))", "equation 2, column 12: expected an operator or the end, got ')'."},
      {"y = h h", "equation 2, column 7: expected an operator or the end, got 'h'."},
      {"y = 2h", "equation 2, column 6: expected an operator or the end, got 'h'."},
      {"y = h +", "equation 2, column 8: expected a name, a number or '(', got the end."},
      {"y = * h", "equation 2, column 5: expected a name, a number or '(', got '*'."},
      {"y = (h, h)", "equation 2, column 7: one value is expected here; arrays are joined by concat(a, b)."},
      {"y = h if 1 else 0", "equation 2, column 7: a choice is written where(condition, a, b)."},
      {"y += h", "equation 2, column 3: a += b is written as an equation of its value: h' = h + b."},
      {"y = (h + 1).sum()",
       "equation 2, column 12: a value has no methods; a function comes first, as in sum(a)."},
      {"y = h.sum()",
       "equation 2, column 5: 'h' has no attribute 'sum'; functions come first, as in sum(h)."},
      {"y = W⊙h", "equation 2, column 5: unknown name 'W⊙h'; for the sign ⊙ write a * b."},
      {"y =", "equation 2, column 4: expected a name, a number or '(', got the end."},
      {"y", "equation 2, column 1: an equation reads NAME = EXPRESSION or STATE' = EXPRESSION."},
      {"", "equation 2, column 1: an equation reads NAME = EXPRESSION or STATE' = EXPRESSION."},
      {"2 = h", "equation 2, column 1: an equation reads NAME = EXPRESSION or STATE' = EXPRESSION."},
      {"y = h ? 1", "equation 2, column 7: no equation has the character '?'."},
      {"y = 1e999 * h", "equation 2, column 5: this is not a number in the range of a double."},
      {"y = . * h", "equation 2, column 5: this is not a number in the range of a double."},
      {"y = h / (1 / 0)", "equation 2, column 12: [constant] a number must be finite. Got inf."},
  });
}

TEST_CASE("an error names the function and the arguments that it does not take") {
  check_errors({
      {"y = tanh", "equation 2, column 5: 'tanh' is a function; its arguments are missing."},
      {"y = tanh()", "equation 2, column 5: 'tanh' takes 1 argument. Got 0."},
      {"y = maximum(h)", "equation 2, column 5: 'maximum' takes 2 to 16 arguments. Got 1."},
      {"y = reshape(h)", "equation 2, column 5: 'reshape' takes 2 to 5 arguments. Got 1."},
      {"y = reshape(h, 2, 2)",
       "equation 2, column 5: [reshape] the number of elements must stay the same. Got [3] and [2, 2]."},
      {"y = reshape(h, 0)",
       "equation 2, column 16: a size is at least 1, or -1 once for what the others leave. Got 0."},
      {"y = concat(h)", "equation 2, column 5: 'concat' takes at least 2 arguments. Got 1."},
      {"y = concat(h, 2)",
       "equation 2, column 5: [concat] the parts must be vectors or scalars, and no numbers, which are "
       "written [1]. Got "
       "[3] and []."},
      {"y = concat(h, h, 1)",
       "equation 2, column 5: [concat] vectors have the axis 0; a number after two parts is the axis, and as "
       "a part it is "
       "written [1]. Got 1."},
      {"y = slice(h, 1)", "equation 2, column 5: 'slice' takes 3 arguments. Got 2."},
      {"y = slice(h, 2, 4)",
       "equation 2, column 5: [slice] elements begin .. end - 1 of a vector, 0 <= begin < end <= its size. "
       "Got "
       "2 and 4 of [3]."},
      {"y = slice(h, -1, 2)",
       "equation 2, column 5: [slice] elements begin .. end - 1 of a vector, 0 <= begin < end <= its size. "
       "Got "
       "-1 and 2 of [3]."},
      {"y = slice(h, 0, b)",
       "equation 2, column 17: this must be made of numbers, hyper-parameters and dimensions."},
      {"y = sum(h, 1)", "equation 2, column 5: [sum] an axis of [3] is from -1 to 0. Got 1."},
      {"y = max(h, b)",
       "equation 2, column 5: an axis is a whole number; of two arrays there are minimum(a, b) and "
       "maximum(a, b)."},
      {"y = einsum(h, b)",
       "equation 2, column 12: einsum takes the letters of the axes first, as in einsum('ij,j->i', A, v)."},
      {"y = einsum('i,j->k', h, b)",
       "equation 2, column 5: [einsum] the letter 'k' of the result must be one of an operand, once. Got "
       "i,j->k."},
      {"y = where(h, h)", "equation 2, column 5: 'where' takes 3 arguments. Got 2."},
      {"y = outer(h, 2)",
       "equation 2, column 5: [outer] the product of all pairs is one of two vectors. Got [3] and []."},
      {"y = reshape(h, 1, 3) @ x",
       "equation 2, column 22: [@] the last axis on the left and the axis before the last on the right must "
       "agree. "
       "Got [1, 3] and [2]."},
      {"y = normal(1, 2, 3)", "equation 2, column 5: 'normal' takes 0 to 2 arguments. Got 3."},
      {"y = normal(3, evaluate 2)", "equation 2, column 24: expected '=', got '2'."},
      {"y = b(h)", "equation 2, column 5: 'b' is a weight, not a function."},
  });
}

TEST_CASE("what is written in another language, or as in a paper, is answered by how an equation says it") {
  const std::string steps =
      "h is the state before the step (h_{t-1} of a paper), h' the one after it (h_t), h[-k] the one k steps "
      "before h.";
  check_errors({
      {"y = np.tanh(h)",
       "equation 2, column 5: unknown name 'np.tanh'; functions are written without a module: tanh(a)."},
      {"y = torch.sigmoid(h)",
       "equation 2, column 5: unknown name 'torch.sigmoid'; functions are written without a module: "
       "sigmoid(a)."},
      {"y = σ(h)", "equation 2, column 5: unknown name 'σ'; write sigmoid(a)."},
      {"y = torch.max(h, b)",
       "equation 2, column 5: unknown name 'torch.max'; functions are written without a module: max(a)."},
      {"y = h[t-1]", "equation 2, column 7: a step has no number here: " + steps},
      {"y = h[n - 1]", "equation 2, column 7: a step has no number here: " + steps},
      {"y = h(t-1)", "equation 2, column 5: 'h' is a state, not a function; " + steps},
      {"y = h_{t-1}", "equation 2, column 7: no equation has the character '{': " + steps},
      {"y = 2 * h_t", "equation 2, column 9: unknown name 'h_t'; " + steps},
      {"y = h // 2", "equation 2, column 7: there is no //; write floor(a / b)."},
      {"y: h", "equation 2, column 2: an equation sets its name with =."},
      {"y == h", "equation 2, column 3: an equation sets its name with one =."},
      {"y = 0 < h < 1", "equation 2, column 11: comparisons are not chained; write a < b and b < c."},
      {"y = h;",
       "equation 2, column 6: no equation has the character ';': an equation is one entry of the list, "
       "without a "
       "sign at its end."},
  });
}

/// The parts and the texts of all errors of a cell, without the lines that they quote.
std::string all_errors_of(const EquationCell& cell) {
  std::string found;
  try {
    compile_equations(cell, 3, 2);
  } catch (const InputError& error) {
    for (Problem problem : error.problems()) {
      problem.place.excerpt.clear();
      const std::string pointer = problem.place.pointer;
      found += (pointer.empty() ? "" : pointer.substr(1)) + " " + to_string(problem) + "\n";
    }
  }
  return found;
}

TEST_CASE(
    "all errors of a cell are found at once, each at its part, and none that only follows from another") {
  EquationCell cell;
  cell.hyper = {{"dt", 0.5}};
  cell.weights = {{"W", {"units", "unit"}}, {"U", {"units", "input"}}};
  cell.derived = {{"A", "W - W.T"}, {"B", "U @ U"}};
  cell.lags = {{"W", "4"}};
  cell.states = {{"h", {"units"}}, {"c", {"units"}}};
  cell.step = {"g = sigmid(W @ h)", "c' = g * c + A @ h", "u = U @ h", "h' = u + wrong", "z = c' * dt"};
  cell.output = "concat(missing, h')";
  CHECK(
      all_errors_of(cell) ==
      "weights/W weight 'W', column 1: unknown name 'unit'; did you mean 'units'?\n"
      "derived/B derived 'B', column 3: [matmul] inner extents must agree. Got a [3, 2], b [3, 2].\n"
      "step/0 equation 1, column 5: unknown name 'sigmid'; did you mean 'sigmoid'?\n"
      "step/2 equation 3, column 7: [@] a matrix [out, in] multiplies a vector [in] or [g, in]. Got U [3, 2] "
      "and [3].\n"
      "output output, column 8: unknown name 'missing'. Known: x, n, units, input, dt, h, c, W, U, A, B, "
      "g, "
      "c', u, h', z\n");
  EquationCell lost;
  lost.states = cell.states;
  lost.step = {"h' + c", "z = q"};
  lost.output = "h'";
  CHECK(all_errors_of(lost) ==
        "step/0 equation 1, column 1: an equation reads NAME = EXPRESSION or STATE' = EXPRESSION.\n");
  lost.step = {"h' = -h"};
  CHECK(all_errors_of(lost) == "state/c state 'c': has no next value: no equation sets c'.\n");
}

TEST_CASE("an error names what is set twice, or not to be set") {
  check_errors({
      {"h = h[-1]", "equation 2, column 1: 'h' is the state before the step; its next value is h'."},
      {"h' = h", "equation 2, column 1: h' is set twice."},
      {"c' = h", "equation 2, column 1: unknown state 'c'. Known: h."},
      {"x = h", "equation 2, column 1: the name 'x' is taken: it is the input."},
      {"n = h", "equation 2, column 1: the name 'n' is taken: it is the step index."},
      {"tau = h", "equation 2, column 1: the name 'tau' is taken: it is a hyper-parameter."},
      {"tanh = h", "equation 2, column 1: the name 'tanh' is taken: it is a function."},
      {"other = h",
       "output, column 1: unknown name 'y'. Known: x, n, units, input, tau, dt, h, W, U, b, theta, h', "
       "other. "
       "In: y"},
      {"y = h", "no error"},
  });
}

}  // namespace
}  // namespace lagtape
