#include "lagtape/tests/ops/recurrence/support/random_case.h"

#include <doctest/doctest.h>

#include <map>

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("random cases use the whole step language") {
  std::map<std::string_view, int> uses;
  int other_output = 0, leaf_next = 0, grouped_states = 0, beyond_steps = 0, layers = 0, lengths = 0,
      windows = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const SequenceCase c = random_case(seed);
    lengths += !c.batch.lengths.empty();
    windows += !c.initial.empty();
    for (const StepProgram& program : c.stack.layers) {
      ++layers;
      for (const Instruction& v : program.values) ++uses[name_of(v)];
      beyond_steps += program.largest_lag() > c.steps();
      bool state_output = false;
      for (const StateDefinition& state : program.states) {
        state_output = state_output || state.next == program.output;
        leaf_next += is_leaf(program.values[state.next].op);
        grouped_states += state.shape.rank == 2;
      }
      other_output += !state_output;
    }
  }
  std::vector<std::string_view> names;
  for (int op = 0; op <= static_cast<int>(StepOp::view); ++op) {
    Instruction v;
    v.op = static_cast<StepOp>(op);
    if (v.op != StepOp::element) names.push_back(name_of(v));
  }
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation != ElementNotation::none && function.domain != ElementDomain::declared)
      names.push_back(function.name);
  for (const std::string_view name : names) {
    INFO(name);
    CHECK(uses[name] >= (name == "view" || name == "slice" ? 10 : 30));
  }
  CHECK(layers > 350);
  for (const int count : {other_output, leaf_next, grouped_states, beyond_steps, lengths, windows})
    CHECK(count >= 40);
}

TEST_CASE("equal seeds give equal cases, other seeds others") {
  const auto text = [](std::uint64_t seed) { return to_string(random_case(seed).stack.layers[0]); };
  CHECK(text(5) == text(5));
  CHECK(text(5) != text(6));
  const SequenceCase one = random_case(5), again = random_case(5);
  CHECK(bit_difference(one.batch.x, again.batch.x) == "");
  CHECK(bit_difference(one.weights[0], again.weights[0]) == "");
}

}  // namespace
}  // namespace lagtape
