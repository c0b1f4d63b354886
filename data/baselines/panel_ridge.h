#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lagtape/data/baselines/step_regressions.h"
#include "lagtape/data/series/windows.h"

namespace lagtape {

/// Direct forecasts of a panel by a ridge regression for each step: from the last numbers of all columns, the future columns and
/// the calendar at the row that is predicted, and the targets a season before it. For several series that are divided
/// in time, each is scaled by its own training rows.
class PanelRidge {
 public:
  /// A number of a column at a row, as it is known where a forecast begins.
  using NumberAt = std::function<double(std::int64_t column, std::int64_t row)>;

  /// Fits the regressions of `steps` steps on the training rows, with the penalties that are best on the validation rows; a
  /// row with a target that was not measured is left out. `reach` rows before a forecast can be read. Rows are thinned where
  /// there are very many. Empty where there are too few training rows, or too many columns.
  static std::optional<PanelRidge> fit(const Panel& panel, const SeriesOptions& options,
                                       std::span<const SeriesSplit> splits, std::int64_t steps,
                                       std::int64_t season, std::int64_t reach);

  /// The forecast of the steps from a row on: [steps, targets].
  std::vector<double> forecast(std::int64_t row, const NumberAt& number_at) const;

  std::int64_t lags() const { return lags_; }

 private:
  PanelRidge() = default;

  void choose_columns(const SeriesOptions& options, std::int64_t season, std::int64_t reach);
  void find_scales(std::span<const SeriesSplit> splits, const SeriesOptions& options);
  RegressionSizes sizes() const;
  StepProducts products(const SeriesSplit& split, std::int64_t every) const;
  const Scaling& scaling(std::int64_t row) const;
  /// Writes the scaled numbers that a forecast from a row on reads into shared [S] and own [H, F].
  void read(std::int64_t row, const NumberAt& number_at, std::vector<double>& shared,
            std::vector<double>& own) const;

  const Panel* panel_ = nullptr;
  std::int64_t steps_ = 1, lags_ = 0, season_ = 0;  ///< season 0: none, or the lags reach over it
  std::vector<std::int64_t> lagged_, ahead_;        ///< columns
  std::vector<Scaling> scaling_;                    ///< by series, or one for all; for each column
  std::optional<StepRegressions> regressions_;
};

}  // namespace lagtape
