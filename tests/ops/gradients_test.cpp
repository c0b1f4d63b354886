#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/tests/ops/support/operation_rows.h"

namespace lagtape::test {
namespace {

/// A scalar that every element of the result enters with another weight.
Var weighted(const Row& row, Inputs x) {
  const Var y = row.apply(x);
  return sum(y * y.tape().constant(random_tensor(y.shape(), y.dtype(), 99, Domain::nonzero)));
}

struct Outcome {
  std::vector<double> value;
  std::vector<std::vector<double>> gradients;
};

Outcome run(const Row& row, Dtype dtype) {
  Tape tape;
  std::vector<Var> x;
  for (const Tensor& input : inputs_of(row, dtype)) x.push_back(tape.variable(input));
  Outcome outcome{.value = numbers(row.apply(x).value()), .gradients = {}};
  tape.backward(weighted(row, x));
  for (const Var& input : x) outcome.gradients.push_back(numbers(input.grad()));
  return outcome;
}

/// "NAME(PARAMETERS)" of everything in ops/*.h that returns a Var, and of the functions that equations name.
std::set<std::string> declared_operations() {
  const auto folder = std::filesystem::path(LAGTAPE_SOURCE) / "ops";
  std::set<std::string> declarations;
  for (const ElementFunction& f : kElementFunctions)
    if (f.notation == ElementNotation::function && f.domain != ElementDomain::declared)
      declarations.insert(declaration_of(f));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("Var ")) continue;
      for (std::string more; line.find(';') == std::string::npos && std::getline(file, more);) {
        line += " " + more.substr(more.find_first_not_of(' '));
      }
      declarations.insert(line.substr(4, line.find(';') - 4));
    }
  }
  return declarations;
}

TEST_CASE("every declared operation has a row, and every row is a declared operation") {
  std::set<std::string> rows;
  for (const Row& row : operation_rows()) rows.insert(row.declaration);
  const std::set<std::string> declared = declared_operations();
  CHECK(declared.size() > 40);
  for (const std::string& declaration : declared)
    CHECK_MESSAGE(rows.contains(declaration), "no row for ", declaration);
  for (const std::string& row : rows) CHECK_MESSAGE(declared.contains(row), "not declared: ", row);
}

TEST_CASE("gradients of every operation agree with central differences") {
  for (const Row& row : operation_rows()) {
    CAPTURE(row.declaration);
    const GradientReport report =
        check_gradients([&](Tape&, Inputs x) { return weighted(row, x); }, inputs_of(row, Dtype::f64));
    CAPTURE(report.worst);
    CHECK(report.compared > 0);
    CHECK(report.max_rel_error < 1e-7);
  }
}

TEST_CASE("values and gradients of every operation in f32 are those in f64, rounded") {
  for (const Row& row : operation_rows()) {
    CAPTURE(row.declaration);
    const Outcome coarse = run(row, Dtype::f32), fine = run(row, Dtype::f64);
    check_close(coarse.value, fine.value, 2e-6);
    for (std::size_t i = 0; i < fine.gradients.size(); ++i)
      check_close(coarse.gradients[i], fine.gradients[i], 5e-6);
  }
}

TEST_CASE("an input that wants no gradient changes nothing for the others") {
  for (const Row& row : operation_rows()) {
    if (row.shapes.size() < 2) continue;
    CAPTURE(row.declaration);
    const Outcome all = run(row, Dtype::f64);
    for (std::size_t wanted = 0; wanted < row.shapes.size(); ++wanted) {
      Tape tape;
      std::vector<Var> x;
      const std::vector<Tensor> inputs = inputs_of(row, Dtype::f64);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        x.push_back(i == wanted ? tape.variable(inputs[i]) : tape.constant(inputs[i]));
      tape.backward(weighted(row, x));
      CHECK(numbers(x[wanted].grad()) == all.gradients[wanted]);
    }
  }
}

TEST_CASE("inputs of two tapes, two dtypes or no tape are refused by every operation of two inputs") {
  for (const Row& row : operation_rows()) {
    if (row.shapes.size() < 2) continue;
    CAPTURE(row.declaration);
    Tape tape, other;
    std::vector<Var> x;
    for (const Tensor& input : inputs_of(row, Dtype::f64)) x.push_back(tape.variable(input));
    const Var last = x.back();
    x.back() = other.variable(last.value());
    CHECK_THROWS_AS(row.apply(x), InputError);
    CHECK(message_of([&] { row.apply(x); }).find("inputs must be of one tape. Got ") != std::string::npos);
    x.back() = tape.variable(last.value().to(Dtype::f32));
    CHECK(message_of([&] { row.apply(x); }).find("inputs must have one dtype. Got ") != std::string::npos);
    x.back() = Var();
    CHECK(message_of([&] { row.apply(x); }).find("inputs must be on a tape. Got an empty Var for ") !=
          std::string::npos);
    x.front() = Var();
    CHECK(message_of([&] { row.apply(x); }).find("inputs must be on a tape. Got an empty Var for ") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace lagtape::test
