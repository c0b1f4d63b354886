#include "lagtape/data/series/series_scaling.h"

#include <algorithm>
#include <cmath>

#include "lagtape/data/moments.h"

namespace lagtape {

namespace {

/// Rounds mean and scale to at least three digits after the first digit of the scale.
void round_to_scale(double& mean, double& scale) {
  const int digits = 3 - static_cast<int>(std::floor(std::log10(scale)));
  const double power = std::pow(10.0, std::abs(digits));
  const auto rounded = [&](double value) {
    return digits > 0 ? std::round(value * power) / power : std::round(value / power) * power;
  };
  if (!std::isfinite(power) || !std::isfinite(rounded(mean))) return;
  mean = rounded(mean);
  scale = rounded(scale);
}

Scaling scaling_of_series(const Panel& panel, std::span<const RowRange> rows,
                          const std::vector<std::int64_t>& columns, const Scaling& all) {
  Scaling scaling = all;
  for (std::size_t i = 0; i < scaling.mean.size(); ++i) {
    const Column& column = panel.column(columns[i]);
    if (column.kind != ColumnKind::number || column.role == ColumnRole::fixed) continue;
    Moments moments(1);
    std::int64_t numbers = 0;
    double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
    for (const RowRange& range : rows)
      for (std::int64_t row = range.first; row < range.end(); ++row) {
        const double value = column.at(row);
        if (std::isnan(value)) continue;
        moments.add([&](std::size_t) { return value; });
        smallest = std::min(smallest, value);
        largest = std::max(largest, value);
        ++numbers;
      }
    if (numbers == 0) continue;
    const Scaling own = moments.standard();
    double mean = own.mean[0], scale = own.scale[0];
    if (largest == smallest) scale = largest == 0 ? 1 : std::max(std::abs(largest), kLeastScale);
    round_to_scale(mean, scale);
    scaling.mean[i] = mean;
    scaling.scale[i] = scale;
  }
  return scaling;
}

/// The scaling for counts, which maps 0 to 0: by 1 + their mean (Salinas et al. 2020, section 3.3).
Scaling units_of_counts(const Panel& panel, std::span<const RowRange> rows, const Scaling& all) {
  Scaling scaling = scaling_of_series(panel, rows, panel.target, all);
  for (std::size_t i = 0; i < scaling.mean.size(); ++i) {
    scaling.scale[i] = 1 + std::max(scaling.mean[i], 0.0);
    scaling.mean[i] = 0;
  }
  return scaling;
}

std::vector<std::int64_t> input_columns(const Panel& panel) {
  std::vector<std::int64_t> columns;
  for (const PanelInput& input : panel.input) columns.push_back(input.column);
  return columns;
}

}  // namespace

Scaling scaling_of_rows(const Panel& panel, std::span<const RowRange> rows,
                        const std::vector<std::int64_t>& columns) {
  Moments moments(static_cast<std::int64_t>(columns.size()));
  for (const RowRange& range : rows) {
    for (std::int64_t row = range.first; row < range.end(); ++row)
      moments.add([&](std::size_t i) { return panel.column(columns[i]).at(row); });
  }
  Scaling scaling = moments.standard();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (panel.column(columns[i]).kind == ColumnKind::number) continue;
    scaling.mean[i] = 0;
    scaling.scale[i] = 1;
  }
  return scaling;
}

Normalization normalization_of_series(const SeriesOptions& options, const Panel& panel,
                                      std::span<const RowRange> rows, const Normalization& all) {
  Normalization own = all;
  if (options.normalize != ScaleBy::all)
    own.input = scaling_of_series(panel, rows, input_columns(panel), all.input);
  if (options.counts && options.normalize_target == ScaleBy::all)
    own.output = {};  // the loss contains their scale
  if (options.normalize_target != ScaleBy::all)
    own.output = options.counts ? units_of_counts(panel, rows, all.output)
                                : scaling_of_series(panel, rows, panel.target, all.output);
  return own;
}

RowRange scaling_rows(const RowRange& series, const SeriesOptions& options) {
  return {series.first, std::min(series.rows, options.window)};
}

}  // namespace lagtape
