#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/equations.h"
#include "lagtape/tests/cells/support/evaluate.h"

namespace lagtape::test {
namespace {

struct Row {
  std::string expression;
  Shape shape;
  Vector values;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#include "lagtape/tests/cells/numpy/numpy_golden.inc.h"
  };
  return all;
}

/// A cell that has the operands of the golden values, and one expression of them as its output.
EquationCell cell_of(const Row& row) {
  EquationCell cell;
  cell.weights = {{"a", {"6"}}, {"s", {"9"}},      {"t", {"12"}},         {"v", {"3"}},
                  {"g", {"2"}}, {"W", {"3", "3"}}, {"R", {"2", "2", "3"}}};
  cell.states = {{"h", {}}};
  cell.step = {
      "A = reshape(a, 2, 3)", "S = reshape(s, 3, 3)", "T = reshape(t, 2, 2, 3)", "e = " + row.expression,
      "h' = h + 0 * (sum(x) + sum(A) + sum(S) + sum(T) + sum(g) + sum(W @ v) + sum(R @ expand(v, 2, 3)))"};
  cell.output = row.shape.empty()       ? "expand(e, 1)"
                : row.shape.size() == 1 ? "e"
                                        : text_of("reshape(e, ", element_count(row.shape), ")");
  return cell;
}

/// The operands that make_numpy_golden.py has, under the names of the weights that they are made of.
Vector operand(const std::string& name) {
  const std::string names = "astvgWR";
  const std::size_t sizes[] = {6, 9, 12, 3, 2, 9, 12};
  const std::size_t at = names.find(name[0]);
  Vector values(sizes[at]);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(1.3 * static_cast<double>(i) + static_cast<double>(at));
  if (name == "R.0") values.resize(6);
  if (name == "R.1") values.erase(values.begin(), values.begin() + 6);
  if (name == "W.T")
    for (std::size_t i = 0; i < 9; ++i)
      values[i] = std::sin(1.3 * static_cast<double>(i % 3 * 3 + i / 3) + static_cast<double>(at));
  return values;
}

TEST_CASE("expressions of a step have the values that NumPy gives them") {
  for (const Row& row : rows()) {
    INFO(row.expression);
    const StepProgram program = compile_equations(cell_of(row), 3, 3);
    const Vector values = evaluate(program, operand, {{1, 2, 3}}).at(0);
    REQUIRE(values.size() == row.values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(values[i] == doctest::Approx(row.values[i]).epsilon(1e-12));
  }
  CHECK(rows().size() > 100);
}

}  // namespace
}  // namespace lagtape::test
