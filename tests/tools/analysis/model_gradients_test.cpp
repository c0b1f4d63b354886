#include "lagtape/tools/analysis/model_gradients.h"

#include <doctest/doctest.h>

using namespace lagtape;

namespace {

ModelGradients check(const char* data, const char* layers, const std::vector<std::string>& set = {}) {
  const std::string text =
      std::string(R"({"name": "model", "data": )") + data + R"(, "model": {"layers": )" + layers + "}}";
  ThreadPool pool(2);
  return check_model_gradients(parse_experiment(text, "test", "/", set), pool);
}

}  // namespace

TEST_CASE("gradients of whole models agree with central differences") {
  const std::pair<const char*, const char*> table[] = {
      {R"({"task": "mackey_glass", "length": 100, "train": 3, "valid": 0, "test": 0})",
       R"([{"cell": "tau_gru", "units": 5, "tau": 3}])"},
      {R"({"task": "adding", "length": 20})",
       R"([{"cell": "delay_gru", "units": 4, "tau": 2}, {"cell": "lstm", "units": 3}])"},
      {R"({"task": "random", "length": 9, "input": 2, "classes": 3, "train": 2, "lengths": "random", "every_step": true})",
       R"([{"cell": "lstm", "units": 4}, {"layer": "linear", "units": 3}])"},
      {R"({"task": "random", "length": 9, "input": 2, "classes": 3, "train": 2})",
       R"([{"cell": "unicornn", "units": 4, "layers": 2, "dt": 0.1, "train_c": false}])"},
  };
  for (const auto& row : table) {
    CAPTURE(row.first);
    const ModelGradients found = check(row.first, row.second);
    CAPTURE(found.report.worst);
    CHECK(found.report.compared > 50);
    CHECK(found.report.max_rel_error > 0);
    CHECK(found.report.max_rel_error < 1e-7);
    CHECK(found.sequences == 2);
  }
}

TEST_CASE("one logit has gradients too") {
  const ModelGradients found =
      check(R"({"task": "random", "length": 9, "input": 2, "classes": 2, "train": 2})",
            R"([{"cell": "lstm", "units": 4}])", {"loss=binary_cross_entropy"});
  CHECK(found.report.max_rel_error < 1e-7);
}

TEST_CASE("where the loss has a kink, gradients are compared beside it") {
  const char* data = R"({"task": "random", "length": 9, "input": 2, "classes": 2, "train": 2})";
  // Biases of 0 under a state of 0: relu stands on its kink. With biases of 1 it does not.
  const ModelGradients at_kink =
      check(data, R"([{"cell": "indrnn", "units": 6}, {"cell": "indrnn", "units": 6}])");
  CHECK(at_kink.moves > 0);
  CHECK(at_kink.report.max_rel_error < 1e-6);
  const ModelGradients smooth = check(data, R"([{"cell": "indrnn", "units": 6, "init": {"W.bias": 1}}])");
  CHECK(smooth.moves == 0);
  CHECK(smooth.report.max_rel_error < 1e-6);
}

TEST_CASE("sequences are cut or continued to three times the largest lag and a little more") {
  constexpr const char* kLayers = R"([{"cell": "tau_gru", "units": 3, "tau": 7}])";
  for (const char* data : {R"({"task": "mackey_glass", "length": 300, "train": 1, "valid": 0, "test": 0})",
                           R"({"task": "mackey_glass", "length": 5, "train": 1, "valid": 0, "test": 0})"}) {
    const ModelGradients found = check(data, kLayers);
    CHECK(found.steps == 29);
    CHECK(found.sequences == 1);
    CHECK(found.report.max_rel_error < 1e-7);
  }
}
