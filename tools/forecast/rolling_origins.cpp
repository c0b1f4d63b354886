#include "lagtape/tools/forecast/rolling_origins.h"

#include <algorithm>

namespace lagtape {

std::vector<RowRange> rows_of_split(const std::string& split, const SeriesOptions& series,
                                    const Panel& panel) {
  if (split == "all") return panel.segments;
  const std::vector<SeriesSplit> splits = split_panel(series, panel);
  return splits[split == "train" ? 0 : split == "valid" ? 1 : 2].segments;
}

std::vector<RowRange> rows_after_training(const SeriesOptions& series, const Panel& panel,
                                          const std::vector<std::int64_t>& ends) {
  const std::vector<SeriesSplit> splits = split_panel(series, panel);
  std::vector<RowRange> rows;
  for (std::size_t i = 1; i < splits.size(); ++i)
    for (const RowRange& part : splits[i].segments)
      if (const std::int64_t end = ends[static_cast<std::size_t>(panel.series_of(part.first))];
          part.first < end)
        rows.push_back({part.first, std::min(part.end(), end) - part.first});
  return rows;
}

std::int64_t rows_before(const Model& model, const SeriesOptions& series, const Panel& panel,
                         std::int64_t season) {
  const std::int64_t reading = reads_every_step(model.at()) ? 1 : series.window;
  return panel.lead() + std::max({series.horizon - 1 + reading, series.window, season});
}

std::vector<ForecastStart> rolling_origins(const Panel& panel, const std::vector<RowRange>& parts,
                                           std::int64_t before, std::int64_t steps, std::int64_t most) {
  std::vector<ForecastStart> possible;
  const std::vector<RowRange>& all = panel.segments;
  for (const RowRange& part : parts) {
    const RowRange& whole = *(std::ranges::upper_bound(all, part.first, {}, &RowRange::first) - 1);
    for (std::int64_t row = part.first; row <= part.end() - steps; ++row) {
      if (row - whole.first < before) continue;
      const std::int64_t past = std::max(whole.first, row - kMostWindows * before);
      possible.push_back({row, {past, row + steps - past}});
    }
  }
  std::vector<ForecastStart> chosen;
  const std::int64_t apart = (std::ssize(possible) - 1) / most + 1;
  for (std::int64_t i = 0; i < std::ssize(possible); i += apart) {
    const ForecastStart& start = possible[static_cast<std::size_t>(i)];
    if (KnownNumbers(panel, start).without_number() < 0) chosen.push_back(start);
  }
  return chosen;
}

}  // namespace lagtape
