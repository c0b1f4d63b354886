#include "lagtape/data/series/residual.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/data/series/naive_errors.h"

namespace lagtape {

namespace {

[[noreturn]] void refuse(const std::string& statement, const std::string& hint = {}) {
  throw InputError({.pointer = "/data/residual"}, Rule::conflict, statement, {}, hint);
}

/// The index of the input that holds a target's own past.
std::int64_t input_of(const Panel& panel, std::int64_t target) {
  const auto found = std::ranges::find(panel.input, target, &PanelInput::column);
  if (found == panel.input.end())
    refuse(text_of("\"seasonal\" needs the past of ", panel.column(target).name, " as an input."));
  return found - panel.input.begin();
}

/// The number of steps from the one that predicts a target to the one that reads its value one season before.
std::int64_t seasonal_lag(const SeriesOptions& options, const Panel& panel, std::int64_t input) {
  const std::int64_t season = season_of(panel.axis, 0);
  if (season < 1)
    refuse(panel.axis.times.empty()
               ? std::string("\"seasonal\" needs the times of rows, which say how long a season is.")
               : "\"seasonal\" needs times whose frequency has a season, such as hours or months.",
           text_of(R"("season": 24 says that the numbers repeat after 24 rows. )",
                   panel.axis.times.empty() ? R"("time": "date" names a column of times. )" : "",
                   R"("linear" needs no season.)"));
  const std::int64_t ahead = options.horizon - panel.input_at(input).shift;
  return (ahead + season - 1) / season * season - ahead;
}

std::int64_t count_of_lags(const SeriesOptions& options, const Panel& panel, std::int64_t inputs) {
  constexpr std::int64_t kUsual = 24, kMostNumbers = 240;
  const std::int64_t season = std::max<std::int64_t>(season_of(panel.axis, 0), 0);
  // Steps of a window that lie before the lags are not trained on: at most half of it, unless that hides the
  // season.
  const std::int64_t most = std::max(options.window / 2, std::min(season, options.window - 1));
  return std::min({std::max(2 * season, kUsual), most, kMostNumbers / inputs}) - 1;
}

}  // namespace

std::optional<LinearTerm> residual_term(const SeriesOptions& options, const Panel& panel) {
  if (options.residual == Residual::none) return std::nullopt;
  LinearTerm term;
  if (options.residual == Residual::seasonal) {
    std::int64_t lag = 0;
    for (const std::int64_t target : panel.target) {
      term.inputs.push_back(input_of(panel, target));
      lag = seasonal_lag(options, panel, term.inputs.back());
    }
    if (lag > 0) term.lags = {lag};
  } else {
    for (std::int64_t i = 0; i < std::ssize(panel.input); ++i) {
      const Column& column = panel.input_column(i);
      const bool varies = column.kind == ColumnKind::number && column.role != ColumnRole::fixed;
      if (varies && panel.input_at(i).shift <= 0) term.inputs.push_back(i);
    }
    const std::int64_t lags =
        term.inputs.empty() ? 0 : count_of_lags(options, panel, std::ssize(term.inputs));
    for (std::int64_t lag = 1; lag <= lags; ++lag) term.lags.push_back(lag);
  }
  if (options.window <= term.reach())
    throw InputError({.pointer = "/data/window"}, Rule::out_of_range,
                     text_of("with \"residual\" a window has more than the ", term.reach(),
                             " steps that the linear model looks back"),
                     text_of(options.window));
  return term;
}

std::vector<std::int64_t> seasonal_features(const SeriesOptions& options, const Panel& panel,
                                            const LinearTerm& term) {
  std::vector<std::int64_t> features;
  if (options.residual != Residual::seasonal) return features;
  for (std::int64_t i = 0; i < std::ssize(panel.target); ++i)
    features.push_back(term.lags.empty() ? term.inputs[static_cast<std::size_t>(i)]
                                         : std::ssize(panel.input) + i);
  return features;
}

}  // namespace lagtape
