#include "lagtape/tools/train/evaluation.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"

using namespace lagtape;

namespace {

struct Setup {
  Experiment experiment;
  ThreadPool pool{2};
  Task task;
  Model model;
  ModelOp op;

  explicit Setup(const std::string& targets, const std::string& more = "")
      : experiment(parse_experiment(
            text_of(
                R"({ "name": "e", "data": { "task": "random", "length": 50, "lengths": "random", "input": 2, )",
                targets, R"(, "every_step": true, "train": 1, "valid": 9 },
                   "model": { "layers": [ { "cell": "delay_gru", "units": 5, "tau": 3 } ] }, )",
                more, R"("train": { "epochs": 1, "batch": 1, "precision": "f64" } })"),
            "test", "/")),
        task(experiment.load_task(pool)),
        model(build_model(experiment, task.shape)),
        op(model) {}

  Evaluation score(const EvaluationOptions& options) {
    return evaluate(experiment, model, op, *task.valid, pool, options);
  }
};

}  // namespace

TEST_CASE("a sequence too long for the memory is scored in stretches, to the same numbers") {
  struct Case {
    const char *targets, *more;
  };
  for (const auto& [targets, more] :
       {Case{R"("classes": 3)", ""}, Case{R"("output": 2)", R"("metrics": ["nrmse"], )"},
        Case{R"("classes": 2)", R"("loss": "binary_cross_entropy", )"}}) {
    Setup setup(targets, more);
    if (setup.model.classes() == 0 && setup.task.shape.output == 2)
      setup.model.normalization().output = {.mean = {3, -1}, .scale = {2, 0.5}};
    std::int64_t stretches = 0, longest = 0;
    const Evaluation whole = setup.score({});
    const Evaluation parts = setup.score({.stop_requested = {},
                                          .scored =
                                              [&](const Tensor& outputs, const Batch&) {
                                                stretches += 1;
                                                longest = std::max(longest, outputs.size(1));
                                              },
                                          .bytes = 400});
    CHECK(stretches > 2 * setup.task.valid->size());
    CHECK(longest < 30);
    REQUIRE(parts.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CAPTURE(whole[i].first);
      CHECK(whole[i].second != 0);
      CHECK(parts[i].second == doctest::Approx(whole[i].second).epsilon(1e-13));
    }
  }
}

TEST_CASE("an evaluation stops between stretches when asked to") {
  Setup setup(R"("classes": 3)");
  int polls = 0;
  CHECK_THROWS_AS(setup.score({.stop_requested = [&] { return ++polls == 3; }, .scored = {}, .bytes = 400}),
                  Interrupted);
}
