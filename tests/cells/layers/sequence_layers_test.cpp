#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/tests/cells/support/cell_row.h"
#include "lagtape/tests/cells/support/layer_case.h"
#include "lagtape/tests/ops/recurrence/support/compare.h"

// Layers of whole sequences: gradients, PyTorch's numbers on the files of golden/make_golden.py, threads.

namespace lagtape {
namespace {

using namespace test;

Tensor random_x(std::int64_t rows, std::int64_t steps, std::int64_t width, Dtype dtype = Dtype::f64) {
  RandomStream random(11, 2);
  Tensor x({rows, steps, width}, dtype);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, random.next_normal());
  return x;
}

Tensor random_tokens(std::int64_t rows, std::int64_t steps, std::int64_t tokens, Dtype dtype = Dtype::f64) {
  RandomStream random(12, 2);
  Tensor x({rows, steps, 1}, dtype);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, static_cast<double>(random.next_below(tokens)));
  return x;
}

Json bidirectional(const std::string& cell, const std::string& merge, Json more = Json::object()) {
  Json options = {{"cell", {{"cell", cell}, {"units", 3}}}, {"merge", merge}};
  for (const auto& [key, value] : more.items()) options["cell"][key] = value;
  return options;
}

/// Rows x steps of input for a layer of that name, some rows ending early.
LayerCase case_of(const std::string& name, const Json& options, Dtype dtype = Dtype::f64) {
  const std::vector<std::int64_t> lengths = {9, 4, 1, 7};
  if (name == "embedding")
    return {build_sequence_layer(name, options, 6), random_tokens(4, 9, 6, dtype), lengths};
  return {build_sequence_layer(name, options, 5), random_x(4, 9, 5, dtype), lengths};
}

const std::vector<std::pair<std::string, Json>> kLayers = {
    {"embedding", {{"units", 40}}},
    {"embedding", {{"units", 3}, {"padding", 2}, {"dropout", 0.4}}},
    {"batch_norm", Json::object()},
    {"batch_norm", {{"affine", false}, {"eps", 0.1}}},
    {"bidirectional", bidirectional("lstm", "concat")},
    {"bidirectional", bidirectional("tau_gru", "sum", {{"tau", 2}})},
    {"bidirectional", bidirectional("lipschitz_rnn", "mean")},
};

TEST_CASE("layers of whole sequences have exact gradients" * doctest::test_suite("slow")) {
  for (const auto& row : kLayers) {
    const std::string& name = row.first;
    const Json& options = row.second;
    CAPTURE(name);
    CAPTURE(options.dump());
    LayerCase c = case_of(name, options);
    ThreadPool pool(2);
    const bool tokens = c.layer.whole->tokens() > 0;
    std::vector<Tensor> inputs = c.parameters;
    if (!tokens) inputs.push_back(c.batch.x);
    const auto f = [&](Tape& tape, std::span<const Var> vars) {
      const Var x = tokens ? tape.constant(c.batch.x) : vars.back();
      const Var y = c.record(tape, vars.first(c.parameters.size()), x, pool);
      return sum(y * tape.constant(cosines(y.shape(), y.dtype(), c.batch.lengths)));
    };
    const GradientReport report = check_gradients(f, inputs);
    CHECK(report.compared > 0);
    CHECK_MESSAGE(report.max_rel_error <= 1e-7, report.worst);
  }
}

TEST_CASE("threads change no bit of a layer of whole sequences, forward and backward") {
  for (const auto& row : kLayers) {
    const std::string& name = row.first;
    const Json& options = row.second;
    CAPTURE(name);
    CAPTURE(options.dump());
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      LayerCase c = case_of(name, options, dtype);
      const Tensor weights = cosines({4, 9, c.layer.whole->output_width()}, dtype, c.batch.lengths);
      const std::vector<Tensor> one = c.run(weights, 1);
      for (const int threads : {2, 3}) {
        const std::vector<Tensor> more = c.run(weights, threads);
        for (std::size_t i = 0; i < one.size(); ++i) CHECK(bit_difference(more[i], one[i]) == "");
      }
    }
  }
}

TEST_CASE("numbers beyond the end of a sequence are not read") {
  for (const auto& row : kLayers) {
    const std::string& name = row.first;
    const Json& options = row.second;
    CAPTURE(name);
    LayerCase c = case_of(name, options), other = case_of(name, options);
    for (std::int64_t row = 0; row < 4; ++row)
      for (std::int64_t step = c.batch.lengths[row]; step < 9; ++step)
        for (std::int64_t i = 0; i < c.batch.x.size(2); ++i)
          other.batch.x.set((row * 9 + step) * c.batch.x.size(2) + i, 1e30);
    const Tensor weights = cosines({4, 9, c.layer.whole->output_width()}, Dtype::f64, c.batch.lengths);
    const std::vector<Tensor> here = c.run(weights, 1), there = other.run(weights, 1);
    for (std::size_t i = 1; i < here.size(); ++i) CHECK(bit_difference(there[i], here[i]) == "");
  }
}

// ---- PyTorch ----------------------------------------------------------------------------------------------

/// A layer over PyTorch's numbers.
struct Golden {
  Golden(const std::string& name, const Json& options, std::int64_t given)
      : json(read_json(source_folder() / "tests/cells/golden" / (name + ".json"))),
        layer(build_sequence_layer(name, options, given)) {}

  Tensor tensor(const Json& numbers, Shape shape, Dtype dtype) const {
    return Tensor::from(std::move(shape), numbers.get<std::vector<double>>(), dtype);
  }

  LayerCase numbers(Dtype dtype) const {
    LayerCase c(layer, tensor(json["x"], {3, 6, layer.whole->input_width()}, dtype),
                json["lengths"].get<std::vector<std::int64_t>>());
    for (std::size_t i = 0; i < c.parameters.size(); ++i)
      c.parameters[i] =
          tensor(json["parameters"][layer.parameters[i].name], layer.parameters[i].shape, dtype);
    return c;
  }

  std::string problems(Dtype dtype, double tolerance) const {
    LayerCase c = numbers(dtype);
    const Shape shape = {3, 6, layer.whole->output_width()};
    const std::vector<Tensor> got = c.run(cosines(shape, dtype, c.batch.lengths), 1);
    std::string text;
    const auto compare = [&](const std::string& name, const Tensor& result, const Json& wanted) {
      const Difference apart = difference(result, tensor(wanted, result.shape(), dtype));
      if (!(apart.relative <= tolerance)) text += text_of(name, ": ", apart.where, "\n");
    };
    compare("outputs", got[0], json["outputs"]);
    if (json["gradients"].contains("x")) compare("d x", got[1], json["gradients"]["x"]);
    for (std::size_t i = 0; i < layer.parameters.size(); ++i)
      if (layer.parameters[i].trainable)
        compare("d " + layer.parameters[i].name, got[2 + i], json["gradients"][layer.parameters[i].name]);
    return text;
  }

  Json json;
  Layer layer;
};

TEST_CASE("embedding, batch_norm and bidirectional have the outputs and gradients of PyTorch") {
  const Golden goldens[] = {{"embedding", {{"units", 4}, {"padding", 0}}, 7},
                            {"batch_norm", Json::object(), 4},
                            {"bidirectional", {{"cell", {{"cell", "lstm"}, {"units", 4}}}}, 3}};
  for (const Golden& golden : goldens) {
    CHECK(golden.problems(Dtype::f64, 1e-11) == "");
    CHECK(golden.problems(Dtype::f32, 1e-5) == "");
  }
  Golden wrong = goldens[2];
  wrong.json["gradients"]["1.W_f"][3] = wrong.json["gradients"]["1.W_f"][3].get<double>() + 1e-9;
  CHECK(wrong.problems(Dtype::f64, 1e-11).starts_with("d 1.W_f: [3]"));
}

TEST_CASE("running statistics, and outputs by them, are PyTorch's") {
  const Golden golden("batch_norm", Json::object(), 4);
  LayerCase c = golden.numbers(Dtype::f64);
  Tape tape;
  ThreadPool pool(2);
  std::vector<Var> vars;
  for (const Tensor& p : c.parameters) vars.push_back(tape.variable(p));
  Statistics statistics;
  c.record(tape, vars, tape.variable(c.batch.x), pool, &statistics);
  REQUIRE(statistics.size() == 2);
  for (const auto& [place, value] : statistics) {
    const std::string& name = c.layer.parameters[place].name;
    CAPTURE(name);
    CHECK(!c.layer.parameters[place].trainable);
    CHECK(difference(value, golden.tensor(golden.json[name], {4}, Dtype::f64)).relative < 1e-12);
    c.parameters[place] = value;
  }
  const Tensor wanted = golden.tensor(golden.json["evaluated"], {3, 6, 4}, Dtype::f64);
  const Tensor evaluated = c.evaluate();
  CHECK(difference(evaluated, wanted).relative < 1e-12);
}

TEST_CASE("at the end of a sequence each direction has seen all of it") {
  const Golden golden("bidirectional", {{"cell", {{"cell", "lstm"}, {"units", 4}}}}, 3);
  LayerCase c = golden.numbers(Dtype::f64);
  c.layer.whole = c.layer.whole->at_end();
  REQUIRE(c.layer.whole != nullptr);
  LayerCase end(c.layer, c.batch.x, c.batch.lengths);
  end.parameters = c.parameters;
  const Tensor y = end.evaluate();
  CHECK(y.shape() == Shape{3, 1, 8});
  CHECK(difference(y.reshaped({3, 8}), golden.tensor(golden.json["last"], {3, 8}, Dtype::f64)).relative <
        1e-12);
  CHECK(bit_difference(end.run(cosines({3, 1, 8}, Dtype::f64, {}), 2)[0], y) == "");
}

// ---- properties of each layer -----------------------------------------------------------------------------

TEST_CASE("dropout leaves out whole tokens of a batch, and others in the next") {
  LayerCase c = case_of("embedding", {{"units", 3}, {"dropout", 0.5}});
  c.batch.lengths.clear();
  std::vector<std::string> patterns;
  for (std::int64_t name = 0; name < 6; ++name) {
    c.batch.draws.sequences = {name, 1, 2, 3};
    const Tensor y = c.run(cosines({4, 9, 3}, Dtype::f64, {}), 1)[0];
    std::string pattern = "......";
    for (std::int64_t k = 0; k < y.numel(); ++k) {
      const auto token = static_cast<std::size_t>(c.batch.x.at(k / 3));
      const bool dropped = y.at(k) == 0;
      const char mark = dropped ? 'o' : 'x';
      CHECK((pattern[token] == '.' || pattern[token] == mark));
      pattern[token] = mark;
      if (!dropped) CHECK(y.at(k) == 2 * c.parameters[0].at(static_cast<std::int64_t>(token) * 3 + k % 3));
    }
    patterns.push_back(pattern);
  }
  CHECK(std::ranges::adjacent_find(patterns, std::ranges::not_equal_to()) != patterns.end());
  c.batch.training = false;
  const Tensor evaluated = c.evaluate();
  for (std::int64_t k = 0; k < evaluated.numel(); ++k) CHECK(evaluated.at(k) != 0);
}

TEST_CASE("only the rows of tokens that were read get a gradient, padding none") {
  LayerCase c = case_of("embedding", {{"units", 3}, {"padding", 1}});
  c.batch.x.fill(4);
  c.batch.x.set(0, 1);
  const Tensor gradient = c.run(cosines({4, 9, 3}, Dtype::f64, c.batch.lengths), 1)[2];
  for (std::int64_t i = 0; i < gradient.numel(); ++i) CHECK((gradient.at(i) != 0) == (i / 3 == 4));
}

TEST_CASE("a number that is no token is refused with its place") {
  for (const double wrong : {6.0, -1.0, 2.5, std::nan("")}) {
    LayerCase c = case_of("embedding", {{"units", 3}});
    c.batch.x.set(9 + 3, wrong);
    CHECK_THROWS_WITH_AS(c.evaluate(), doctest::Contains("tokens are the numbers 0..5"), InputError);
    CHECK_THROWS_WITH_AS(c.evaluate(), doctest::Contains("in row 1, step 3"), InputError);
  }
}

TEST_CASE("batch_norm gives every feature mean 0 and variance 1 over the steps that count") {
  LayerCase c = case_of("batch_norm", {{"affine", false}, {"eps", 1e-12}});
  const Tensor y = c.run(cosines({4, 9, 5}, Dtype::f64, c.batch.lengths), 1)[0];
  for (std::int64_t i = 0; i < 5; ++i) {
    double sum = 0, squares = 0;
    for (std::int64_t k = i; k < y.numel(); k += 5) {
      sum += y.at(k) / 21;
      squares += y.at(k) * y.at(k) / 21;
    }
    CHECK(std::abs(sum) < 1e-12);
    CHECK(squares == doctest::Approx(1));
  }
}

}  // namespace
}  // namespace lagtape
