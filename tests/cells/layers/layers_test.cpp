#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/cells/build/common_options.h"
#include "lagtape/tests/cells/support/cell_case.h"
#include "lagtape/tests/cells/support/cell_row.h"
#include "lagtape/tests/ops/recurrence/support/compare.h"

// Layers that see one step at a time, and the options that every cell has: dilated and residual.

namespace lagtape {
namespace {

using namespace test;

LayerGroup built(LayerEntries entries, const std::string& name, const Json& options, std::int64_t input) {
  JsonErrors errors;
  JsonReader reader(options, "", errors);
  const BuildLayer build = find_named(entries, name)->read(reader);
  reader.finish();
  errors.raise(name);
  return build(input);
}

Layer per_step(const std::string& name, const Json& options, std::int64_t input) {
  return built(per_step_layers(), name, options, input).layers.front();
}

void check_like_unrolled(const SequenceCase& c) {
  CHECK(differences(run_op(c), run_unrolled(c), 1e-12) == "");
}

TEST_CASE("layers of a step alone have exact gradients") {
  for (const auto& row : {std::pair<std::string, Json>{"layer_norm", {{"eps", 0.01}}},
                          {"dropout", {{"rate", 0.3}}},
                          {"dropout", {{"rate", 0.3}, {"variational", true}}},
                          {"linear", {{"units", 3}}}}) {
    CAPTURE(row.first);
    const CellCase c = cell_case(per_step(row.first, row.second, 5), 3, 9);
    const GradientReport report = check_cell_gradients(c);
    CHECK(report.compared > 0);
    CHECK_MESSAGE(report.max_rel_error <= 1e-7, report.worst);
    check_like_unrolled(c.sequence);
  }
}

TEST_CASE("layer_norm gives every step mean 0 and variance 1, times gain, plus bias") {
  const CellCase c = cell_case(per_step("layer_norm", {{"eps", 1e-9}}, 7), 2, 4);
  const Tensor y = named(run_evaluate(c.sequence), "outputs");
  for (std::int64_t row = 0; row < 8; ++row) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < 7; ++i) {
      const double v = (y.at(row * 7 + i) - c.parameters[1].at(i)) / c.parameters[0].at(i);
      sum += v / 7;
      squares += v * v / 7;
    }
    CHECK(std::abs(sum) < 1e-9);
    CHECK(squares == doctest::Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("dropout leaves out its share, keeps the mean, and is gone in evaluation") {
  for (const bool variational : {false, true}) {
    CellCase c = cell_case(per_step("dropout", {{"rate", 0.25}, {"variational", variational}}, 200), 2, 50);
    const SequenceCase& s = c.sequence;
    const Tensor y = named(run_evaluate(s), "outputs");
    std::int64_t zeros = 0, changes = 0;
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      const double kept = s.batch.x.at(i) / 0.75;
      zeros += y.at(i) == 0;
      CHECK((y.at(i) == 0 || std::abs(y.at(i) - kept) < 1e-12));
      if (i % (50 * 200) >= 200) changes += (y.at(i) == 0) != (y.at(i - 200) == 0);
    }
    CHECK(static_cast<double>(zeros) / static_cast<double>(y.numel()) == doctest::Approx(0.25).epsilon(0.2));
    CHECK((changes == 0) == variational);
    c.sequence.batch.training = false;
    CHECK(bit_difference(named(run_evaluate(c.sequence), "outputs"), s.batch.x) == "");
  }
}

TEST_CASE("a dilated layer is the layer on every d-th step") {
  constexpr std::int64_t kSteps = 23;
  // The last two read the index of the step, and count the steps of their sequence.
  for (const auto& row : {std::pair<std::string, Json>{"gru", {{"units", 4}}},
                          {"delay_gru", {{"units", 4}, {"tau", 2}}},
                          {"tarnn", {{"units", 4}, {"length", 5}}},
                          {"tau_gru", {{"units", 4}, {"tau", 2}, {"form", "code"}}}}) {
    const std::string& cell = row.first;
    const Json& options = row.second;
    CAPTURE(cell);
    Json with = options;
    with["dilations"] = {3};
    const LayerGroup plain = built(cells(), cell, options, 2), dilated = built(cells(), cell, with, 2);
    CHECK(!plain.nested);
    CHECK(dilated.nested);
    CellCase c = cell_case(dilated.layers.front(), 2, kSteps);
    check_like_unrolled(c.sequence);
    c.sequence.initial.clear();
    const Tensor all = named(run_evaluate(c.sequence), "outputs");
    for (std::int64_t first = 0; first < 3; ++first) {
      SequenceCase part = c.sequence;
      part.stack.layers = {plain.layers.front().program};
      const std::int64_t steps = (kSteps - first + 2) / 3;
      part.batch.x = Tensor({2, steps, 2}, Dtype::f64);
      for (std::int64_t row = 0; row < 2; ++row)
        for (std::int64_t n = 0; n < steps; ++n)
          for (std::int64_t i = 0; i < 2; ++i)
            part.batch.x.set((row * steps + n) * 2 + i,
                             c.sequence.batch.x.at((row * kSteps + first + 3 * n) * 2 + i));
      const Tensor some = named(run_evaluate(part), "outputs");
      for (std::int64_t row = 0; row < 2; ++row)
        for (std::int64_t n = 0; n < steps; ++n)
          for (std::int64_t i = 0; i < 4; ++i)
            CHECK(some.at((row * steps + n) * 4 + i) == all.at((row * kSteps + first + 3 * n) * 4 + i));
    }
  }
}

TEST_CASE("a list of dilations is a layer for each, the lags of which grow") {
  const LayerGroup group = built(cells(), "gru", {{"units", 4}, {"dilations", {1, 2, 4}}}, 2);
  REQUIRE(group.layers.size() == 3);
  CHECK(group.layers[0].program.largest_lag() == 0);
  CHECK(group.layers[1].program.largest_lag() == 1);
  CHECK(group.layers[2].program.largest_lag() == 3);
  CHECK(group.layers[1].program.input == RowShape::vector(4));
}

TEST_CASE("a residual layer adds its input, and refuses another width") {
  const Json options = {{"units", 3}, {"residual", true}};
  CellCase c = cell_case(built(cells(), "lstm", options, 3).layers.front(), 2, 9);
  check_like_unrolled(c.sequence);
  const Tensor with = named(run_evaluate(c.sequence), "outputs");
  c.sequence.stack.layers = {built(cells(), "lstm", {{"units", 3}}, 3).layers.front().program};
  const Tensor without = named(run_evaluate(c.sequence), "outputs");
  for (std::int64_t i = 0; i < with.numel(); ++i)
    CHECK(with.at(i) == without.at(i) + c.sequence.batch.x.at(i));
  CHECK_THROWS_WITH_AS(built(cells(), "lstm", options, 2),
                       "[residual] input and output have one width. Got input [2], output [3].", InputError);
}

TEST_CASE("the lowest of several layers may have another input, and is then without its residual") {
  const auto adds_input = [](const Json& options, std::int64_t input) {
    std::vector<bool> adds;
    for (const Layer& layer : built(cells(), "unicornn", options, input).layers) {
      const Instruction& output = layer.program.values[layer.program.output];
      adds.push_back(output.computes(ElementOp::add) && layer.program.values[output.b].op == StepOp::input);
    }
    return adds;
  };
  const Json options = {{"units", 3}, {"dt", 0.1}, {"layers", 3}, {"residual", true}};
  CHECK(adds_input(options, 3) == std::vector{true, true, true});
  CHECK(adds_input(options, 2) == std::vector{false, true, true});
  Json one = options, stacked = options;
  one["layers"] = 1;
  stacked["residual_stacking"] = 1;
  CHECK_THROWS_AS(adds_input(one, 2), InputError);
  CHECK_THROWS_WITH_AS(adds_input(stacked, 3),
                       "[residual] layers inside a layer have one width. Got 6 and 3.", InputError);
}

TEST_CASE("cells that cannot be dilated are refused") {
  CHECK_THROWS_AS(built(cells(), "tau_gru", {{"units", 2}, {"tau", {{"max", 4}}}, {"dilations", {2}}}, 1),
                  InputError);
  CHECK_THROWS_AS(built(cells(), "unicornn", {{"units", 2}, {"dt", 0.1}, {"dilations", {2}}}, 1), InputError);
  CHECK_THROWS_AS(built(cells(), "gru", {{"units", 2}, {"dilations", {0}}}, 1), InputError);
  CHECK_THROWS_AS(built(cells(), "gru", {{"units", 2}, {"dilations", 2}}, 1), InputError);
}

}  // namespace
}  // namespace lagtape
