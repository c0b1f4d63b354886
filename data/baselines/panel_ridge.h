#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lagtape/data/baselines/step_regressions.h"
#include "lagtape/data/series/windows.h"

namespace lagtape {

/// Direct forecasts of a panel by one ridge regression per step, from the last values of all columns, the
/// future columns and the calendar at the predicted row, and the targets one season before it. If several
/// series are split in time, each is scaled by its own training rows.
class PanelRidge {
 public:
  /// A column's value at a row, as far as it is known where a forecast starts.
  using NumberAt = std::function<double(std::int64_t column, std::int64_t row)>;

  /// Fits the regressions of `steps` steps on the training rows, with the penalties that are best on the
  /// validation rows; rows with an unmeasured target are left out. `reach` is how many rows before a forecast
  /// may be read. If there are very many rows, only some are used. Empty if there are too few training rows or
  /// too many columns.
  static std::optional<PanelRidge> fit(const Panel& panel, const SeriesOptions& options,
                                       std::span<const SeriesSplit> splits, std::int64_t steps,
                                       std::int64_t season, std::int64_t reach);

  /// The forecast of the steps starting at a row: [steps, targets].
  std::vector<double> forecast(std::int64_t row, const NumberAt& number_at) const;

  std::int64_t lags() const { return lags_; }

 private:
  PanelRidge() = default;

  void choose_columns(const SeriesOptions& options, std::int64_t season, std::int64_t reach);
  void find_scales(std::span<const SeriesSplit> splits, const SeriesOptions& options);
  RegressionSizes sizes() const;
  StepProducts products(const SeriesSplit& split, std::int64_t every) const;
  const Scaling& scaling(std::int64_t row) const;
  /// Writes the scaled numbers that a forecast starting at a row reads into shared [S] and own [H, F].
  void read(std::int64_t row, const NumberAt& number_at, std::vector<double>& shared,
            std::vector<double>& own) const;

  const Panel* panel_ = nullptr;
  std::int64_t steps_ = 1, lags_ = 0, season_ = 0;  ///< season 0: none, or the lags already cover it
  std::vector<std::int64_t> lagged_, ahead_;        ///< columns
  std::vector<Scaling> scaling_;                    ///< by series, or one for all; for each column
  std::optional<StepRegressions> regressions_;
};

}  // namespace lagtape
