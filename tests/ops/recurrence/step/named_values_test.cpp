#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/equations.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

TEST_CASE("a name follows its value into the finished program, and changes nothing there") {
  const auto recorded = [](bool with_names) {
    StepTape tape(2);
    const StepVar h = tape.state("h", RowShape::vector(2)), unused = sigmoid(h), w = tape.vector("w", 2);
    const StepVar scale = exp(w), gate = sigmoid(scale * tape.input());
    if (with_names) {
      tape.name("unused", unused);
      tape.name("gate", gate);
      tape.name("scale", scale);
      tape.name("number", tape.constant(1));
    }
    tape.set_next(h, h + gate);
    tape.set_output(h + gate);
    return tape.finish();
  };
  const StepProgram program = recorded(true);
  CHECK(to_string(program) == to_string(recorded(false)));
  REQUIRE(program.named.size() == 2);
  CHECK(program.named[0].name == "gate");
  CHECK(program.values[program.named[0].value].computes(ElementOp::sigmoid));
  CHECK_FALSE(program.is_fixed(program.named[0].value));
  CHECK(program.named[1].name == "scale");
  CHECK(program.values[program.named[1].value].computes(ElementOp::exp));
  CHECK(program.is_fixed(program.named[1].value));
}

TEST_CASE("two values have two names") {
  StepTape tape(2);
  tape.name("g", tape.input());
  CHECK_THROWS_WITH_AS(tape.name("g", tanh(tape.input())), "[name] the name 'g' is taken.", InputError);
}

TEST_CASE("equations and trained lags have names") {
  EquationCell cell;
  cell.hyper = {{"k", 2}};
  cell.states = {{"h", {"units"}}};
  cell.weights = {{"theta", {"units"}}, {"w", {"units"}}};
  cell.lags = {{"theta", "5"}};
  cell.step = {"two = 1 * k", "g = sigmoid(w * h[-theta])", "h' = g * two + x"};
  cell.output = "h'";
  const StepProgram program = compile_equations(cell, 3, 3);
  REQUIRE(program.named.size() == 2);
  CHECK(program.named[0].name == "g");
  CHECK(program.named[1].name == "theta");
  CHECK(program.values[program.named[1].value].op == StepOp::weight);
}

}  // namespace
}  // namespace lagtape
