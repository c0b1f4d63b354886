// The scores of runs, as JSON.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include "lagtape/data/formats/given_files.h"
#include "lagtape/tools/analysis/scored_run.h"
#include "lagtape/tools/forecast/horizon_scores.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

std::string evaluate(const std::string& run, const std::string& split, const std::string& data,
                     const std::string& frequency, bool confusion, int threads, const GivenFiles* files) {
  const GivenScope given_files(files);
  ThreadPool pool(threads);
  const ScoredRun scored = load_scored_run(run, {.split = split, .data = data, .frequency = frequency}, pool);
  ModelOp op(scored.source.model);
  std::optional<Confusion> counts;
  EvaluationOptions options;
  SeriesScores by_series(scored.source.experiment, scored.source.model, scored.split);
  if (confusion) counts.emplace(scored.task.shape);
  options.scored = [&](const Tensor& outputs, const Batch& batch) {
    if (counts) counts->add(outputs, batch);
    by_series.add(outputs, batch);
  };
  const Evaluation evaluation =
      lagtape::evaluate(scored.source.experiment, scored.source.model, op, scored.split, pool, options);
  return json_of(evaluation, counts ? &*counts : nullptr, by_series.all()).dump();
}

std::string evaluate_horizons(const Model& model, const std::string& steps, const std::string& split,
                              const std::string& data, const std::string& frequency, std::int64_t season,
                              std::optional<double> interval, const GivenFiles* files) {
  const GivenScope given_files(files);
  return json_of(score_horizons(model,
                                {.steps = ForecastLength::parse(steps, {.item = "horizon", .op = "evaluate"}),
                                 .split = split,
                                 .path = data,
                                 .frequency = frequency,
                                 .season = season,
                                 .interval = interval}))
      .dump();
}

}  // namespace

void add_evaluation(nb::module_& module) {
  const auto release = nb::call_guard<nb::gil_scoped_release>();
  module.def("evaluate", evaluate, nb::arg("run"), nb::arg("split"), nb::arg("data"), nb::arg("frequency"),
             nb::arg("confusion"), nb::arg("threads"), nb::arg("files").none(), release);
  module.def("evaluate_horizons", evaluate_horizons, nb::arg("model"), nb::arg("steps"), nb::arg("split"),
             nb::arg("data"), nb::arg("frequency"), nb::arg("season"), nb::arg("interval").none(),
             nb::arg("files").none(), release);
}

}  // namespace lagtape::python
