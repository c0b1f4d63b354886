#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/analysis/plot_axis.h"

namespace lagtape {

/// A line through the points (x[i], y[i]). A NaN, or what a logarithmic axis cannot show, is a gap.
struct PlotLine {
  std::string name;  ///< in the legend; none when empty
  std::vector<double> x, y;
  bool broad = false;  ///< wide and pale, so that another line is seen on top of it
};

/// Bars side by side: bar i stands on the x axis between edges[i] and edges[i + 1]. A NaN is a gap.
struct PlotBars {
  std::string name;  ///< in the legend; none when empty
  std::vector<double> edges, heights;
};

/// A chart with axes and a legend: bars behind, lines in front of them, in colours that are told apart also
/// by those who see few of them.
struct Plot {
  std::string title = {};
  PlotAxis x = {}, y = {};
  std::vector<PlotLine> lines = {};
  std::vector<PlotBars> bars = {};

  /// The chart as an SVG document of its own (UTF-8, as the texts are). Throws InputError where x and y of a
  /// line, or edges and heights of bars, do not go together.
  std::string svg() const;
};

/// Bars of equal width that count the finite values between the smallest and the largest.
PlotBars histogram(std::string name, const std::vector<double>& values, int bins);

}  // namespace lagtape
