#include "lagtape/ops/recurrence/step/loss_function.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "lagtape/cells/lstm.h"
#include "lagtape/cells/models/loss_json.h"
#include "lagtape/cells/models/model_op.h"
#include "lagtape/core/error.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/recurrence/oracle/unroll.h"

// Losses with settings in models that are made without JSON, and their way into files and back.

namespace lagtape {
namespace {

ModelDefinition small(LossFunction loss, std::int64_t units) {
  return {.layers = {Lstm{.units = 3}},
          .readout = {.units = units, .at = ReadAt::every_step},
          .loss = std::move(loss),
          .precision = Dtype::f64};
}

Tensor random_numbers(Shape shape, std::uint64_t seed) {
  RandomStream random(seed, 1);
  Tensor tensor(std::move(shape), Dtype::f64);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, random.next_normal());
  return tensor;
}

/// As many outputs as two numbers of a target or four classes need.
std::int64_t units_of(const LossFunction& loss) {
  if (loss == Loss::binary_cross_entropy) return 1;
  return loss.is_real() ? 2 * loss.outputs_of_target() : 4;
}

/// Two sequences of five steps with targets that go with a loss.
SequenceBatch random_batch(const LossFunction& loss) {
  SequenceBatch batch;
  batch.x = random_numbers({2, 5, 2}, 4);
  batch.targets = random_numbers({2, 5, units_of(loss) / loss.outputs_of_target()}, 5);
  if (loss == Loss::binary_cross_entropy)
    for (std::int64_t i = 0; i < 10; ++i) batch.targets.set(i, static_cast<double>(i % 2));
  if (loss == Loss::negative_binomial)
    for (std::int64_t i = 0; i < 20; ++i) batch.targets.set(i, std::floor(4 * std::abs(batch.targets.at(i))));
  if (loss == Loss::negative_binomial && loss.options.scale.empty()) {
    const Tensor counts = batch.targets;
    batch.targets = Tensor({2, 5, 4}, counts.dtype());
    for (std::int64_t i = 0; i < 20; ++i) {
      batch.targets.set(i / 2 * 4 + i % 2, counts.at(i));
      batch.targets.set(i / 2 * 4 + 2 + i % 2, 1.5 + static_cast<double>(i / 10));
    }
  }
  if (loss == Loss::cross_entropy) {
    batch.classes = {0, 1, 2, 3, 2, 1, 0, 3, 3, 1};
    batch.targets = {};
  }
  return batch;
}

const LossFunction kSettings[] = {
    {Loss::mae},
    {Loss::gaussian, {.levels = {0.05, 0.95}}},
    {Loss::student_t},
    {Loss::negative_binomial, {.scale = {2.5, 0.75}}},
    {Loss::negative_binomial},  // with units
    {Loss::huber, {.delta = 0.7}},
    {Loss::quantile, {.levels = {0.2, 0.9}}},
    {Loss::esr, {.pre_emphasis = 0.85, .dc = 0.5}},
    {Loss::dc},
    {Loss::cross_entropy, {.class_weights = {1, 0.25, 3, 2}, .label_smoothing = 0.15}},
    {Loss::binary_cross_entropy, {.class_weights = {2, 0.5}, .label_smoothing = 0.3}},
};

TEST_CASE("gradients of losses with settings agree with central differences in models made in C++") {
  for (const LossFunction& loss : kSettings) {
    CAPTURE(name_of(loss));
    Model model(small(loss, units_of(loss)), {.input = 2}, 3);
    ModelOp op(model);
    const SequenceBatch batch = random_batch(loss);
    ThreadPool pool(1);
    std::vector<Tensor> weights = model.weights();
    const GradientReport report = check_gradients(
        [&](Tape& tape, std::span<const Var> inputs) { return op.loss(tape, inputs, batch, pool); }, weights);
    CHECK_MESSAGE(report.max_rel_error < 1e-6, report.worst);
    CHECK(report.compared > 50);
  }
}

TEST_CASE("losses with settings and their gradients agree with the unrolled tape in models made in C++") {
  for (const LossFunction& loss : kSettings) {
    CAPTURE(name_of(loss));
    Model model(small(loss, units_of(loss)), {.input = 2}, 3);
    ModelOp op(model);
    SequenceBatch batch = random_batch(loss);
    if (loss.is_real()) batch.targets.set(4, std::nan(""));  // a unit has no NaN
    ThreadPool pool(1);
    const std::vector<Tensor> weights = model.weights();
    std::vector<Tensor> gradients[2];
    double losses[2];
    for (const bool unrolled : {false, true}) {
      Tape tape;
      std::vector<Var> of;
      for (const Tensor& weight : weights) of.push_back(tape.variable(weight));
      const Var value = unrolled ? unroll_loss(tape, model.stack(), of, tape.constant(batch.x), batch)
                                 : op.loss(tape, of, batch, pool);
      tape.backward(value);
      losses[unrolled] = value.value().item();
      for (const Var& weight : of) gradients[unrolled].push_back(weight.grad());
    }
    CHECK(losses[0] == doctest::Approx(losses[1]).epsilon(1e-13));
    for (std::size_t w = 0; w < weights.size(); ++w)
      for (std::int64_t i = 0; i < weights[w].numel(); ++i)
        CHECK(std::abs(gradients[0][w].at(i) - gradients[1][w].at(i)) <
              1e-12 * (1 + std::abs(gradients[1][w].at(i))));
  }
}

TEST_CASE("the read-out of a distribution gives its parameters, in their bounds") {
  const auto outputs = [](LossFunction loss, double bias) {
    Model model(small(loss, loss.outputs_of_target()), {.input = 1}, 3);
    for (Parameter& parameter : model.parameters())
      for (std::int64_t i = 0; i < parameter.value.numel(); ++i)
        parameter.value.set(i, parameter.name == "readout.W.bias" ? bias : 0);
    const Tensor y = model.predict(Tensor({1, 1}, Dtype::f64));
    std::vector<double> values;
    for (std::int64_t i = 0; i < y.numel(); ++i) values.push_back(y.at(i));
    return values;
  };
  const double positive = std::log(1 + std::exp(1.0));
  const auto near = [](const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-12));
  };
  near(outputs(Loss::gaussian, 1), {1, positive + kLeastDeviation});
  near(outputs(Loss::gaussian, -800), {-800, kLeastDeviation});
  near(outputs(Loss::student_t, 1), {1, positive + kLeastDeviation, 2 + positive});
  near(outputs(Loss::student_t, -800), {-800, kLeastDeviation, 2});
  near(outputs({Loss::negative_binomial, {.scale = {50}}}, 1), {50 * (positive + 1e-6), positive + 1e-6});
  near(outputs(Loss::negative_binomial, 800), {800 + 1e-6, 800 + 1e-6});
  CHECK_THROWS_WITH_AS(outputs({Loss::negative_binomial, {.scale = {0}}}, 1),
                       doctest::Contains("/loss/scale: expected numbers above 0, got 0"), InputError);
}

TEST_CASE("the data decide the read-out of quantiles: an output for each level of each number") {
  const Model model(small({Loss::quantile, {.levels = {0.1, 0.5, 0.9}}}, 0), {.input = 1, .output = 2});
  CHECK(model.output_width() == 6);
  CHECK(model.loss().middle() == 1);
  CHECK_THROWS_WITH_AS(Model(small({Loss::quantile}, 2), {.input = 1, .output = 1}),
                       "model: /model/readout/units: the model gives 2 numbers, but the data have 1 a target "
                       "with 3 levels each.",
                       InputError);
  CHECK_THROWS_WITH_AS(Model(small({Loss::quantile, {.levels = {0.5, 0.5}}}, 2), {.input = 1}),
                       "model: /loss/levels: expected rising numbers, got 0.5 after 0.5", InputError);
}

TEST_CASE("a loss and its settings come back from a file, from bytes and from a stream") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / text_of("lagtape_loss_", getpid(), ".safetensors");
  for (const LossFunction& loss : kSettings) {
    CAPTURE(name_of(loss));
    const Model model(small(loss, units_of(loss)), {.input = 2}, 3);
    model.save(file);
    const std::string bytes = read_file(file);
    std::ifstream stream(file, std::ios::binary);
    const Tensor x = random_numbers({7, 2}, 8), expected = model.predict(x);
    const Model loaded[] = {Model::load(file), Model::load(std::as_bytes(std::span(bytes))),
                            Model::load(stream)};
    for (const Model& one : loaded) {
      CHECK(one.loss() == loss.kind);
      CHECK(one.loss().options == loss.options);
      const Tensor y = one.predict(x);
      CHECK(std::memcmp(y.raw(), expected.raw(), sizeof(double) * static_cast<std::size_t>(y.numel())) == 0);
    }
  }
  std::filesystem::remove(file);
  std::istringstream empty;
  CHECK_THROWS_WITH_AS(Model::load(empty), "the stream of a model: there is nothing to read", InputError);
}

TEST_CASE(
    "a loss reads back as it was written, and a name alone stands for the settings that it begins with") {
  for (const LossFunction& loss : kSettings) {
    JsonErrors errors;
    const LossFunction read = read_loss(json_of(loss), "/loss", errors);
    errors.raise("test");
    CHECK(read.kind == loss.kind);
    CHECK(read.options == loss.options);
  }
  CHECK(json_of(LossFunction(Loss::mse)).dump() == "\"mse\"");
  CHECK(json_of(LossFunction(Loss::cross_entropy)).dump() == "\"cross_entropy\"");
  JsonErrors errors;
  CHECK(read_loss("quantile", "/loss", errors).options == LossOptions());
  CHECK(errors.empty());
}

}  // namespace
}  // namespace lagtape
