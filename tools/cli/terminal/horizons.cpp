#include "lagtape/tools/cli/terminal/horizons.h"

#include <fmt/core.h>

#include <cmath>
#include <iterator>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/terminal/format.h"

namespace lagtape::cli {

namespace {

constexpr double kAlike = 0.02;  // errors that differ by less are called equal

/// The title of a column of errors.
std::string title_of(const HorizonErrors& errors) { return fmt::format("  {:>10}", errors.name); }

/// A way to forecast in a sentence.
std::string in_words(const HorizonErrors& errors) {
  if (errors.key == "ridge") return "a ridge regression";
  if (errors.key == "theta") return "the Theta method";
  return errors.key == "seasonal" ? text_of("the value ", errors.name) : "the last value";
}

std::string sentence_of(const HorizonScores& scores) {
  const HorizonVerdict& verdict = scores.verdict;
  const std::string best = in_words(scores.errors[verdict.best]);
  const char* measure = kHorizonMetrics[verdict.measure];
  const double more = verdict.ratio - 1;
  if (std::isnan(more)) return "Whether the model is of use is not known: an error is not a number.";
  if (std::isinf(more)) return text_of("The model is of no use: ", best, " makes no error.");
  if (std::abs(more) < kAlike)
    return fmt::format("The model is hardly of use: over all steps its {} is that of {} ({:+.1f} %).",
                       measure, best, 100 * more);
  if (more < 0)
    return fmt::format(
        "The model is of use: over all steps its {} is {:.0f} % below that of the best baseline, {}.",
        measure, -100 * more, best);
  return fmt::format(
      "The model is of no use: {} does better. The {} of the model is {:.0f} % higher over all steps.", best,
      measure, 100 * more);
}

std::string table_of_target(const HorizonScores& scores, std::size_t target) {
  const Tensor& first = scores.errors.front().rmse;
  const std::int64_t steps = first.size(0), width = first.size(1);
  std::string table = fmt::format("\n{}\n{:>7}", scores.targets[target], "horizon");
  for (const HorizonErrors& errors : scores.errors) table += title_of(errors);
  for (std::int64_t step = 0; step < steps; ++step) {
    table += fmt::format("\n{:>7}", step + 1);
    for (const HorizonErrors& errors : scores.errors)
      table += fmt::format("  {:>10.4g}", errors.rmse.at(step * width + static_cast<std::int64_t>(target)));
  }
  table += "\nover all steps\n       ";
  for (const HorizonErrors& errors : scores.errors) table += title_of(errors);
  for (std::size_t i = 0; i < std::size(kHorizonMetrics); ++i) {
    table += fmt::format("\n{:>7}", kHorizonMetrics[i]);
    for (const HorizonErrors& errors : scores.errors)
      table += fmt::format("  {:>10.4g}", errors.overall[target][i]);
  }
  const ForecastShape& shape = scores.shapes[target];
  if (!std::isnan(shape.valid_mean))
    table += fmt::format(
        "\nvalid for {:.4g} steps (median {:.4g}): so long the error stays within {:g} standard deviations",
        shape.valid_mean, shape.valid_median, kValidError);
  if (!std::isnan(shape.histogram_distance))
    table +=
        fmt::format("\nHellinger distance of the histogram of all values: {:.3f}", shape.histogram_distance);
  if (!std::isnan(shape.spectrum_distance))
    table += fmt::format("; of the spectrum: {:.3f}", shape.spectrum_distance);
  for (const IntervalScores& interval : scores.intervals)
    table += fmt::format(
        "\n{}: {:.1f} % of the truth in intervals of {:g} %, {:.4g} wide",
        interval.calibrations > 0
            ? fmt::format("from the errors of {} forecasts in the validation rows", interval.calibrations)
            : "from the quantiles of the model",
        100 * interval.overall[target], 100 * interval.level, interval.width[target]);
  if (!scores.pinball.empty())
    table += fmt::format("\nmean pinball loss of the quantiles: {:.4g}", scores.pinball[target]);
  return table + "\n";
}

/// The errors over all steps of several series: those that the model is worst at beside the best baseline, and best.
std::string table_of_series(const HorizonScores& scores) {
  if (scores.series.empty()) return {};
  const auto& [measure, best, of_all] = scores.verdict;
  std::string table;
  for (std::size_t i = 0; i < scores.targets.size(); ++i) {
    table += fmt::format("\n{} of {} by series, over all steps\n{:>16}", kHorizonMetrics[measure],
                         scores.targets[i], "series");
    for (const HorizonErrors& errors : scores.errors) table += title_of(errors);
    std::vector<double> ratios;
    for (const HorizonOfSeries& series : scores.series)
      ratios.push_back(series.errors.front().overall[i][measure] / series.errors[best].overall[i][measure]);
    for (const std::size_t which : largest_and_smallest(ratios)) {
      const HorizonOfSeries& series = scores.series[which];
      table += fmt::format("\n{:>16}", series.name);
      for (const HorizonErrors& errors : series.errors)
        table += fmt::format("  {:>10.4g}", errors.overall[i][measure]);
    }
    table += "\n";
  }
  return table + note_on_rest(scores.series.size());
}

}  // namespace

std::string table_of(const HorizonScores& scores) {
  std::string text = fmt::format("{} forecasts of {} steps; root mean squared errors\n", scores.origins,
                                 scores.errors.front().rmse.size(0));
  for (std::size_t i = 0; i < scores.targets.size(); ++i) text += table_of_target(scores, i);
  return text_of(text, table_of_series(scores), "\n", sentence_of(scores), "\n");
}

Json json_of(const HorizonScores& scores) {
  Json json = lagtape::json_of(scores);
  json["of_use"] = scores.verdict.ratio < 1 - kAlike;
  json["verdict"] = sentence_of(scores);
  return json;
}

}  // namespace lagtape::cli
