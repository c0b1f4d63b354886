#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/tests/tools/train/training.h"
#include "lagtape/tools/train/evaluation.h"

// A read-out tied to the embedding, compared with one whose own matrix contains the same numbers.

using namespace lagtape;

namespace {

constexpr const char* kText = R"({"task": "random", "length": 15, "tokens": 9, "classes": 9,
                                  "every_step": true, "train": 3})";
constexpr const char* kWords = R"({"task": "random", "length": 15, "tokens": 9, "classes": 3, "train": 3})";
constexpr const char* kNumbers = R"({"task": "random", "length": 15, "input": 6, "classes": 6,
                                     "every_step": true, "train": 3})";
constexpr const char* kLayers = R"({"layer": "embedding", "units": 6, "dropout": 0.3},
                                   {"cell": "tau_gru", "units": 6, "tau": 3})";

std::string experiment_text(const std::string& layers, const std::string& readout,
                            const std::string& data = kText) {
  return text_of(R"({"name": "tied", "seed": 4, "data": )", data, R"(, "model": {"layers": [)", layers,
                 R"(], "readout": )", readout,
                 R"(}, "train": {"epochs": 2, "batch": 3, "precision": "f64"}})");
}

struct Case {
  Experiment experiment;
  ThreadPool pool{2};
  Task task;
  Model model;

  explicit Case(const std::string& text)
      : experiment(parse_experiment(text, "test", "/")),
        task(experiment.load_task(pool)),
        model(build_model(experiment, task.shape)) {}

  SequenceBatch batch() {
    const Batch data = gather(*task.train, indices_in_order(*task.train, 0, 3), model.dtype(), pool);
    SequenceBatch result = sequence_batch(data, task.shape, experiment.loss);
    result.training = true;
    return result;
  }
  /// The loss of a batch, and the parameters' gradients.
  double backward(const SequenceBatch& batch) {
    ModelOp op(model);
    Tape tape;
    model.parameters().zero_grad();
    const Var loss = op.loss(tape, model.weights(tape), batch, pool);
    tape.backward(loss);
    return loss.value().item();
  }
};

/// A tied model, and an untied one with the same numbers in its parameters.
struct Pair {
  Case tied{experiment_text(kLayers, R"({"tied": true})")}, other{experiment_text(kLayers, "{}")};

  Pair() {
    for (Parameter& parameter : other.model.parameters()) {
      const bool matrix = parameter.name == "readout.W";
      const Tensor& from = tied.model.parameters()[matrix ? "layers.0.E" : parameter.name].value;
      std::memcpy(parameter.value.raw(), from.raw(), from.numel() * sizeof(double));
    }
  }
};

std::string error_of(const std::string& text) {
  try {
    Case given(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a tied read-out has a bias alone, and the model one table") {
  Pair pair;
  const Model& model = pair.tied.model;
  CHECK(!model.parameters().contains("readout.W"));
  CHECK(model.parameters()["readout.W.bias"].value.shape() == Shape{9});
  const std::int64_t cell = 4 * (6 * 6 + 6 * 6 + 2 * 6);
  CHECK(model.parameters().count() == 9 * 6 + cell + 9);
  CHECK(pair.other.model.parameters().count() == 9 * 6 + cell + 9 * 6 + 9);
  std::int64_t params = 0;
  for (const LayerSummary& layer : model.layers()) params += layer.params;
  CHECK(params == model.parameters().count());
  CHECK(model.layers().back().params == 9);
  CHECK(has(model.experiment(), "\"tied\": true"));
  CHECK(has(pair.other.model.experiment(), "\"tied\": false"));
}

TEST_CASE("a tied model has the first values of another, those of its table the embedding's") {
  const Case tied(experiment_text(kLayers, R"({"tied": true})")), other(experiment_text(kLayers, "{}"));
  for (const Parameter& parameter : tied.model.parameters())
    CHECK(same_bits(parameter.value, other.model.parameters()[parameter.name].value));
}

TEST_CASE("a tied model gives the bits of one with the same numbers") {
  Pair pair;
  const Tensor x = pair.tied.batch().x;
  const Tensor y = pair.tied.model.predict(x);
  CHECK(same_bits(y, pair.other.model.predict(x)));
  Tensor& matrix = pair.other.model.parameters()["readout.W"].value;
  matrix.set(5, matrix.at(5) + 1);
  CHECK_FALSE(same_bits(y, pair.other.model.predict(x)));
}

TEST_CASE("the gradient of a tied table is the sum of both uses'") {
  Pair pair;
  SequenceBatch batch = pair.tied.batch();
  for (std::int64_t i = 0; i < batch.x.numel(); ++i)  // token 8 is not read
    batch.x.set(i, std::min(batch.x.at(i), 7.0));
  CHECK(pair.tied.backward(batch) == pair.other.backward(batch));
  const Tensor& both = pair.tied.model.parameters()["layers.0.E"].grad;
  const Tensor& as_table = pair.other.model.parameters()["layers.0.E"].grad;
  const Tensor& as_matrix = pair.other.model.parameters()["readout.W"].grad;
  double apart = 0, apart_of_one = 0, unread = 0;
  for (std::int64_t i = 0; i < both.numel(); ++i) {
    apart = std::max(apart, std::abs(both.at(i) - (as_table.at(i) + as_matrix.at(i))));
    apart_of_one = std::max(apart_of_one, std::abs(both.at(i) - as_matrix.at(i)));
    if (i / 6 == 8) unread = std::max(unread, std::abs(both.at(i)));
  }
  CHECK(apart < 1e-15);
  CHECK(apart_of_one > 1e-3);
  CHECK(unread > 1e-3);
  for (const Parameter& parameter : pair.tied.model.parameters())
    if (parameter.name != "layers.0.E")
      CHECK(same_bits(parameter.grad, pair.other.model.parameters()[parameter.name].grad));
}

TEST_CASE("what cannot be tied is told with its place") {
  const std::string tied = R"({"tied": true})";
  CHECK(error_of(experiment_text(R"({"cell": "gru", "units": 6})", tied, kNumbers)) ==
        "test: /model/readout/tied: a tied read-out shares the table of an embedding, but the first layer is "
        "'gru'.");
  CHECK(
      error_of(experiment_text(R"({"layer": "embedding", "units": 5}, {"cell": "gru", "units": 6})", tied)) ==
      "test: /model/readout/tied: the embedding has vectors of 5 numbers, but the top layer gives 6.");
  CHECK(error_of(experiment_text(kLayers, tied, kWords)) ==
        "test: /model/readout/tied: the embedding has 9 tokens, but the read-out gives 3 numbers.");
  CHECK(has(error_of(experiment_text(
                R"({"layer": "embedding", "units": 6, "padding": 2}, {"cell": "gru", "units": 6})", tied)),
            "/model/readout/tied: the embedding's vector of padding, token 2, stays zeros"));
  CHECK(has(error_of(experiment_text(kLayers, R"({"tied": true, "init": {"W": "orthogonal"}})")),
            "/model/readout/init/W: unknown parameter 'W'"));
  CHECK(has(error_of(experiment_text(kLayers, R"({"tied": 3})")), "/model/readout/tied: expected boolean"));
  CHECK(error_of(experiment_text(kLayers, R"({"tied": true, "init": {"W.bias": "zeros"}})")) == "");
}
