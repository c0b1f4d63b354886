#include "lagtape/tools/view/report/run_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/series/sequence_labels.h"
#include "lagtape/tools/analysis/model_description.h"
#include "lagtape/tools/forecast/horizon_scores.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/view/analysis_plots.h"
#include "lagtape/tools/view/forecast_plot.h"
#include "lagtape/tools/view/report/columns.h"
#include "lagtape/tools/view/report/metrics_lines.h"
#include "lagtape/tools/view/report/report_page.h"
#include "lagtape/tools/view/report/series_section.h"
#include "lagtape/tools/view/report/worst_mistakes.h"

namespace lagtape::report {

namespace fs = std::filesystem;

namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// A setting as one reads it: texts without quotes.
std::string setting_text(const Json& value) {
  return value.is_string() && value != "" ? value.get<std::string>() : value.dump();
}

/// The settings of an object, one after the other.
std::string settings_text(const Json& part) {
  if (!part.is_object()) return setting_text(part);
  std::string text;
  for (const auto& [key, value] : part.items())
    text += text_of(text.empty() ? "" : ", ", key, " ", setting_text(value));
  return text;
}

std::string bytes_at(const Json& object, const char* key) {
  return bytes_of(static_cast<std::int64_t>(std::clamp(object.value(key, 0.0), 0.0, 0x1p62)));
}

/// The JSON of a file; null where it is missing.
Json document_in(const fs::path& file) { return fs::exists(file) ? read_json(file) : Json(); }

constexpr std::size_t kMostDrawn = 6;

/// The text of the first problem without its advice, which is for the command line, and without the folder of the file,
/// which is this machine's.
std::string text_without_hint(const InputError& error) {
  Problem problem = error.problems().front();
  problem.hint.clear();
  problem.place.file = fs::path(problem.place.file).filename().string();
  return to_string(problem);
}

/// The contents of a run's folder.
struct Run {
  Source source;
  Json experiment, summary;  ///< summary: null where the run is not finished
};

/// Throws InputError for a folder that is not a run.
Run run_in(const fs::path& path) {
  const RunFolder folder(path);
  Run run{.source = load_run(path.string()), .experiment = {}, .summary = document_in(folder.summary_file())};
  // The page may be given to others, so its paths begin at the run's folder.
  run.experiment = with_relative_paths(document_of(run.source.experiment), path);
  // The page says to train this file again, so a damaged one is refused.
  document_in(folder.experiment_file());
  const std::int64_t parameters = run.source.model.parameters().count();
  if (run.summary.contains("params") && run.summary.at("params") != parameters)
    throw InputError({folder.weights_file().string()}, Rule::conflict,
                     text_of("is of another run than summary.json beside it: ", parameters,
                             " parameters, there ", run.summary.at("params").dump(), "."));
  return run;
}

/// A row for each metric, a column for each set that has sequences.
void write_metrics(ReportPage& page, const Json& summary) {
  std::vector<std::string> head = {"metric"};
  std::vector<std::vector<std::string>> rows;
  for (const char* split : {"valid", "test"}) {
    const Json* metrics = summary.find(split);
    if (metrics == summary.end() || !metrics->is_object() || metrics->empty()) continue;
    head.emplace_back(split == std::string("valid") ? "validation" : "test");
    std::size_t row = 0;
    for (const auto& [name, value] : metrics->items()) {
      if (row == rows.size()) rows.push_back({name});
      rows[row++].push_back(number_text(value));
    }
  }
  page.table(head, rows);
}

void write_result(ReportPage& page, const Run& run) {
  std::string layers;
  for (const LayerSummary& layer : run.source.model.layers())
    if (layer.name != "readout") layers += text_of(layers.empty() ? "" : ", ", layer.name);
  const Json& task = run.experiment["data"]["task"];
  page.paragraph(text_of("A model of ", run.source.model.parameters().count(), " parameters (", layers,
                         "), trained on the task ", setting_text(task), "."));
  if (run.summary.is_null()) {
    page.paragraph("The run is not finished: there is no summary.json yet.");
    return;
  }
  write_metrics(page, run.summary);
  Facts facts = {{"best epoch", number_text(run.summary.value("best_epoch", Json()))},
                 {"trained for", fmt::format("{:.1f} s", run.summary.value("seconds", 0.0))}};
  if (run.summary.value("stopped_early", false))
    facts.emplace_back("ended", "early: no improvement for train.patience evaluations");
  page.facts(facts);
}

void write_curves(ReportPage& page, const fs::path& folder) {
  const std::vector<Json> lines = lines_of(RunFolder(folder).metrics_file());
  const std::vector<Plot> plots = learning_curves(lines);
  if (plots.empty()) return;
  page.heading("Learning");
  for (const Plot& plot : plots) page.chart(plot);
  if (const std::optional<Plot> norms = weight_norms(lines)) page.chart(*norms);
}

/// The data; none where they cannot be read, which the page says.
std::optional<Task> task_of(ReportPage& page, const Experiment& experiment, ThreadPool& pool) try {
  return experiment.load_task(pool);
} catch (const InputError& error) {
  page.paragraph(text_of("The data cannot be read here, so that predictions and gradients are left out: ",
                         text_without_hint(error)));
  return std::nullopt;
}

/// How forecasts from a model's own predictions compare with those that need no model; none where there are none.
std::optional<HorizonScores> write_forecasts(ReportPage& page, const Model& model) {
  constexpr std::int64_t kSteps = 24;
  try {
    HorizonScores scores = score_horizons(model, {.steps = kSteps});
    page.chart(plot_of(scores, text_of("Errors of ", scores.origins, " forecasts, each up to ", kSteps,
                                       " steps from the model's own predictions")));
    return scores;
  } catch (const InputError& error) {
    page.paragraph(
        text_of("Forecasts from the model's own predictions are left out: ", text_without_hint(error)));
    return std::nullopt;
  }
}

void write_classes(ReportPage& page, const Confusion& confusion) {
  page.matrix(confusion);
  std::vector<std::vector<std::string>> rows;
  const auto share = [](double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); };
  for (std::int64_t of = 0; of < confusion.classes(); ++of)
    rows.push_back({confusion.name(of), share(confusion.precision(of)), share(confusion.recall(of)),
                    share(confusion.f1(of))});
  page.table({"class", "precision", "recall", "F1"}, rows);
}

void write_mistakes(ReportPage& page, const std::vector<Mistake>& mistakes, const Dataset& split) {
  const DataShape& data = split.shape();
  if (mistakes.empty()) return;
  const bool classes = data.classes > 0;
  page.paragraph(classes
                     ? "The surest of the wrong answers, by the probability that they were given:"
                     : "The sequences with the largest root mean squared errors, in the units of the data:");
  std::vector<std::string> head = {"sequence", classes ? "probability" : "error"};
  if (classes) head.insert(head.end(), {"true class", "predicted"});
  const bool are_several = series_of(split, mistakes.front().sequence) != nullptr;
  if (are_several) head.emplace_back("series");
  std::vector<std::vector<std::string>> rows;
  for (const Mistake& mistake : mistakes) {
    rows.push_back({text_of(mistake.sequence), fmt::format("{:.4g}", mistake.error)});
    if (classes)
      rows.back().insert(rows.back().end(),
                         {data.name_of_class(mistake.actual), data.name_of_class(mistake.predicted)});
    if (are_several) rows.back().push_back(series_of(split, mistake.sequence)->name());
  }
  page.table(head, rows);
  std::vector<Plot> plots;
  for (const Mistake& mistake : mistakes)
    if (plots.size() < kMostDrawn && has_chart(mistake)) {
      plots.push_back(chart_of(mistake, data));
      if (are_several) plots.back().title += text_of(" (", series_of(split, mistake.sequence)->name(), ")");
    }
  if (!plots.empty()) page.charts(std::move(plots));
}

void write_predictions(ReportPage& page, const Run& run, const Task& task, ThreadPool& pool) {
  const Dataset& split = *task.test;
  if (split.size() == 0 || split.size() == Dataset::kUnlimited) {
    page.paragraph("The test set has no sequences.");
    return;
  }
  ModelOp op(run.source.model);
  const Normalization normalization = normalization_of_data(run.source.model);
  std::optional<Confusion> confusion;
  std::optional<ForecastPlot> forecast;
  std::optional<SeriesSection> by_series;
  constexpr std::int64_t kMostClasses = 40;
  if (task.shape.classes > 0) {
    if (task.shape.classes <= kMostClasses) confusion.emplace(task.shape);
  } else {
    forecast.emplace(task.shape, normalization.output, run.source.experiment.loss);
    by_series.emplace(run.source.experiment, run.source.model, split);
  }
  WorstMistakes worst(task.shape, normalization, run.source.experiment.loss);
  EvaluationOptions options;
  options.scored = [&](const Tensor& outputs, const Batch& batch) {
    if (confusion) confusion->add(outputs, batch);
    if (forecast) forecast->add(outputs, batch);
    if (by_series) by_series->add(outputs, batch);
    worst.add(outputs, batch);
  };
  evaluate(run.source.experiment, run.source.model, op, split, pool, options);
  const bool has_series = by_series && !by_series->is_empty();
  if (forecast && !has_series)
    page.chart(forecast->plot("Prediction over the truth, on the test set", &split,
                              target_names(run.source.experiment)));
  std::optional<HorizonScores> horizons;
  if (run.experiment["data"]["task"] == "series") horizons = write_forecasts(page, run.source.model);
  if (confusion) write_classes(page, *confusion);
  write_mistakes(page, worst.all(), split);
  if (has_series) by_series->write(page, horizons ? &*horizons : nullptr);
}

void write_model(ReportPage& page, const Run& run) {
  page.heading("What was trained");
  Facts facts;
  for (const char* part : {"data", "loss", "optimizer", "schedule", "train"})
    facts.emplace_back(part, settings_text(run.experiment[part]));
  page.facts(facts);
  std::vector<std::vector<std::string>> rows;
  for (const LayerSummary& layer : run.source.model.layers())
    rows.push_back({layer.name, text_of(layer.params), text_of(layer.largest_lag())});
  page.table({"layer", "parameters", "largest lag"}, rows);
  page.folded("The experiment with every default", run.experiment.dump(2));
}

void write_analysis(ReportPage& page, const Source& source, const Task& task, ThreadPool& pool,
                    const ReportOptions& wanted) {
  const Dataset& split = task.test->size() > 0 ? *task.test : *task.train;
  page.heading("Gradients and gates");
  try {
    AnalysisOptions options{.sequences = wanted.sequences, .steps = wanted.steps, .projections = 8};
    options.seed = source.experiment.seed;
    const Analysis analysis =
        analyze(source.model, split, normalization_of_data(source.model), pool, options);
    constexpr std::size_t kMostCharts = 12;
    std::size_t charts = 0;
    for (auto& [name, plot] : plots_of(analysis, "")) {
      if (name == "jacobians" || ++charts > kMostCharts) continue;
      plot.title.erase(0, plot.title.find_first_not_of(": "));
      if (!plot.title.empty() && !name.starts_with("values-"))
        plot.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(plot.title[0])));
      page.chart(plot);
    }
    page.paragraph(text_of("Of ", analysis.lengths.size(), " sequences, the last ", analysis.steps,
                           " steps; lagtape analyze shows more."));
  } catch (const InputError& error) {
    page.paragraph(text_of("Left out: ", error.what()));
  }
}

void write_memory(ReportPage& page, const Run& run, const Task* task, const ThreadPool& pool) {
  page.heading("Memory and time");
  if (!run.summary.is_null()) {
    page.facts({{"memory plan", setting_text(run.summary.value("plan", Json("-")))},
                {"bytes of the plan", bytes_at(run.summary, "plan_bytes")},
                {"largest memory of the process", bytes_at(run.summary, "peak_rss_bytes")},
                {"time for a step of a batch",
                 fmt::format("{:.4g} us, its update included", run.summary.value("us_per_step", 0.0))}});
  }
  if (!run.source.experiment.data.shape && task == nullptr) return;
  const Json described =
      describe(run.source, task != nullptr ? task->shape : *run.source.experiment.data.shape, pool.threads());
  std::vector<std::vector<std::string>> rows;
  for (const Json& plan : described["plans"])
    rows.push_back({setting_text(plan["name"]), bytes_at(plan, "bytes"),
                    fmt::format("{:.3g}", plan["extra_flops"].get<double>())});
  page.table({"memory plan", "bytes", "operations more"}, rows);
}

void write_repetition(ReportPage& page, const fs::path& folder, const Json& summary) {
  page.heading("How to repeat it");
  const std::string version = summary.is_null() ? "" : setting_text(summary.value("version", Json("")));
  page.paragraph(text_of("On the same machine this gives the same bits, whatever the number of threads",
                         version.empty() ? "" : text_of(" (lagtape ", version, ")"), "."));
  const std::string run = in_commands(folder);
  page.code(text_of("lagtape train ", run, "/experiment.json --out again\nlagtape eval ", run));
}

}  // namespace

std::string run_page(const fs::path& path, ThreadPool& pool, const ReportOptions& options) {
  const Run run = run_in(path);
  const Experiment& experiment = run.source.experiment;
  ReportPage page(text_of(experiment.name, ", seed ", experiment.seed));
  write_result(page, run);
  write_curves(page, path);
  page.heading("Predictions");
  const std::optional<Task> task = task_of(page, experiment, pool);
  if (task) write_predictions(page, run, *task, pool);
  write_model(page, run);
  if (task) write_analysis(page, run.source, *task, pool, options);
  write_memory(page, run, task ? &*task : nullptr, pool);
  write_repetition(page, path, run.summary);
  return page.html();
}

}  // namespace lagtape::report
