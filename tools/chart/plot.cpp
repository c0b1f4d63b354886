#include "lagtape/tools/chart/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/chart/svg_text.h"

namespace lagtape {

namespace {

// Sizes in pixels.
constexpr double kLeast = 76, kTitle = 32, kTop = 40, kBottom = 58, kSecondLine = 15;
constexpr double kLegendGap = 18, kLegendRow = 20, kLegendKey = 26, kFont = 12;
constexpr double kMostLegend = 0.2;  // its share of the width
constexpr double kDot = 3.5;         // radius of a dot that is read by itself
constexpr double kDotInLine = 2;     // radius of a single point between the gaps of a line
constexpr double kStroke = 1;        // so that no line at the edge loses half of its width
constexpr double kBandOpacity = 0.25;
constexpr double kTitleLetter = 1.25;  // the size of a title's letters, by that of others

// The colors of Okabe and Ito without yellow, which is hard to see on white.
constexpr std::array<const char*, 7> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000"};
constexpr std::array<const char*, 3> kDashes = {"", "6 3", "2 2"};

std::string color(const PlotLine& line, std::size_t n) {
  if (line.shade >= 0) return svg::shaded(line.shade);
  return line.faint ? "#bbbbbb" : kColors[n % kColors.size()];
}

/// The place in the palette of a line that is the n-th thing of the chart.
std::size_t place_in_palette(const PlotLine& line, std::size_t n) {
  return line.color < 0 ? n : static_cast<std::size_t>(line.color);
}

/// The color, dashes and width of the n-th line.
std::string stroke(const PlotLine& line, std::size_t n) {
  if (line.faint) return text_of("stroke=\"", color(line, n), "\" stroke-width=\"1\"");
  const char* dash = kDashes[n / kColors.size() % kDashes.size()];
  const std::string dashes =
      *dash && line.shade < 0 ? text_of(" stroke-dasharray=\"", dash, "\"") : std::string();
  return text_of("stroke=\"", color(line, n), "\" stroke-width=\"",
                 line.broad ? "6\" stroke-opacity=\"0.35\"" : "1.6\"", dashes);
}

/// The title of an axis, which says when the axis is logarithmic.
std::string with_scale(const PlotAxis& axis) {
  return axis.log ? text_of(axis.title, axis.title.empty() ? "" : " ", "(logarithmic)") : axis.title;
}

std::string fill(std::size_t n) {
  return text_of("fill=\"", kColors[n % kColors.size()], "\" fill-opacity=\"0.55\"");
}

void check(const Plot& plot) {
  for (const PlotLine& line : plot.lines) {
    if (line.x.size() != line.y.size()) {
      throw unexpected({.op = "plot"}, Rule::shape, "as many x as y of a line",
                       text_of(line.x.size(), " and ", line.y.size(), " for '", line.name, "'"));
    }
  }
  for (const PlotBand& band : plot.bands) {
    if (band.x.size() != band.low.size() || band.x.size() != band.high.size() ||
        band.line >= plot.lines.size())
      throw unexpected({.op = "plot"}, Rule::shape, "as many bounds as x of a band, and its line",
                       text_of(band.x.size(), ", ", band.low.size(), " and ", band.high.size(), " for '",
                               band.name, "', line ", band.line, " of ", plot.lines.size()));
  }
  for (const PlotBars& bars : plot.bars) {
    if (bars.edges.size() != bars.heights.size() + 1 && !(bars.edges.empty() && bars.heights.empty())) {
      throw unexpected({.op = "plot"}, Rule::shape, "one edge more than heights",
                       text_of(bars.edges.size(), " and ", bars.heights.size(), " for '", bars.name, "'"));
    }
  }
}

std::vector<double> values_of(const Plot& plot, std::vector<double> PlotLine::*of_lines,
                              std::vector<double> PlotBars::*of_bars,
                              std::initializer_list<std::vector<double> PlotBand::*> of_bands) {
  std::vector<double> values;
  for (const PlotBand& band : plot.bands)
    for (const auto part : of_bands) values.insert(values.end(), (band.*part).begin(), (band.*part).end());
  for (const PlotLine& line : plot.lines) {
    values.insert(values.end(), (line.*of_lines).begin(), (line.*of_lines).end());
  }
  for (const PlotBars& bars : plot.bars) {
    values.insert(values.end(), (bars.*of_bars).begin(), (bars.*of_bars).end());
  }
  return values;
}

/// The y axis with room above and below the lines, so that the frame cuts none. Bars stand on it.
PlotAxis upright(const Plot& plot) {
  PlotAxis axis = plot.y;
  if (plot.bars.empty()) axis.room = 0.04;
  return axis;
}

/// Draws one plot, piece by piece.
class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot),
        x_(plot.x, values_of(plot, &PlotLine::x, &PlotBars::edges, {&PlotBand::x})),
        y_(upright(plot),
           values_of(plot, &PlotLine::y, &PlotBars::heights, {&PlotBand::low, &PlotBand::high}),
           !plot.bars.empty()) {
    for (const PlotTick& tick : y_.ticks()) left_ = std::max(left_, kTitle + 8 + svg::width_of(tick.text));
    if (const auto& last = y_.last()) left_ = std::max(left_, kTitle + 8 + svg::width_of(last->text));
    for (const PlotTick& tick : x_.ticks())
      if (!tick.below.empty()) bottom_ = kBottom + kSecondLine;
    middle_ = std::max(left_ + plot_.width / 2, kTitleLetter * svg::width_of(plot_.title) / 2);
  }

  std::string svg() {
    draw_axes();
    out_ += "<g clip-path=\"url(#inside)\">\n";
    std::size_t n = 0;
    for (const PlotBars& bars : plot_.bars) draw(bars, n++);
    for (const bool broad : {true, false}) {
      std::size_t of_line = n;
      for (const PlotLine& line : plot_.lines) {
        if (line.broad == broad) draw(line, place_in_palette(line, of_line));
        ++of_line;
      }
      for (const PlotBand& band : plot_.bands)
        if (broad) draw(band);
    }
    out_ += text_of("</g>\n<g clip-path=\"url(#dots)\">\n", dots_, "</g>\n");
    draw_frame();
    const bool below = is_legend_below();
    const double legend = draw_legend(below);
    const double right = left_ + plot_.width;
    const double width = std::max({below ? std::max(right + kLegendGap, legend) : right + legend, labels_end_,
                                   middle_ + kTitleLetter * svg::width_of(plot_.title) / 2});
    return text_of(head(width, std::max(kTop + plot_.height + bottom_, legend_bottom_)), out_, "</svg>\n");
  }

 private:
  double across(double x) const { return left_ + plot_.width * x_.place(x); }
  double down(double y) const { return kTop + plot_.height * (1 - y_.place(y)); }

  std::string head(double width, double height) const {
    return text_of(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"",
        svg::number(width), "\" height=\"", svg::number(height), "\" viewBox=\"0 0 ", svg::number(width), " ",
        svg::number(height), "\" font-family=\"sans-serif\" font-size=\"", kFont, "\">\n", svg::kDarkStyle,
        clip("inside", kStroke), clip("dots", kDot),
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
  }

  /// The area inside the axes, and so much around it.
  std::string clip(const char* name, double around) const {
    return text_of("<clipPath id=\"", name, "\"><rect x=\"", svg::number(left_ - around), "\" y=\"",
                   svg::number(kTop - around), "\" width=\"", svg::number(plot_.width + 2 * around),
                   "\" height=\"", svg::number(plot_.height + 2 * around), "\"/></clipPath>\n");
  }

  void draw_axes() {
    const std::string grid = "stroke=\"#dddddd\"", right = "text-anchor=\"end\"";
    const std::string center = "text-anchor=\"middle\"";
    double free = -left_;  // where the next label may begin
    for (const PlotTick& tick : x_.ticks()) {
      const double x = across(tick.value), half = svg::width_of(tick.text) / 2;
      if (x < left_ - 1 || x > left_ + plot_.width + 1) continue;
      const bool is_number = plot_.x.categories.empty();
      if (is_number) out_ += svg::segment(x, kTop, x, kTop + plot_.height, grid);
      if (is_number && x - half < free) continue;
      out_ += svg::text_at(x, kTop + plot_.height + 18, tick.text, center);
      free = x + half + svg::kLetter / 2;
      labels_end_ = std::max(labels_end_, x + half);
    }
    draw_second_line();
    if (const auto& last = x_.last()) draw_last(*last, free);
    double highest = kTop + plot_.height + kFont;  // the place of the highest label so far
    for (const PlotTick& tick : y_.ticks()) {
      const double y = down(tick.value);
      if (y < kTop - 1 || y > kTop + plot_.height + 1) continue;
      out_ += svg::segment(left_, y, left_ + plot_.width, y, grid);
      out_ += svg::text_at(left_ - 8, y + kFont / 3, tick.text, right);
      highest = std::min(highest, y);
    }
    if (const auto& last = y_.last(); last && down(last->value) < highest - 1.5 * kFont) {
      const double y = down(last->value);
      out_ += svg::segment(left_, y, left_ + plot_.width, y, grid);
      out_ += svg::text_at(left_ - 8, y + kFont / 3, last->text, right);
    }
  }

  /// The second line of labels on the x axis; of two that are too near to each other the later one.
  void draw_second_line() {
    double end = std::numeric_limits<double>::infinity();  // of the room for the label before
    for (std::size_t i = x_.ticks().size(); i-- > 0;) {
      const PlotTick& tick = x_.ticks()[i];
      const double x = across(tick.value), half = svg::width_of(tick.below) / 2;
      if (tick.below.empty() || x + half > end) continue;
      out_ += svg::text_at(x, kTop + plot_.height + 18 + kSecondLine, tick.below, "text-anchor=\"middle\"");
      end = x - half - svg::kLetter / 2;
      labels_end_ = std::max(labels_end_, x + half);
    }
  }

  /// The largest value across, if its number has room between the labels, which end at `free`, and the page's edge.
  void draw_last(const PlotTick& last, double free) {
    const double x = across(last.value), half = svg::width_of(last.text) / 2;
    if (x - half < free + svg::kLetter || x + half > left_ + plot_.width + kLegendGap) return;
    out_ += svg::segment(x, kTop, x, kTop + plot_.height, "stroke=\"#dddddd\"");
    out_ += svg::text_at(x, kTop + plot_.height + 18, last.text, "text-anchor=\"middle\"");
  }

  void draw_frame() {
    const std::string center = "text-anchor=\"middle\"";
    const double middle = left_ + plot_.width / 2, half_way = kTop + plot_.height / 2;
    out_ += text_of("<rect x=\"", svg::number(left_), "\" y=\"", svg::number(kTop), "\" width=\"",
                    svg::number(plot_.width), "\" height=\"", svg::number(plot_.height),
                    "\" fill=\"none\" stroke=\"#555555\"/>\n");
    const double title = plot_.subtitle.empty() ? kTop - 16 : kTop - 23;
    out_ += svg::text_at(middle_, title, plot_.title, center + " font-size=\"15\"");
    if (!plot_.subtitle.empty()) out_ += svg::text_at(middle, kTop - 7, plot_.subtitle, center);
    out_ += svg::text_at(middle, kTop + plot_.height + bottom_ - 16, with_scale(plot_.x), center);
    const auto most = static_cast<std::size_t>((plot_.height + kTop + bottom_) / svg::kLetter);
    out_ += svg::text_at(18, half_way, shortened(with_scale(plot_.y), most),
                         text_of(center, " transform=\"rotate(-90 18 ", svg::number(half_way), ")\""));
  }

  bool shows(const PlotLine& line, std::size_t i) const { return x_.shows(line.x[i]) && y_.shows(line.y[i]); }

  /// Whether a line has points, but no two that it could join.
  bool is_dots(const PlotLine& line) const {
    bool some = false;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!shows(line, i)) continue;
      if (i > 0 && shows(line, i - 1)) return false;
      some = true;
    }
    return some;
  }

  /// A polyline for every piece between gaps; a single point is a dot.
  void draw(const PlotLine& line, std::size_t n) {
    const double radius = line.markers || is_dots(line) ? kDot : kDotInLine;
    std::vector<std::pair<double, double>> piece;
    const auto finish = [&] {
      if (piece.size() > 1) {
        out_ += text_of("<polyline fill=\"none\" stroke-linejoin=\"round\" ", stroke(line, n), " points=\"");
        for (const auto& [x, y] : piece) out_ += text_of(svg::number(x), ",", svg::number(y), " ");
        out_.back() = '"';
        out_ += "/>\n";
      }
      if (piece.size() == 1 || line.markers)
        for (const auto& [x, y] : piece) dots_ += svg::dot(x, y, radius, color(line, n));
      piece.clear();
    };
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (shows(line, i)) {
        piece.emplace_back(across(line.x[i]), down(line.y[i]));
      } else {
        finish();
      }
    }
    finish();
  }

  std::string fill_of(const PlotBand& band, double opacity) const {
    const std::size_t place = place_in_palette(plot_.lines[band.line], plot_.bars.size() + band.line);
    return text_of("fill=\"", kColors[place % kColors.size()], "\" fill-opacity=\"", svg::number(opacity),
                   "\"");
  }

  /// The opacity of a band on top of those before it of the same line.
  double opacity_of(const PlotBand& band) const {
    double seen_through = 1;
    for (const PlotBand* other = plot_.bands.data(); other <= &band; ++other)
      if (other->line == band.line) seen_through *= 1 - kBandOpacity;
    return 1 - seen_through;
  }

  /// A polygon for every piece between gaps.
  void draw(const PlotBand& band) {
    std::size_t first = 0;
    const auto finish = [&](std::size_t end) {
      if (end > first)
        out_ += text_of("<polygon stroke=\"none\" ", fill_of(band, kBandOpacity), " points=\"");
      for (std::size_t i = first; i < end; ++i)
        out_ += text_of(svg::number(across(band.x[i])), ",", svg::number(down(y_.clamped(band.low[i]))), " ");
      for (std::size_t i = end; i > first; --i)
        out_ += text_of(svg::number(across(band.x[i - 1])), ",", svg::number(down(band.high[i - 1])), " ");
      if (end > first) out_.back() = '"';
      if (end > first) out_ += "/>\n";
      first = end + 1;
    };
    for (std::size_t i = 0; i < band.x.size(); ++i)
      if (!x_.shows(band.x[i]) || !y_.shows(y_.clamped(band.low[i])) || !y_.shows(band.high[i])) finish(i);
    finish(band.x.size());
  }

  void draw(const PlotBars& bars, std::size_t n) {
    const double base = down(y_.base());
    for (std::size_t i = 0; i < bars.heights.size(); ++i) {
      if (!y_.shows(bars.heights[i]) || !x_.shows(bars.edges[i]) || !x_.shows(bars.edges[i + 1])) continue;
      const double left = across(bars.edges[i]), right = across(bars.edges[i + 1]);
      const double end = down(bars.heights[i]);
      out_ += text_of("<rect x=\"", svg::number(std::min(left, right)), "\" y=\"",
                      svg::number(std::min(base, end)), "\" width=\"", svg::number(std::abs(right - left)),
                      "\" height=\"", svg::number(std::abs(base - end)), "\" ", fill(n), "/>\n");
    }
  }

  /// Whether the legend is below the chart: as wished, or since beside it it would take more than a fifth of the width.
  bool is_legend_below() const {
    double widest = 0;
    const auto see = [&](const auto& all) {
      for (const auto& one : all) widest = std::max(widest, svg::width_of(one.name));
    };
    see(plot_.bars);
    see(plot_.bands);
    see(plot_.lines);
    return plot_.legend_below || kLegendGap + kLegendKey + widest > kMostLegend * (left_ + plot_.width);
  }

  /// Draws the legend beside the chart, or below it in rows, and returns its width.
  double draw_legend(bool below) {
    double width = 0, y = below ? kTop + plot_.height + bottom_ + kLegendRow / 2 : kTop + kLegendRow / 2;
    std::size_t n = 0;
    double x = below ? kLegendGap : left_ + plot_.width + kLegendGap;
    const auto place_for = [&](const std::string& name) {
      const double end = x + kLegendKey + svg::width_of(name);
      if (!below || end <= left_ + plot_.width || x <= kLegendGap) return;
      x = kLegendGap;
      y += kLegendRow;
    };
    const auto entry = [&](const std::string& name, const std::string& key) {
      if (name.empty()) return;
      out_ += key + svg::text_at(x + kLegendKey, y + kFont / 3, name, "");
      const double own = kLegendGap + kLegendKey + svg::width_of(name);
      width = std::max(width, below ? x + own : own);
      if (below) {
        x += own;
      } else {
        y += kLegendRow;
      }
    };
    for (const PlotBars& bars : plot_.bars) {
      place_for(bars.name);
      entry(bars.name, text_of("<rect x=\"", svg::number(x), "\" y=\"", svg::number(y - 5),
                               "\" width=\"18\" height=\"10\" ", fill(n++), "/>\n"));
    }
    for (const PlotBand& band : plot_.bands) {
      place_for(band.name);
      entry(band.name, text_of("<rect x=\"", svg::number(x), "\" y=\"", svg::number(y - 5),
                               "\" width=\"18\" height=\"10\" ", fill_of(band, opacity_of(band)), "/>\n"));
    }
    for (const PlotLine& line : plot_.lines) {
      place_for(line.name);
      const std::size_t place = place_in_palette(line, n++);
      const std::string point = svg::dot(x + 9, y, kDot, color(line, place));
      const std::string joined = svg::segment(x, y, x + 18, y, stroke(line, place));
      entry(line.name, is_dots(line) ? point : joined + (line.markers ? point : ""));
    }
    legend_bottom_ = y + (below && x <= kLegendGap ? kLegendRow / 2 : kLegendRow);
    return std::max(width, kLegendGap);
  }

  const Plot& plot_;
  PlotScale x_, y_;
  std::string out_, dots_;                   // dots lie over lines, and whole over the frame
  double left_ = kLeast, bottom_ = kBottom;  // margins
  double middle_ = 0;                        // of the title
  double labels_end_ = 0, legend_bottom_ = 0;
};

}  // namespace

std::string Plot::svg() const {
  check(*this);
  return Drawing(*this).svg();
}

PlotLine line_over(std::string name, std::vector<double> y, std::int64_t first) {
  PlotLine line{.name = std::move(name), .x = std::vector<double>(y.size()), .y = std::move(y)};
  std::iota(line.x.begin(), line.x.end(), static_cast<double>(first));
  return line;
}

}  // namespace lagtape
