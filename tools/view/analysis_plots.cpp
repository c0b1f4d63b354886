#include "lagtape/tools/view/analysis_plots.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

std::string name_in(const LayerAnalysis& layer, const std::string& what) {
  return text_of("layer ", layer.index, " ", what);
}

/// The lags that all sequences have. A mean over fewer and fewer sequences would fall or rise by their choice alone.
std::size_t common_lags(const Analysis& analysis) {
  const std::int64_t shortest = *std::ranges::min_element(analysis.lengths);
  return static_cast<std::size_t>(std::min(shortest, analysis.steps));
}

/// A chart over the lags that all sequences have; its axis says so where their lengths differ.
Plot against_lag(const Analysis& analysis, std::string title, std::string y) {
  const auto [shortest, longest] = std::ranges::minmax_element(analysis.lengths);
  const std::string lags = *shortest == *longest
                               ? ""
                               : text_of("; ", analysis.lengths.size(), " sequences of ", *shortest, " to ",
                                         *longest, " steps, the lags that all have");
  return {.title = std::move(title),
          .x = {.title = "lag: steps before the last" + lags},
          .y = {.title = std::move(y), .log = true}};
}

/// Cuts the curves down to the lags that all sequences have.
void cut(Plot& plot, const Analysis& analysis) {
  for (PlotLine& line : plot.lines) {
    line.x.resize(std::min(line.x.size(), common_lags(analysis)));
    line.y.resize(line.x.size());
  }
}

Plot gradients(const Analysis& analysis, const std::string& title) {
  Plot plot = against_lag(analysis, title + ": how far back the gradient of the loss reaches",
                          "norm of dL/d(state_k), k = T - lag");
  for (const LayerAnalysis& layer : analysis.layers) {
    for (const StateAnalysis& state : layer.states) {
      plot.lines.push_back(line_over(name_in(layer, state.name), state.gradient.mean));
      if (state.last_step_gradient.mean.empty()) continue;
      plot.lines.push_back(
          line_over(name_in(layer, state.name + ", last step's loss"), state.last_step_gradient.mean));
    }
  }
  cut(plot, analysis);
  return plot;
}

Plot jacobians(const Analysis& analysis, const std::string& title) {
  Plot plot = against_lag(analysis, title + ": state Jacobians", "norm of dX_T/dX_k, k = T - lag");
  for (const LayerAnalysis& layer : analysis.layers) {
    const double share = 1 / std::sqrt(static_cast<double>(layer.width));
    plot.lines.push_back(line_over(name_in(layer, "Frobenius / sqrt(width)"), layer.frobenius.mean));
    for (double& norm : plot.lines.back().y) norm *= share;
    if (layer.exact) plot.lines.push_back(line_over(name_in(layer, "spectral"), layer.spectral.mean));
  }
  cut(plot, analysis);
  return plot;
}

Plot norms(const Analysis& analysis, const std::string& title) {
  const auto [shortest, longest] = std::minmax_element(analysis.lengths.begin(), analysis.lengths.end());
  const bool one_length = *shortest == *longest;
  Plot plot{
      .title = title + ": norms of the states",
      .x = {.title = one_length ? "step"
                                : text_of("steps from the last, which all of ", analysis.lengths.size(),
                                          " sequences of ", *shortest, " to ", *longest, " steps have")},
      .y = {.title = "2-norm of a state"}};
  for (const LayerAnalysis& layer : analysis.layers) {
    for (const StateAnalysis& state : layer.states) {
      plot.lines.push_back(line_over(name_in(layer, state.name), state.norm.mean));
      plot.lines.back().x.resize(std::min(plot.lines.back().x.size(), common_lags(analysis)));
      plot.lines.back().y.resize(plot.lines.back().x.size());
      for (double& x : plot.lines.back().x) x = (one_length ? static_cast<double>(*longest) : 0) - x;
    }
  }
  return plot;
}

Plot histogram(const ValueAnalysis& value, const LayerAnalysis& layer, const std::string& title) {
  const Distribution& of = value.distribution;
  Plot plot{.title = text_of(title, ": ", value.name, " of layer ", layer.index, " (", layer.name, ")"),
            .x = {.title = value.name, .log = of.log},
            .y = {.title = "share of a bin"}};
  PlotBars bars{value.name, of.edges, {}};
  for (const std::int64_t count : of.counts)
    bars.heights.push_back(static_cast<double>(count) / static_cast<double>(of.count));
  plot.bars.push_back(std::move(bars));
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> plots_of(const Analysis& analysis, const std::string& title) {
  std::vector<std::pair<std::string, Plot>> plots = {{"gradients", gradients(analysis, title)},
                                                     {"jacobians", jacobians(analysis, title)},
                                                     {"norms", norms(analysis, title)}};
  for (const LayerAnalysis& layer : analysis.layers)
    for (const ValueAnalysis& value : layer.values)
      plots.emplace_back(text_of("values-", layer.index, "-", value.name), histogram(value, layer, title));
  return plots;
}

}  // namespace lagtape
