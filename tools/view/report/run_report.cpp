#include "lagtape/tools/view/report/run_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/analysis/model_description.h"
#include "lagtape/tools/forecast/horizon_scores.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/view/analysis_plots.h"
#include "lagtape/tools/view/forecast_plot.h"
#include "lagtape/tools/view/report/metrics_lines.h"
#include "lagtape/tools/view/report/report_page.h"
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

/// The JSON of a file; null where it is missing.
Json document_in(const fs::path& file) {
  return fs::exists(file) ? parse_json(read_file(file), file.string()) : Json();
}

constexpr std::size_t kMostDrawn = 6;

/// A message without the advice after it, which is for the command line.
std::string first_line(const InputError& error) {
  const std::string_view message = error.what();
  return std::string(message.substr(0, message.find('\n')));
}

/// Writes the sections of a run, each from what it needs.
class RunReport {
 public:
  RunReport(const fs::path& run, ThreadPool& pool, const ReportOptions& options)
      : run_(run),
        pool_(pool),
        options_(options),
        source_(load_run(run.string())),
        experiment_(document_of(source_.experiment)),
        page_(text_of(source_.experiment.name, ", seed ", source_.experiment.seed)) {
    summary_ = document_in(RunFolder(run).summary_file());
    // The page says to train this file again, so a damaged one is refused.
    document_in(RunFolder(run).experiment_file());
    const std::int64_t parameters = source_.model.parameters().count();
    if (summary_.contains("params") && summary_.at("params") != parameters)
      throw InputError(text_of(RunFolder(run).weights_file().string(),
                               ": is of another run than summary.json beside it: ", parameters,
                               " parameters, there ", summary_.at("params").dump(), "."));
  }

  std::string html() {
    write_result();
    write_curves();
    write_predictions();
    write_model();
    write_analysis();
    write_memory();
    write_repetition();
    return page_.html();
  }

 private:
  void write_result() {
    std::string layers;
    for (const LayerSummary& layer : source_.model.layers())
      if (layer.name != "readout") layers += text_of(layers.empty() ? "" : ", ", layer.name);
    const Json& task = experiment_["data"]["task"];
    page_.paragraph(text_of("A model of ", source_.model.parameters().count(), " parameters (", layers,
                            "), trained on the task ", setting_text(task), "."));
    if (summary_.is_null()) {
      page_.paragraph("The run is not finished: there is no summary.json yet.");
      return;
    }
    write_metrics();
    Facts facts = {{"best epoch", number_text(summary_.value("best_epoch", Json()))},
                   {"trained for", fmt::format("{:.1f} s", summary_.value("seconds", 0.0))}};
    if (summary_.value("stopped_early", false)) facts.emplace_back("ended", "early, for want of a new best");
    page_.facts(facts);
  }

  /// A row for each metric, a column for each set that has sequences.
  void write_metrics() {
    std::vector<std::string> head = {"metric"};
    std::vector<std::vector<std::string>> rows;
    for (const char* split : {"valid", "test"}) {
      const Json* metrics = summary_.find(split);
      if (metrics == summary_.end() || !metrics->is_object() || metrics->empty()) continue;
      head.emplace_back(split == std::string("valid") ? "validation" : "test");
      std::size_t row = 0;
      for (const auto& [name, value] : metrics->items()) {
        if (row == rows.size()) rows.push_back({name});
        rows[row++].push_back(number_text(value));
      }
    }
    page_.table(head, rows);
  }

  void write_curves() {
    const std::vector<Plot> plots = learning_curves(lines_of(RunFolder(run_).metrics_file()));
    if (plots.empty()) return;
    page_.heading("Learning");
    for (const Plot& plot : plots) page_.chart(plot);
    if (const std::optional<Plot> norms = weight_norms(lines_of(RunFolder(run_).metrics_file())))
      page_.chart(*norms);
  }

  /// Reads the data; nothing where they cannot be read, which the page says.
  const Task* task() {
    if (task_ || unreadable_) return task_ ? &*task_ : nullptr;
    try {
      task_ = source_.experiment.load_task(pool_);
    } catch (const InputError& error) {
      unreadable_ = true;
      page_.paragraph(
          text_of("The data cannot be read here, so that predictions and gradients are left out: ",
                  first_line(error)));
    }
    return task_ ? &*task_ : nullptr;
  }

  void write_predictions() {
    page_.heading("Predictions");
    const Task* data = task();
    if (data == nullptr) return;
    const Dataset& split = *data->test;
    if (split.size() == 0 || split.size() == Dataset::kUnlimited) {
      page_.paragraph("The test set has no sequences.");
      return;
    }
    ModelOp op(source_.model);
    const Normalization normalization = normalization_of_data(source_.model);
    std::optional<Confusion> confusion;
    std::optional<ForecastPlot> forecast;
    constexpr std::int64_t kMostClasses = 40;
    if (data->shape.classes > 0) {
      if (data->shape.classes <= kMostClasses) confusion.emplace(data->shape);
    } else {
      forecast.emplace(data->shape, normalization.output, source_.experiment.loss);
    }
    WorstMistakes worst(data->shape, normalization, source_.experiment.loss);
    EvaluationOptions options;
    options.scored = [&](const Tensor& outputs, const Batch& batch) {
      if (confusion) confusion->add(outputs, batch);
      if (forecast) forecast->add(outputs, batch);
      worst.add(outputs, batch);
    };
    evaluate(source_.experiment, source_.model, op, split, pool_, options);
    if (forecast)
      page_.chart(
          forecast->plot("Prediction over the truth, on the test set", target_names(source_.experiment)));
    if (experiment_["data"]["task"] == "series") write_forecasts();
    if (confusion) write_classes(*confusion);
    write_mistakes(worst.all(), data->shape.classes > 0);
  }

  /// How forecasts from a model's own predictions compare with those that need no model.
  void write_forecasts() {
    constexpr std::int64_t kSteps = 24;
    try {
      const HorizonScores scores = score_horizons(source_.model, {.steps = kSteps});
      page_.chart(plot_of(scores, text_of("Errors of ", scores.origins, " forecasts, each up to ", kSteps,
                                          " steps from the model's own predictions")));
    } catch (const InputError& error) {
      page_.paragraph(
          text_of("Forecasts from the model's own predictions are left out: ", first_line(error)));
    }
  }

  void write_classes(const Confusion& confusion) {
    page_.matrix(confusion);
    std::vector<std::vector<std::string>> rows;
    const auto share = [](double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); };
    for (std::int64_t of = 0; of < confusion.classes(); ++of)
      rows.push_back({text_of(of), share(confusion.precision(of)), share(confusion.recall(of)),
                      share(confusion.f1(of))});
    page_.table({"class", "precision", "recall", "F1"}, rows);
  }

  void write_mistakes(const std::vector<Mistake>& mistakes, bool classes) {
    if (mistakes.empty()) return;
    page_.paragraph(
        classes ? "The surest of the wrong answers, by the probability that they were given:"
                : "The sequences with the largest root mean squared errors, in the units of the data:");
    std::vector<std::vector<std::string>> rows;
    for (const Mistake& mistake : mistakes) {
      rows.push_back({text_of(mistake.sequence), fmt::format("{:.4g}", mistake.error)});
      if (classes)
        rows.back().insert(rows.back().end(), {text_of(mistake.actual), text_of(mistake.predicted)});
    }
    page_.table(classes ? std::vector<std::string>{"sequence", "probability", "true class", "predicted"}
                        : std::vector<std::string>{"sequence", "error"},
                rows);
    std::vector<Plot> plots;
    for (const Mistake& mistake : mistakes)
      if (plots.size() < kMostDrawn && has_chart(mistake)) plots.push_back(chart_of(mistake));
    if (!plots.empty()) page_.charts(std::move(plots));
  }

  void write_model() {
    page_.heading("What was trained");
    Facts facts;
    for (const char* part : {"data", "loss", "optimizer", "schedule", "train"})
      facts.emplace_back(part, settings_text(experiment_[part]));
    page_.facts(facts);
    std::vector<std::vector<std::string>> rows;
    for (const LayerSummary& layer : source_.model.layers())
      rows.push_back({layer.name, text_of(layer.params), text_of(layer.largest_lag())});
    page_.table({"layer", "parameters", "largest lag"}, rows);
    page_.folded("The experiment with every default", experiment_.dump(2));
  }

  void write_analysis() {
    const Task* data = task();
    if (data == nullptr) return;
    const Dataset& split = data->test->size() > 0 ? *data->test : *data->train;
    page_.heading("Gradients and gates");
    try {
      AnalysisOptions options{.sequences = options_.sequences, .steps = options_.steps, .projections = 8};
      options.seed = source_.experiment.seed;
      const Analysis analysis =
          analyze(source_.model, split, normalization_of_data(source_.model), pool_, options);
      constexpr std::size_t kMostCharts = 12;
      std::size_t charts = 0;
      for (auto& [name, plot] : plots_of(analysis, "")) {
        if (name == "jacobians" || ++charts > kMostCharts) continue;
        plot.title.erase(0, plot.title.find_first_not_of(": "));
        if (!plot.title.empty() && !name.starts_with("values-"))
          plot.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(plot.title[0])));
        page_.chart(plot);
      }
      page_.paragraph(text_of("Of ", analysis.lengths.size(), " sequences, the last ", analysis.steps,
                              " steps; lagtape analyze shows more."));
    } catch (const InputError& error) {
      page_.paragraph(text_of("Left out: ", error.what()));
    }
  }

  void write_memory() {
    page_.heading("Memory and time");
    if (!summary_.is_null()) {
      page_.facts({{"memory plan", setting_text(summary_.value("plan", Json("-")))},
                   {"bytes of the plan", bytes_text(summary_.value("plan_bytes", 0.0))},
                   {"largest memory of the process", bytes_text(summary_.value("peak_rss_bytes", 0.0))},
                   {"time for a step of a batch",
                    fmt::format("{:.4g} us, its update included", summary_.value("us_per_step", 0.0))}});
    }
    if (!source_.experiment.data_shape && !task_) return;
    const Json described =
        describe(source_, task_ ? task_->shape : *source_.experiment.data_shape, pool_.threads());
    std::vector<std::vector<std::string>> rows;
    for (const Json& plan : described["plans"])
      rows.push_back({setting_text(plan["name"]), bytes_text(plan["bytes"].get<double>()),
                      fmt::format("{:.3g}", plan["extra_flops"].get<double>())});
    page_.table({"memory plan", "bytes", "operations more"}, rows);
  }

  void write_repetition() {
    page_.heading("How to repeat it");
    const std::string version = summary_.is_null() ? "" : setting_text(summary_.value("version", Json("")));
    page_.paragraph(text_of("On the same machine this gives the same bits, whatever the number of threads",
                            version.empty() ? "" : text_of(" (lagtape ", version, ")"), "."));
    page_.code(text_of("lagtape train ", (run_ / "experiment.json").string(), " --out again\nlagtape eval ",
                       run_.string()));
  }

  fs::path run_;
  ThreadPool& pool_;
  ReportOptions options_;
  Source source_;
  Json experiment_, summary_;
  ReportPage page_;
  std::optional<Task> task_;
  bool unreadable_ = false;
};

}  // namespace

std::string run_page(const fs::path& run, ThreadPool& pool, const ReportOptions& options) {
  return RunReport(run, pool, options).html();
}

}  // namespace lagtape::report
