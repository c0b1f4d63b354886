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
  bool broad = false;    ///< wide and pale, below other lines
  bool faint = false;    ///< thin and gray, one of many indistinct lines
  double shade = -1;     ///< from 0 (gray) to 1 (orange): the line's quality as a color; < 0: its own color
  bool markers = false;  ///< a dot on each point, to show what was measured
  int color = -1;        ///< index in the palette, so that lines can share a color; < 0: the line's own index
};

/// A line through values at first, first + 1, ...
PlotLine line_over(std::string name, std::vector<double> y, std::int64_t first = 0);

/// Bars side by side: bar i is on the x axis between edges[i] and edges[i + 1]. NaN leaves a gap.
struct PlotBars {
  std::string name;  ///< name in the legend; empty: not listed
  std::vector<double> edges, heights;
};

/// The pale area between low[i] and high[i] over x[i], in the color of one of the chart's lines. NaN leaves a
/// gap. If a logarithmic axis cannot show a lower bound (0 or less), it is drawn at the bottom of the chart.
struct PlotBand {
  std::string name;  ///< name in the legend; empty: not listed
  std::vector<double> x, low, high;
  std::size_t line = 0;  ///< the index of the line in the chart
};

/// A chart with axes and a legend. Lines are drawn over bars and bands, bands over wide lines, in colors that
/// color-blind readers can distinguish.
struct Plot {
  std::string title = {};
  std::string subtitle = {};  ///< smaller, below the title
  PlotAxis x = {}, y = {};
  std::vector<PlotLine> lines = {};
  std::vector<PlotBars> bars = {};
  std::vector<PlotBand> bands = {};
  double width = 620, height = 380;  ///< size of the area inside the axes, in pixels
  /// instead of next to the chart, if it needs at most a fifth of the width
  bool legend_below = false;

  /// The chart as a complete SVG document; it and its texts are UTF-8. Throws InputError if the sizes of a
  /// line's x and y, of bar edges and heights, or of a band do not match, or if a band's line does not exist.
  std::string svg() const;
};

}  // namespace lagtape
