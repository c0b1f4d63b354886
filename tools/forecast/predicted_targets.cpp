#include "lagtape/tools/forecast/predicted_targets.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

void put_quantiles(PredictedTargets& predicted, std::span<const Tensor> outputs, const LossFunction& loss) {
  const std::int64_t each = loss.outputs_of_target(), width = std::ssize(predicted.targets);
  const Shape shape = {outputs.front().size(0), width};
  predicted.levels = loss.options.levels;
  predicted.quantiles.clear();
  for (std::size_t l = 0; l < predicted.levels.size(); ++l)
    predicted.quantiles.emplace_back(shape, outputs.front().dtype());
  predicted.prediction = Tensor(shape, outputs.front().dtype());
  const auto models = static_cast<double>(outputs.size());
  for (std::int64_t place = 0; place < shape[0] * width; ++place) {
    std::vector<double> values(predicted.levels.size());
    double prediction = 0;
    for (const Tensor& one : outputs) {
      std::vector<double> own;
      for (std::int64_t k = 0; k < each; ++k) own.push_back(one.at(place * each + k));
      prediction += own[static_cast<std::size_t>(loss.middle())];
      std::ranges::transform(values, loss.quantiles(own), values.begin(), std::plus());
    }
    for (double& value : values) value /= models;
    std::ranges::sort(values);
    for (std::size_t l = 0; l < values.size(); ++l) predicted.quantiles[l].set(place, values[l]);
    predicted.prediction.set(place, prediction / models);
  }
  if (loss == Loss::quantile)
    predicted.prediction = predicted.quantiles[static_cast<std::size_t>(loss.middle())];
}

/// The quantile of numbers in order, each of which is the middle of an equal share.
double quantile_of(const std::vector<double>& values, double level) {
  const double place = std::clamp(level * static_cast<double>(values.size()) - 0.5, 0.0,
                                  static_cast<double>(values.size() - 1));
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// The bounds of an interval: their name, and where they lie.
struct Interval {
  std::string name;
  const Tensor *low, *high;
};

/// From the widest in.
std::vector<Interval> intervals_of(const PredictedTargets& predicted) {
  std::vector<Interval> intervals;
  if (!predicted.lower.empty())
    intervals.push_back({text_of(100 * predicted.interval, " %"), &predicted.lower, &predicted.upper});
  if (!predicted.low.empty()) intervals.push_back({"all models", &predicted.low, &predicted.high});
  const std::vector<double>& levels = predicted.levels;
  for (std::size_t l = 0; l < levels.size() / 2; ++l) {
    const std::size_t other = levels.size() - 1 - l;
    intervals.push_back({text_of("q", levels[l], " to q", levels[other]), &predicted.quantiles[l],
                         &predicted.quantiles[other]});
  }
  return intervals;
}

/// Tensors [rows, width] one below the other.
Tensor joined_rows(std::span<const PredictedTargets* const> parts, const auto& tensor_of) {
  const Tensor& first = tensor_of(*parts.front());
  if (first.empty()) return {};
  std::int64_t rows = 0;
  for (const PredictedTargets* part : parts) rows += part->rows();
  Tensor all({rows, first.size(1)}, first.dtype());
  std::int64_t at = 0;
  for (const PredictedTargets* part : parts)
    for (std::int64_t i = 0; i < tensor_of(*part).numel(); ++i) all.set(at++, tensor_of(*part).at(i));
  return all;
}

void append(std::vector<LeadingColumn>& all, const std::vector<LeadingColumn>& more) {
  for (std::size_t i = 0; i < all.size(); ++i)
    std::visit(
        [&](auto& cells) {
          const auto& own = std::get<std::remove_reference_t<decltype(cells)>>(more[i].cells);
          cells.insert(cells.end(), own.begin(), own.end());
        },
        all[i].cells);
}

}  // namespace

void put_outputs(PredictedTargets& predicted, std::span<const Tensor> outputs, const LossFunction& loss) {
  if (loss.has_levels()) return put_quantiles(predicted, outputs, loss);
  predicted.prediction = outputs.front();
  if (outputs.size() == 1) return;
  for (Tensor* combined : {&predicted.prediction, &predicted.low, &predicted.high})
    *combined = outputs.front().clone();
  for (std::int64_t i = 0; i < predicted.prediction.numel(); ++i) {
    double sum = 0;
    for (const Tensor& one : outputs) {
      sum += one.at(i);
      predicted.low.set(i, std::min(predicted.low.at(i), one.at(i)));
      predicted.high.set(i, std::max(predicted.high.at(i), one.at(i)));
    }
    predicted.prediction.set(i, sum / static_cast<double>(outputs.size()));
  }
}

void put_paths(PredictedTargets& predicted, std::span<const Tensor> drawn, const LossFunction& loss) {
  const Shape shape = {drawn.front().size(1), drawn.front().size(2)};
  predicted.levels = loss.options.levels;
  predicted.quantiles.clear();
  for (std::size_t l = 0; l < predicted.levels.size(); ++l)
    predicted.quantiles.emplace_back(shape, drawn.front().dtype());
  predicted.prediction = Tensor(shape, drawn.front().dtype());
  for (std::int64_t place = 0; place < shape[0] * shape[1]; ++place) {
    std::vector<double> values;
    for (const Tensor& paths : drawn)
      for (std::int64_t path = 0; path < paths.size(0); ++path)
        values.push_back(paths.at(path * shape[0] * shape[1] + place));
    std::ranges::sort(values);
    for (std::size_t l = 0; l < predicted.levels.size(); ++l)
      predicted.quantiles[l].set(place, quantile_of(values, predicted.levels[l]));
    predicted.prediction.set(
        place, std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
  }
  if (loss == Loss::quantile)
    predicted.prediction = predicted.quantiles[static_cast<std::size_t>(loss.middle())];
}

std::vector<std::pair<std::string, const Tensor*>> parts_of(const PredictedTargets& predicted) {
  std::vector<std::pair<std::string, const Tensor*>> parts = {{"prediction", &predicted.prediction}};
  if (!predicted.low.empty()) {
    parts.emplace_back("low", &predicted.low);
    parts.emplace_back("high", &predicted.high);
  }
  for (std::size_t l = 0; l < predicted.levels.size(); ++l)
    parts.emplace_back(text_of("q", predicted.levels[l]), &predicted.quantiles[l]);
  if (!predicted.lower.empty()) {
    parts.emplace_back("lower", &predicted.lower);
    parts.emplace_back("upper", &predicted.upper);
  }
  parts.emplace_back("truth", &predicted.truth);
  return parts;
}

std::vector<Quantity> quantities_of(const PredictedTargets& predicted) {
  std::vector<Quantity> quantities;
  for (std::size_t i = 0; i < predicted.targets.size(); ++i)
    quantities.push_back({predicted.targets[i], i < predicted.units.size() ? predicted.units[i] : ""});
  return quantities;
}

PlotLine line_of_column(std::string name, const Tensor& numbers, std::int64_t column,
                        std::span<const double> places) {
  PlotLine line{.name = std::move(name), .x = {places.begin(), places.end()}, .y = {}};
  for (std::int64_t row = numbers.size(0) - std::ssize(places); row < numbers.size(0); ++row)
    line.y.push_back(numbers.at(row * numbers.size(1) + column));
  return line;
}

std::vector<LeadingColumn> id_columns(const std::vector<std::string>& columns,
                                      const std::vector<std::string>& id, std::int64_t rows) {
  std::vector<LeadingColumn> result;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string name = columns[i];
    // A second column of one name is called as pandas does.
    for (const char* other : {"time", "row", "step", "horizon", "targets", "prediction", "truth"})
      if (name == other) name += ".1";
    result.push_back({std::move(name), std::vector<std::string>(static_cast<std::size_t>(rows), id[i])});
  }
  return result;
}

PredictedTargets joined(std::span<const PredictedTargets* const> parts) {
  const PredictedTargets& first = *parts.front();
  PredictedTargets all{.targets = first.targets,
                       .units = first.units,
                       .times = first.times,
                       .labels = first.labels,
                       .clock = first.clock,
                       .ids = first.ids,
                       .leading = first.leading,
                       .levels = first.levels};
  for (const PredictedTargets* part : parts.subspan(1)) {
    all.times.insert(all.times.end(), part->times.begin(), part->times.end());
    all.labels.insert(all.labels.end(), part->labels.begin(), part->labels.end());
    append(all.ids, part->ids);
    append(all.leading, part->leading);
  }
  using Part = PredictedTargets;
  all.prediction = joined_rows(parts, [](const Part& part) -> const Tensor& { return part.prediction; });
  all.low = joined_rows(parts, [](const Part& part) -> const Tensor& { return part.low; });
  all.high = joined_rows(parts, [](const Part& part) -> const Tensor& { return part.high; });
  all.interval = first.interval;
  all.lower = joined_rows(parts, [](const Part& part) -> const Tensor& { return part.lower; });
  all.upper = joined_rows(parts, [](const Part& part) -> const Tensor& { return part.upper; });
  all.truth = joined_rows(parts, [](const Part& part) -> const Tensor& { return part.truth; });
  for (std::size_t l = 0; l < first.quantiles.size(); ++l)
    all.quantiles.push_back(
        joined_rows(parts, [l](const Part& part) -> const Tensor& { return part.quantiles[l]; }));
  return all;
}

std::string prefix_of(const PredictedTargets& predicted, std::int64_t target) {
  return predicted.targets.size() > 1 ? predicted.targets[static_cast<std::size_t>(target)] + " "
                                      : std::string();
}

std::string legend_of(const PredictedTargets& predicted, std::int64_t target) {
  const std::string name = line_name(quantities_of(predicted), static_cast<std::size_t>(target));
  return name.empty() ? name : name + " ";
}

void add_prediction(Plot& plot, const PredictedTargets& predicted, std::int64_t target,
                    std::span<const double> places) {
  const std::string prefix = legend_of(predicted, target);
  plot.lines.push_back(line_of_column(prefix + "prediction", predicted.prediction, target, places));
  for (const auto& [name, low, high] : intervals_of(predicted)) {
    PlotLine lower = line_of_column("", *low, target, places);
    plot.bands.push_back({.name = prefix + name,
                          .x = std::move(lower.x),
                          .low = std::move(lower.y),
                          .high = line_of_column("", *high, target, places).y,
                          .line = plot.lines.size() - 1});
  }
}

}  // namespace lagtape
