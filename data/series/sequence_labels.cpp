#include "lagtape/data/series/sequence_labels.h"

#include "lagtape/data/series/windows.h"

namespace lagtape {

const PanelSeries* series_of(const Dataset& data, std::int64_t index) {
  const auto* windows = dynamic_cast<const WindowDataset*>(&data);
  if (!windows || windows->panel().series.size() < 2) return nullptr;
  const Panel& panel = windows->panel();
  return &panel.series[static_cast<std::size_t>(panel.series_of(windows->first_row(index)))];
}

SequenceLabels labels_of(const Dataset& data, std::int64_t index) {
  SequenceLabels labels;
  const auto* windows = dynamic_cast<const WindowDataset*>(&data);
  if (!windows) return labels;
  const Panel& panel = windows->panel();
  const std::int64_t first = windows->first_row(index);
  for (const PanelInput& input : panel.input) {
    labels.inputs.push_back({panel.column(input.column).name, panel.column(input.column).unit});
    labels.shifts.push_back(input.shift);
  }
  for (const std::int64_t target : panel.target)
    labels.targets.push_back({panel.column(target).name, panel.column(target).unit});
  if (const PanelSeries* series = series_of(data, index)) labels.series = series->name();
  if (panel.axis.times.empty()) return labels;
  const auto times_from = [&](std::int64_t row, std::int64_t rows) {
    const auto begin = panel.axis.times.begin() + row;
    return std::vector<Instant>(begin, begin + rows);
  };
  const std::int64_t steps = data.shape().length, scored = data.shape().every_step ? steps : 1;
  labels.times = times_from(first, steps);
  labels.target_times = times_from(first + steps + windows->horizon() - scored, scored);
  if (panel.axis.are_dates()) labels.clock = panel.axis.zone;
  return labels;
}

}  // namespace lagtape
