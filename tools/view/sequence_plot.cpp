#include "lagtape/tools/view/sequence_plot.h"

#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/data/series/sequence_labels.h"
#include "lagtape/tools/chart/row_axis.h"

namespace lagtape {

namespace {

/// Number i of each step of [1, T, width], at its places on the x axis.
PlotLine line_of(std::string name, const Tensor& values, std::int64_t i, std::vector<double> places) {
  PlotLine line{.name = std::move(name), .x = std::move(places), .y = {}};
  for (std::int64_t step = 0; step < std::ssize(line.x); ++step)
    line.y.push_back(values.at(step * values.size(2) + i));
  return line;
}

/// The names of numbers in a legend: their own with units, else what they are with their number.
std::vector<std::string> names_of(std::vector<Quantity> quantities, const char* kind, std::int64_t width,
                                  const std::vector<std::string>& others = {}) {
  if (quantities.empty() && std::ssize(others) == width)
    for (const std::string& name : others) quantities.push_back({name});
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < width; ++i)
    names.push_back(!quantities.empty() ? axis_title({quantities[static_cast<std::size_t>(i)]}, "")
                    : width == 1        ? std::string(kind)
                                        : text_of(kind, " ", i));
  return names;
}

}  // namespace

Plot plot_of_sequence(const Dataset& split, const std::string& title, ThreadPool& pool,
                      const std::vector<std::string>& names) {
  const DataShape& shape = split.shape();
  if (shape.tokens > 0 || (shape.every_step && shape.classes > 0)) {
    throw unexpected({.op = "plot"}, Rule::not_supported, "sequences of real numbers",
                     shape.tokens > 0 ? "tokens as inputs" : "a class at every step");
  }
  const Batch batch = gather(split, indices_in_order(split, 0, 1), Dtype::f64, pool);
  const SequenceLabels labels = labels_of(split, 0);
  const RowAxis steps = axis_of_numbers("step of the first sequence", 0, batch.x.size(1));
  const RowAxis rows = labels.times.empty() ? steps : axis_of_times(labels.times, labels.clock);
  Plot plot{.title = title, .x = rows.axis, .y = {.title = "in the units of the data"}};
  if (!labels.series.empty()) plot.subtitle = labels.series;
  const std::vector<std::string> inputs = names_of(labels.inputs, "input", shape.input, names);
  for (std::int64_t i = 0; i < shape.input; ++i) {
    // Values that are read ahead are drawn once, at their own row.
    if (!labels.shifts.empty() && labels.shifts[static_cast<std::size_t>(i)] != 0) continue;
    plot.lines.push_back(line_of(inputs[static_cast<std::size_t>(i)], batch.x, i, rows.places));
  }
  if (!shape.every_step) return plot;
  // Rows of targets begin `horizon` rows later; both axes have one zero.
  std::vector<double> later = steps.places;
  if (!labels.times.empty()) {
    std::vector<Instant> times = {labels.times.front()};
    times.insert(times.end(), labels.target_times.begin(), labels.target_times.end());
    later = axis_of_times(times, labels.clock).places;
    later.erase(later.begin());
  }
  const std::vector<std::string> targets = names_of(labels.targets, "target", shape.output);
  for (std::int64_t i = 0; i < shape.output; ++i) {
    const std::string name = targets[static_cast<std::size_t>(i)];
    plot.lines.push_back(line_of(labels.targets.empty() ? name : name + ", target", batch.y, i, later));
    plot.lines.back().broad = !labels.targets.empty();
  }
  return plot;
}

}  // namespace lagtape
