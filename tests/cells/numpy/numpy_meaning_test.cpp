#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
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
  return values;
}

/// A weight of a compiled cell: an operand, or what is derived from some.
Vector weight_of(const CompiledCell& cell, const std::string& name) {
  const auto derived = std::ranges::find(cell.derived, name, &DerivedWeight::name);
  if (derived == cell.derived.end()) return operand(name);
  Tape tape;
  std::vector<Var> of;
  for (const std::string& source : derived->of) {
    const Vector values = operand(source);
    Tensor tensor(std::ranges::find(cell.weights, source, &WeightDefinition::name)->shape, Dtype::f64);
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, values[static_cast<std::size_t>(i)]);
    of.push_back(tape.constant(tensor));
  }
  const Tensor value = derived->value(of).value();
  Vector values;
  for (std::int64_t i = 0; i < value.numel(); ++i) values.push_back(value.at(i));
  return values;
}

void check_values(const Vector& values, const Row& row) {
  REQUIRE(values.size() == row.values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == doctest::Approx(row.values[i]).epsilon(1e-12));
}

TEST_CASE("expressions of a step have the values that NumPy gives them") {
  for (const Row& row : rows()) {
    INFO(row.expression);
    const CompiledCell cell = compile_cell(cell_of(row), 3, 3);
    const auto weight = [&](const std::string& name) { return weight_of(cell, name); };
    check_values(evaluate(cell.program, weight, {{1, 2, 3}}).at(0), row);
  }
  CHECK(rows().size() > 150);
}

/// A cell whose derived weight is the expression. Weights of two axes are read as they are, others reshaped.
EquationCell derived_cell_of(const Row& row) {
  std::string text;
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t i = 0; i < row.expression.size(); ++i) {
    const char c = row.expression[i];
    const bool alone = (i == 0 || (!is_name(row.expression[i - 1]) && row.expression[i - 1] != '.')) &&
                       (i + 1 == row.expression.size() || !is_name(row.expression[i + 1]));
    text += !alone     ? std::string(1, c)
            : c == 'A' ? "reshape(a, 2, 3)"
            : c == 'S' ? "reshape(s, 3, 3)"
            : c == 'T' ? "reshape(t, 2, 2, 3)"
                       : std::string(1, c);
  }
  EquationCell cell;
  cell.weights = {{"a", {"6"}}, {"s", {"9"}}, {"t", {"12"}}, {"v", {"3"}}, {"g", {"2"}}, {"W", {"3", "3"}}};
  cell.derived = {{"all", "sum(a) + sum(s) + sum(t) + sum(v) + sum(g) + sum(W)"},
                  {"e", text_of("reshape(", text, ", ", element_count(row.shape), ")")}};
  cell.states = {{"h", {}}};
  cell.step = {"h' = h + 0 * (sum(x) + all)"};
  cell.output = "e";
  return cell;
}

TEST_CASE("expressions of derived weights have the values that NumPy gives them") {
  int count = 0;
  for (const Row& row : rows()) {
    INFO(row.expression);
    bool in_steps_alone = false;
    for (const char* part : {"complex", "j *", "2j", "spike", "R"})
      in_steps_alone |= row.expression.find(part) != std::string::npos;
    if (in_steps_alone) continue;
    check_values(weight_of(compile_cell(derived_cell_of(row), 3, 3), "e"), row);
    ++count;
  }
  CHECK(count > 110);
}

}  // namespace
}  // namespace lagtape::test
