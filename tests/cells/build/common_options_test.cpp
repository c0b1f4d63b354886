#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "lagtape/cells/build/common_options.h"
#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/cells/layers/linear.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/tests/cells/support/by_hand.h"
#include "lagtape/tests/cells/support/cell_case.h"
#include "lagtape/tests/cells/support/cell_row.h"
#include "lagtape/tests/ops/recurrence/support/streamed.h"

// The properties that every registered cell must have, tested over its row in tests/cells/rows.

namespace lagtape {
namespace {

using namespace test;

constexpr std::int64_t kInput = 3;

/// Calls check(layer) for every layer of every row.
template <class Check>
void for_each_layer(Check check) {
  for (const LayerEntry& entry : cells()) {
    const std::string name(entry.name);
    for (const Json& options : read_row(name).options) {
      const std::vector<Layer> layers = build_cell(name, options, kInput);
      for (const Layer& layer : layers) {
        const std::string which = text_of(name, " ", options.dump(), " ", &layer - layers.data());
        CAPTURE(which);
        check(layer);
      }
    }
  }
}

/// A number of steps that covers every lag three times.
std::int64_t steps_for(const Layer& layer) { return 3 * layer.program.largest_lag() + 8; }

std::string problem(const GradientReport& report, double tolerance) {
  if (report.compared > 0 && report.max_rel_error <= tolerance) return "";
  return text_of(report.worst, ", off by ", report.max_rel_error, " of the largest entry");
}

TEST_CASE("every cell has a row, and every row a cell") {
  std::vector<std::string> names = names_of(cells());
  std::ranges::sort(names);
  CHECK(names == row_names());
  CHECK_THROWS_WITH_AS(read_row("nobody"), doctest::Contains("the cell 'nobody' has no row"), Error);
}

TEST_CASE("every cell is documented: what it is, its source, its equations and its options") {
  for (const LayerEntry& entry : cells()) {
    CAPTURE(entry.name);
    CHECK(entry.summary != "");
    CHECK(entry.source != "");
    CHECK(entry.equations.find("' = ") != std::string_view::npos);
    for (const OptionDoc& option : options_of(entry)) {
      CAPTURE(option.key);
      CHECK(option.about != "");
    }
  }
}

/// The options that all cells have in common, which rows need not set.
std::set<std::string> options_of_every_cell() {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  CommonCellOptions common{.arithmetic = Arithmetic::real};
  read_options(reader, kCommonCellOptions, common);
  std::set<std::string> keys;
  for (const OptionDoc& option : reader.documentation()) keys.insert(option.key);
  return keys;
}

TEST_CASE("every option of a cell is set by a layer of its row") {
  const std::set<std::string> of_every_cell = options_of_every_cell();
  CHECK(of_every_cell.contains("residual"));
  for (const LayerEntry& entry : cells()) {
    const std::string name(entry.name);
    std::set<std::string> tried;
    const CellRow row = read_row(name);
    std::vector<Json> layers = row.options;
    for (const CellRow::Count& count : row.counts) layers.push_back(count.options);
    for (const Json& options : layers)
      for (const auto& [key, value] : options.items()) tried.insert(key);
    for (const OptionDoc& option : options_of(entry))
      if (!of_every_cell.contains(option.key))
        CHECK_MESSAGE(tried.contains(option.key), name, " ", option.key);
  }
}

TEST_CASE("every cell has the numbers of parameters that papers print, and their names") {
  for (const LayerEntry& entry : cells()) {
    const std::string name(entry.name);
    const CellRow row = read_row(name);
    std::string names;
    const Layer first = build_cell(name, row.options[0], kInput).front();
    for (const ParameterDefinition& parameter : first.parameters)
      names += text_of(names.empty() ? "" : " ", parameter.name);
    CHECK(names == row.parameters);
    for (const CellRow::Count& expected : row.counts) {
      const std::vector<Layer> layers = build_cell(name, expected.options, expected.input);
      std::int64_t count = 0;
      for (const Layer& layer : layers) count += layer.parameter_count();
      if (expected.outputs > 0) {
        const StepProgram& top = layers.back().program;
        const std::int64_t width = top.values[top.output].shape.width();
        count += Linear{expected.outputs}.build(width).parameter_count();
      }
      CHECK_MESSAGE(count == expected.count, name, " ", expected.options.dump());
    }
  }
}

TEST_CASE("parameters that are weights of the step have their shapes") {
  for_each_layer([](const Layer& layer) {
    if (layer.weights) return;
    CHECK(layer.program.weights.size() == layer.parameters.size());
    for (const WeightDefinition& weight : layer.program.weights) {
      const auto parameter = std::ranges::find(layer.parameters, weight.name, &ParameterDefinition::name);
      REQUIRE(parameter != layer.parameters.end());
      CHECK(parameter->shape == weight.shape);
    }
  });
}

TEST_CASE("every cell's gradients agree with central differences") {
  int surrogates = 0;
  for_each_layer([&](const Layer& layer) {
    // The gradient of a spike is that of another function, which NumPy's numbers check.
    const bool replaces = std::ranges::any_of(
        layer.program.values, [](const Instruction& v) { return v.computes(ElementOp::surrogate); });
    surrogates += replaces;
    if (replaces) return;
    CHECK(problem(check_cell_gradients(cell_case(off_grid(layer), 2, steps_for(layer))), 1e-7) == "");
  });
  CHECK(surrogates == 5);
}

TEST_CASE("every cell's values and gradients agree with the unrolled tape") {
  for_each_layer([](const Layer& layer) {
    const SequenceCase c = cell_case(off_grid(layer), 3, steps_for(layer) + 20).sequence;
    CHECK(differences(run_op(c), run_unrolled(c), 1e-12) == "");
  });
}

TEST_CASE("every cell gives the same bits in every plan, chunk and number of threads" *
          doctest::test_suite("slow")) {
  for_each_layer([](const Layer& layer) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const SequenceCase c = converted(cell_case(layer, 9, steps_for(layer) + 40).sequence, dtype);
      const Results expected = run_op(c, {.plan = MemoryPlan::full});
      CHECK(bit_differences(run_op(c, {.plan = MemoryPlan::full}, 3), expected) == "");
      for (const PlanCost& plan : SequenceOp(c.stack, dtype).plans(c.rows(), c.steps(), 2)) {
        CAPTURE(name_of(plan.plan));
        for (const std::int64_t chunk : {16, 32})
          CHECK(bit_differences(run_op(c, {.plan = plan.plan, .chunk = chunk}, 2), expected) == "");
      }
    }
  });
}

TEST_CASE("every cell gives a sequence the bits that it has alone, and none of its noise in evaluation") {
  for_each_layer([](const Layer& layer) {
    SequenceCase c = converted(cell_case(layer, 7, steps_for(layer) + 4).sequence, Dtype::f32);
    const Results batch = run_evaluate(c);
    for (const std::int64_t row : {0, 4, 6})
      CHECK(bit_differences(run_evaluate(only_row(c, row)), row_of(batch, c, row)) == "");
    c.batch.training = false;
    const Results without = run_evaluate(c);
    c.batch.draws.seed += 1;
    CHECK(bit_differences(run_evaluate(c), without) == "");
  });
}

TEST_CASE("every cell streams with the bits of a batch") {
  for_each_layer([](const Layer& layer) {
    SequenceCase c = converted(cell_case(layer, 2, steps_for(layer) + 20).sequence, Dtype::f32);
    c.batch.training = false;
    c.initial.clear();
    const Tensor expected = steps_first(named(run_evaluate(c), "outputs"));
    for (const std::vector<std::int64_t>& blocks : {std::vector<std::int64_t>{1}, {1, 20, 3}}) {
      Stream<float> stream(c.stack, c.weights, c.rows());
      CHECK(bit_difference(streamed(stream, c.batch.x, blocks), expected) == "");
    }
  });
}

// ---- The cell as its user would write it ----

/// Calls check(built-in layer, equations, width of its input) for the pairs of every row.
template <class Check>
void for_each_equations(Check check) {
  for (const LayerEntry& entry : cells()) {
    const std::string name(entry.name);
    for (const CellRow::Equations& equations : read_row(name).equations) {
      const std::string which = text_of(name, " ", equations.options.dump(), " ", equations.layer);
      CAPTURE(which);
      const Layer layer =
          build_cell(name, equations.options, kInput).at(static_cast<std::size_t>(equations.layer));
      check(layer, equations, layer.program.input.size);
    }
  }
}

TEST_CASE("a built-in cell and its equations are the same program, line for line") {
  for_each_equations([](const Layer& layer, const CellRow::Equations& equations, std::int64_t input) {
    CHECK(to_string(build_equations(equations, input).program) == to_string(layer.program));
  });
}

/// The step's weights by name, from parameters whose numbers are a function of their names.
std::map<std::string, Tensor> weights_of_step(const Layer& layer) {
  std::map<std::string, Tensor> weights;
  for (const WeightDefinition& weight : layer.program.weights)
    weights[weight.name] = Tensor::from(weight.shape, step_weight(layer, weight.name), Dtype::f64);
  return weights;
}

TEST_CASE("a built-in cell and its equations derive the same weights of the same parameters") {
  for_each_equations([](const Layer& layer, const CellRow::Equations& equations, std::int64_t input) {
    const Layer written = build_equations(equations, input);
    CHECK(layer.weights.operator bool() == written.weights.operator bool());
    std::map<std::string, Shape> shapes, written_shapes;
    for (const ParameterDefinition& p : layer.parameters) shapes[p.name] = p.shape;
    for (const ParameterDefinition& p : written.parameters) written_shapes[p.name] = p.shape;
    CHECK(shapes == written_shapes);
    const auto expected = weights_of_step(layer);
    for (const auto& weight : weights_of_step(written)) {
      const Difference apart = difference(weight.second, expected.at(weight.first));
      CHECK_MESSAGE(apart.relative <= 1e-12, weight.first, ": ", apart.where);
    }
  });
}

/// The options of a cell without those that all cells have in common.
std::vector<OptionDoc> own_options_of(const LayerEntry& entry) {
  std::vector<OptionDoc> own = options_of(entry);
  std::erase_if(own, [all = options_of_every_cell()](const OptionDoc& o) { return all.contains(o.key); });
  return own;
}

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

TEST_CASE("every option of a cell is written as equations, unless the step is the same with it") {
  for (const LayerEntry& entry : cells()) {
    const std::string name(entry.name);
    const CellRow row = read_row(name);
    if (row.equations.empty()) continue;
    for (const OptionDoc& option : own_options_of(entry)) {
      bool written = among(row.not_of_the_step, option.key);
      for (const CellRow::Equations& equations : row.equations) {
        const Json& options = equations.options;
        written = written || (options.contains(option.key) && options[option.key].dump() != option.fallback);
      }
      CHECK_MESSAGE(written, name, " ", option.key);
    }
    for (const std::string& key : row.not_of_the_step) {
      for (Json options : row.options) {
        const std::vector<Layer> with = build_cell(name, options, kInput);
        if (options.erase(key) == 0) continue;
        CAPTURE(key);
        CHECK(to_string(build_cell(name, options, kInput)[0].program) == to_string(with[0].program));
      }
    }
  }
}

TEST_CASE("every number of a cell has a gradient among its equations, unless it can have none") {
  for (const LayerEntry& entry : cells()) {
    const std::string name(entry.name);
    const CellRow row = read_row(name);
    if (row.equations.empty()) continue;
    for (const OptionDoc& option : own_options_of(entry)) {
      if (!type_words(option.schema).starts_with("number")) continue;
      bool real = among(row.not_of_the_step, option.key) || among(row.no_gradient, option.key);
      for (const CellRow::Equations& equations : row.equations)
        real = real || among(equations.real, option.key);
      CHECK_MESSAGE(real, name, " ", option.key);
    }
  }
}

TEST_CASE("gradients of real hyper-parameters agree with central differences and with the unrolled tape" *
          doctest::test_suite("slow")) {
  for_each_equations([](const Layer& layer, const CellRow::Equations& equations, std::int64_t input) {
    if (equations.real.empty()) return;
    Layer with_weights = build_equations(equations, input, true);
    for (ParameterDefinition& parameter : with_weights.parameters) {
      if (std::ranges::count(equations.real, parameter.name) > 0)
        parameter.initializer = Initializer::constant(equations.options[parameter.name].get<double>());
    }
    const CellCase c = cell_case(off_grid(with_weights), 2, steps_for(layer));
    CHECK(problem(check_cell_gradients(c), 1e-7) == "");
    CHECK(differences(run_op(c.sequence), run_unrolled(c.sequence), 1e-12) == "");
  });
}

TEST_CASE("every cell has tests of its own") {
  for (const LayerEntry& entry : cells()) {
    const auto folder = source_folder() / "tests" / "cells";
    if (std::filesystem::exists(folder / "written" / "golden" / text_of(entry.name, ".json"))) continue;
    const auto name = text_of(entry.name, "_test.cpp");
    const auto path = std::filesystem::exists(folder / name) ? folder / name : folder / "layers" / name;
    CAPTURE(path.string());
    REQUIRE(std::filesystem::exists(path));
    CHECK(read_file(path).find("TEST_CASE(\"") != std::string::npos);
  }
}

}  // namespace
}  // namespace lagtape
