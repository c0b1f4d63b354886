#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/tools/chart/plot_axis.h"

namespace lagtape {

/// A line through the points (x[i], y[i]). NaN, or a value that a logarithmic axis cannot show, leaves a gap.
struct PlotLine {
  std::string name;  ///< name in the legend; empty: not listed
  std::vector<double> x, y;
  bool broad = false;  ///< wide and pale, below other lines
  bool faint = false;  ///< thin and gray, one of many indistinct lines
  double shade = -1;   ///< from 0, gray, to 1, orange: the quality of the line as a color; < 0: its own color
  bool markers = false;  ///< a dot on each point, which shows what was measured
  int color = -1;        ///< a place in the palette, so that lines share it; < 0: that of the line's place
};

/// A line through values at first, first + 1, ...
PlotLine line_over(std::string name, std::vector<double> y, std::int64_t first = 0);

/// Bars side by side: bar i is on the x axis between edges[i] and edges[i + 1]. NaN leaves a gap.
struct PlotBars {
  std::string name;  ///< name in the legend; empty: not listed
  std::vector<double> edges, heights;
};

/// The pale area between low[i] and high[i] over x[i], in the color of a line of the chart. NaN leaves a gap. A lower
/// bound that a logarithmic axis cannot show, 0 or less, lies at the bottom of the chart.
struct PlotBand {
  std::string name;  ///< name in the legend; empty: not listed
  std::vector<double> x, low, high;
  std::size_t line = 0;  ///< the place of the line among the chart's
};

/// A chart with axes and a legend. Lines are drawn over bars and bands, bands over broad lines, in colors that
/// color-blind readers can distinguish.
struct Plot {
  std::string title = {};
  std::string subtitle = {};  ///< smaller, below the title
  PlotAxis x = {}, y = {};
  std::vector<PlotLine> lines = {};
  std::vector<PlotBars> bars = {};
  std::vector<PlotBand> bands = {};
  double width = 620, height = 380;  ///< of the area inside the axes, in pixels
  bool legend_below = false;         ///< instead of beside it, where it has at most a fifth of the width

  /// The chart as a complete SVG document in UTF-8, like its texts. Throws InputError if the sizes of a
  /// line's x and y, of edges and heights of bars, or of a band do not match, or a band's line is not there.
  std::string svg() const;
};

}  // namespace lagtape
