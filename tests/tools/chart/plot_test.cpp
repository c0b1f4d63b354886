#include "lagtape/tools/chart/plot.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The value of an attribute of the n-th element of that name.
std::string attribute(const std::string& svg, const std::string& element, const std::string& name,
                      int n = 0) {
  std::size_t at = svg.find("<" + element + " ");
  for (; n > 0 && at != std::string::npos; --n) at = svg.find("<" + element + " ", at + 1);
  REQUIRE(at != std::string::npos);
  const std::string tag = svg.substr(at, svg.find('>', at) - at);
  const std::size_t start = tag.find(" " + name + "=\"");
  REQUIRE(start != std::string::npos);
  const std::size_t value = start + name.size() + 3;
  return tag.substr(value, tag.find('"', value) - value);
}

std::vector<double> heights_of(const std::string& points) {
  std::vector<double> heights;
  std::istringstream in(points);
  for (std::string point; in >> point;) heights.push_back(std::stod(point.substr(point.find(',') + 1)));
  return heights;
}

std::vector<std::string> texts(const PlotScale& scale) {
  std::vector<std::string> result;
  for (const PlotTick& tick : scale.ticks()) result.push_back(tick.text);
  return result;
}

/// Every tag that is opened is closed, in order, and no '&' stands alone: enough of XML for what a plot
/// writes.
bool is_nested(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::string tag = svg.substr(at + 1, svg.find('>', at) - at - 1);
    if (tag.find('<') != std::string::npos) return false;
    if (tag.starts_with('?') || tag.ends_with('/')) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty() && count(svg, "&") == count(svg, "&amp;") + count(svg, "&lt;") + count(svg, "&gt;") +
                                                count(svg, "&quot;");
}

}  // namespace

TEST_CASE("a line goes through its points, upwards on the page") {
  const Plot plot{.lines = {{"a", {0, 1, 2}, {0, 1, 4}}}};
  const std::vector<double> y = heights_of(attribute(plot.svg(), "polyline", "points"));
  REQUIRE(y.size() == 3);
  CHECK(y[0] > y[1]);
  CHECK((y[0] - y[1]) * 3 == doctest::Approx(y[1] - y[2]).epsilon(1e-3));
}

TEST_CASE("a broad line is wider than others, and lets them be seen") {
  const Plot plot{.lines = {{"under", {0, 1}, {0, 1}, true}, {"over", {0, 1}, {0, 1}}}};
  const std::string svg = plot.svg();
  CHECK(std::stod(attribute(svg, "polyline", "stroke-width", 0)) >
        3 * std::stod(attribute(svg, "polyline", "stroke-width", 1)));
  CHECK(count(svg, "stroke-opacity=\"") == 2);  // the line and its key in the legend
}

TEST_CASE("equal factors are equal distances on a logarithmic axis") {
  const Plot plot{.y = {.log = true}, .lines = {{"a", {0, 1, 2}, {0.001, 0.1, 10}}}};
  const std::vector<double> y = heights_of(attribute(plot.svg(), "polyline", "points"));
  CHECK(y[0] - y[1] == doctest::Approx(y[1] - y[2]).epsilon(1e-3));
  CHECK(y[0] - y[1] > 1);
}

TEST_CASE("what cannot be shown is a gap") {
  Plot plot{.lines = {{"a", {0, 1, 2, 3, 4}, {1, 2, kNan, 3, 4}}}};
  CHECK(count(plot.svg(), "<polyline") == 2);
  plot.lines[0].y[2] = std::numeric_limits<double>::infinity();
  CHECK(count(plot.svg(), "<polyline") == 2);
  plot.lines[0].y[2] = -1;
  CHECK(count(plot.svg(), "<polyline") == 1);
  plot.y.log = true;
  CHECK(count(plot.svg(), "<polyline") == 2);
  plot.lines[0].y = {kNan, 1, kNan, kNan, kNan};
  CHECK(count(plot.svg(), "<polyline") == 0);
  CHECK(count(plot.svg(), "<circle") == 2);  // the point and its key in the legend
  plot.lines[0].y.assign(5, kNan);
  CHECK(plot.svg().find("nan") == std::string::npos);
}

TEST_CASE("a dot at an end of an axis is whole, and one beyond it is not drawn") {
  Plot plot{.lines = {{.name = "", .x = {0, 1}, .y = {0.5, 1}, .markers = true}}};
  plot.y.max = 1;
  const std::string svg = plot.svg();
  const std::size_t dots = svg.find("<g clip-path=\"url(#dots)\">");
  REQUIRE(dots != std::string::npos);
  CHECK(svg.find("<circle") > dots);
  CHECK(svg.find("<polyline") < dots);
  // The rectangles of the clip paths: the area inside the axes and half a line more, and a dot's radius more.
  for (const char* size : {"width", "height"})
    CHECK(std::stod(attribute(svg, "rect", size, 1)) == std::stod(attribute(svg, "rect", size, 0)) + 5);
}

TEST_CASE("the largest and the smallest numbers have an axis") {
  using Limits = std::numeric_limits<double>;
  for (const bool log : {false, true})
    for (const double value : {1e308, Limits::max(), Limits::denorm_min(), 3e-308}) {
      Plot plot{.lines = {{"one", {0, 1}, {value, value}}}};
      plot.y.log = log;
      const std::string svg = plot.svg();
      CHECK(count(svg, "<polyline") == 1);
      CHECK(svg.find("nan") == std::string::npos);
      CHECK(svg.find("inf") == std::string::npos);
      plot.lines[0].y = {Limits::denorm_min(), value};
      CHECK(plot.svg().find("nan") == std::string::npos);
    }
}

TEST_CASE("what is a dot in the chart is one in the legend, and large enough to be seen") {
  Plot plot{.lines = {{"dots", {0, kNan, 2}, {1, kNan, 3}}}};
  CHECK(count(plot.svg(), "<circle") == 3);
  CHECK(count(plot.svg(), "r=\"3.5\"") == 3);
  plot.lines = {{.name = "measured", .x = {0, 1, 2}, .y = {1, 2, 3}, .markers = true}};
  CHECK(count(plot.svg(), "<circle") == 4);  // one of them on the line of the legend
  CHECK(count(plot.svg(), "<polyline") == 1);
  CHECK(count(plot.svg(), "r=\"3.5\"") == 4);
  plot.lines = {{"line", {0, 1, 2, 3}, {1, 2, kNan, 3}}};
  CHECK(count(plot.svg(), "<circle") == 1);
  CHECK(count(plot.svg(), "r=\"2\"") == 1);
}

TEST_CASE("the largest value has a label if it fits") {
  const auto labels = [](const PlotAxis& x, std::vector<double> values) {
    const std::vector<double> y(values.size(), 1);
    return Plot{.x = x, .lines = {{"a", std::move(values), y}}}.svg();
  };
  CHECK(count(labels({.log = true}, {5, 300}), ">300<") == 1);
  CHECK(count(labels({.log = true, .room = 0.04}, {5, 300}), ">300<") == 1);
  CHECK(count(labels({}, {0, 100}), ">100<") == 1);
  CHECK(count(labels({}, {0, 31}), ">31<") == 0);  // too close to 30
  CHECK(count(labels({}, {0, 37}), ">37<") == 1);
  CHECK(count(labels({}, {0, 0.3712349}), ">0.371235<") == 0);  // too long to be read
  CHECK(count(labels({.max = 47}, {0, 10}), ">47<") == 1);
  const Plot upwards{.lines = {{"a", {1, 2}, {0, 0.37}}}};
  CHECK(count(upwards.svg(), ">0.37<") == 1);
}

TEST_CASE("a subtitle stands below the title, which it moves up") {
  Plot plot{.title = "a title", .lines = {{"a", {0, 1}, {0, 1}}}};
  const auto line_of = [&](const std::string& text) {
    const std::string svg = plot.svg();
    const std::size_t end = svg.find(">" + text + "<");
    REQUIRE(end != std::string::npos);
    return std::stod(attribute(svg.substr(svg.rfind("<text ", end)), "text", "y"));
  };
  const double alone = line_of("a title");
  plot.subtitle = "with b = 1";
  CHECK(line_of("a title") < alone);
  CHECK(line_of("with b = 1") > line_of("a title") + 12);
}

TEST_CASE("margins fit the labels, the title and the legend") {
  const auto plot = [](double most) { return Plot{.lines = {{"a", {0, 1}, {-most, most}}}}; };
  const auto left = [](const std::string& svg) { return std::stod(attribute(svg, "rect", "x", 3)); };
  CHECK(left(plot(1).svg()) == 76);
  CHECK(left(plot(1.5e-7).svg()) > 76);
  Plot titled = plot(1);
  const double width = std::stod(attribute(titled.svg(), "svg", "width"));
  titled.title = std::string(150, 'x');
  const std::string svg = titled.svg();
  CHECK(std::stod(attribute(svg, "svg", "width")) > width + 300);
  // A letter of two bytes is as wide as one of one.
  Plot ascii = plot(1), umlauts = plot(1);
  for (int i = 0; i < 100; ++i) {
    ascii.lines[0].name += "a";
    umlauts.lines[0].name += "\u00e4";
  }
  CHECK(attribute(umlauts.svg(), "svg", "width") == attribute(ascii.svg(), "svg", "width"));
  CHECK(std::stod(attribute(ascii.svg(), "svg", "width")) > width);
}

TEST_CASE("quantities have their units on the axis, or in the legend where they differ") {
  CHECK(axis_title({{"load", "MW"}}, "target") == "load (MW)");
  CHECK(axis_title({{"load"}}, "target") == "load");
  CHECK(axis_title({{"a", "MW"}, {"b", "MW"}}, "target") == "MW");
  CHECK(axis_title({{"a", "MW"}, {"b", "C"}}, "target") == "target");
  CHECK(axis_title({{"a"}, {"b"}}, "target") == "target");
  CHECK(line_name({{"load", "MW"}}, 0).empty());
  CHECK(line_name({{"a", "MW"}, {"b", "MW"}}, 1) == "b");
  CHECK(line_name({{"a", "MW"}, {"b", ""}}, 0) == "a (MW)");
}

TEST_CASE("texts are escaped, and the document stays well-formed") {
  CHECK_FALSE(is_nested("<svg><g></svg>"));
  CHECK_FALSE(is_nested("<svg>a & b</svg>"));
  const Plot plot{.title = "a < b & \"c\" > d\x01",
                  .x = {.title = "</svg>"},
                  .y = {.title = "e & f"},
                  .lines = {{"<tau>", {0, 1}, {0, 1}}},
                  .bars = {{"&amp;", {0, 1, 2}, {1, 2}}}};
  const std::string svg = plot.svg();
  CHECK(is_nested(svg));
  CHECK(svg.find("a &lt; b &amp; &quot;c&quot; &gt; d?") != std::string::npos);
  CHECK(svg.find("&lt;/svg&gt;") != std::string::npos);
  CHECK(svg.find("&lt;tau&gt;") != std::string::npos);
  CHECK(svg.find("&amp;amp;") != std::string::npos);
}

TEST_CASE("bars stand on zero, as high as their values") {
  const Plot plot{.bars = {{"counts", {0, 1, 2, 3}, {1, kNan, 4}}}};
  const std::string svg = plot.svg();
  CHECK(count(svg, "fill-opacity") == 3);  // two bars and the key of the legend
  // Before the bars: the rectangles of two clip paths and of the background.
  const double low = std::stod(attribute(svg, "rect", "height", 3));
  const double high = std::stod(attribute(svg, "rect", "height", 4));
  CHECK(high == doctest::Approx(4 * low).epsilon(1e-3));
  CHECK(low > 1);
}

TEST_CASE("ticks are round numbers") {
  CHECK(texts(PlotScale({}, {0, 100})) == std::vector<std::string>{"0", "20", "40", "60", "80", "100"});
  CHECK(texts(PlotScale({}, {-0.3, 0.31})) == std::vector<std::string>{"-0.2", "0", "0.2"});
  CHECK(texts(PlotScale({.log = true}, {1e-4, 1})) ==
        std::vector<std::string>{"0.0001", "0.001", "0.01", "0.1", "1"});
  CHECK(texts(PlotScale({.log = true}, {1.5, 30})) == std::vector<std::string>{"2", "5", "10", "20"});
  CHECK(texts(PlotScale({.log = true}, {3, 400})) ==
        std::vector<std::string>{"5", "10", "20", "50", "100", "200"});
  CHECK(texts(PlotScale({.log = true}, {3.1, 3.3})) ==
        std::vector<std::string>{"3.1", "3.15", "3.2", "3.25", "3.3"});
  for (double high = 1.01; high < 1e5; high *= 1.07) {
    for (const bool log : {false, true}) {
      CAPTURE(high);
      CHECK(texts(PlotScale({.log = log}, {1, high})).size() >= 3);
      CHECK(texts(PlotScale({.log = log, .ticks = 4}, {0.93, high})).size() >= 3);
    }
  }
  CHECK(texts(PlotScale({.categories = {"a", "b"}}, {})) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("every range is one that can be drawn") {
  for (const bool log : {false, true}) {
    for (const std::vector<double>& values :
         std::vector<std::vector<double>>{{},
                                          {kNan},
                                          {0},
                                          {5},
                                          {-3},
                                          {1e300, 1e-300},
                                          {1, std::nextafter(1.0, 2.0)},
                                          {0.148, std::nextafter(0.148, 0.0)},
                                          {1, 2.5e-309},
                                          {5e-324, 1e300}}) {
      const PlotScale scale({.log = log}, values);
      CHECK(std::isfinite(scale.place(1)));
      CHECK(scale.ticks().size() >= 3);
      CHECK(scale.ticks().size() < 30);
      for (const double value : values)
        if (scale.shows(value)) CHECK(std::abs(scale.place(value) - 0.5) <= 0.5);
    }
  }
  const PlotScale given({.min = 0, .max = 1}, {0.5, 20});
  CHECK(given.place(0.5) == doctest::Approx(0.5));
}

TEST_CASE("an axis says when it is logarithmic, and a legend below the chart leaves it its width") {
  Plot plot{.x = {.title = "step"}, .y = {.title = "loss", .log = true}, .lines = {{"a", {1, 2}, {1, 10}}}};
  CHECK(count(plot.svg(), ">loss (logarithmic)<") == 1);
  CHECK(count(plot.svg(), ">step<") == 1);
  const double beside = std::stod(attribute(plot.svg(), "svg", "width"));
  plot.legend_below = true;
  plot.width = 300;
  CHECK(std::stod(attribute(plot.svg(), "svg", "width")) < beside - 320);
}

TEST_CASE("a legend that would take more than a fifth of the width lies below the chart") {
  Plot plot{.lines = {{"a", {1, 2}, {1, 10}}, {"b", {1, 2}, {2, 3}}}};
  const auto height = [&] { return std::stod(attribute(plot.svg(), "svg", "height")); };
  const double beside = height();
  plot.lines[0].name = "a name that is much longer than the others";
  CHECK(height() > beside);
  CHECK(std::stod(attribute(plot.svg(), "svg", "width")) < plot.width + 120);
}

TEST_CASE("a shaded line has a color between gray and orange, and a chart has colors for dark pages") {
  Plot plot{.lines = {{.name = "a", .x = {0, 1}, .y = {0, 1}, .shade = 0},
                      {.name = "b", .x = {0, 1}, .y = {1, 0}, .shade = 1}}};
  CHECK(count(plot.svg(), "stroke=\"rgb(180,188,196)\"") == 2);  // the line and its key
  CHECK(count(plot.svg(), "stroke=\"rgb(213,94,0)\"") == 2);
  CHECK(count(plot.svg(), "prefers-color-scheme: dark") == 1);
}

TEST_CASE("lines and bands of one color have it in the chart and in the legend") {
  const Plot plot{.lines = {{.name = "past", .x = {0, 1}, .y = {0, 1}, .broad = true, .color = 1},
                            {.name = "next", .x = {0, 1}, .y = {1, 0}, .color = 1}},
                  .bands = {{.name = "", .x = {0, 1}, .low = {0, 0}, .high = {1, 1}, .line = 1}}};
  CHECK(count(plot.svg(), "stroke=\"#d55e00\"") == 4);  // two lines and their keys
  CHECK(count(plot.svg(), "stroke=\"#0072b2\"") == 0);
  CHECK(count(plot.svg(), "<polygon stroke=\"none\" fill=\"#d55e00\"") == 1);
}

TEST_CASE("the frame leaves room above and below lines, and bars stand on it") {
  const auto frame = [](const std::string& svg) { return std::stod(attribute(svg, "rect", "y", 0)) + 1; };
  const std::string lines = Plot{.lines = {{"a", {0, 1}, {0, 1}}}}.svg();
  const std::vector<double> y = heights_of(attribute(lines, "polyline", "points"));
  CHECK(y[1] > frame(lines) + 10);
  CHECK(y[0] < frame(lines) + 380 - 10);
  const std::string bars = Plot{.bars = {{"b", {0, 1}, {1}}}}.svg();
  CHECK(std::stod(attribute(bars, "rect", "y", 3)) == doctest::Approx(frame(bars)));
  CHECK(std::stod(attribute(bars, "rect", "height", 3)) == doctest::Approx(380));
}

TEST_CASE("names below the chart have a second line") {
  const Plot plot{.x = {.categories = {"rate", "units"}, .below = {"0.1 to 1", "4 to 8"}},
                  .lines = {{"a", {0, 1}, {0, 1}}}};
  for (const char* text : {">rate<", ">0.1 to 1<", ">4 to 8<"}) CHECK(count(plot.svg(), text) == 1);
}

TEST_CASE("lines and bars that do not fit together are refused") {
  CHECK_THROWS_WITH_AS((Plot{.lines = {{"a", {0, 1}, {0}}}}.svg()),
                       "[plot] expected as many x as y of a line, got 2 and 1 for 'a'", InputError);
  CHECK_THROWS_AS((Plot{.bars = {{"a", {0, 1}, {0, 3}}}}.svg()), InputError);
}

TEST_CASE("a band is an area of its line's color with a gap where a bound is missing") {
  const double none = std::nan("");
  Plot plot{
      .lines = {{.name = "a", .x = {0, 4}, .y = {0, 4}}},
      .bands = {
          {.name = "interval", .x = {0, 1, 2, 3, 4}, .low = {0, 0, none, 1, 1}, .high = {1, 1, 1, 2, 9}}}};
  const std::string svg = plot.svg();
  std::size_t areas = 0;
  for (std::size_t at = svg.find("<polygon"); at != std::string::npos; at = svg.find("<polygon", at + 1))
    ++areas;
  CHECK(areas == 2);
  CHECK(svg.find("interval") != std::string::npos);
  CHECK(svg.find("<polygon stroke=\"none\" fill=\"#0072b2\"") != std::string::npos);
  CHECK(svg.find(">8<") != std::string::npos);  // the axis reaches over the band
  plot.bands[0].high.pop_back();
  CHECK_THROWS_WITH_AS(plot.svg(), doctest::Contains("as many bounds as x of a band"), InputError);
  plot.bands[0].high.push_back(1);
  plot.bands[0].line = 1;
  CHECK_THROWS_AS(plot.svg(), InputError);
}

TEST_CASE("a band whose lower bound a logarithmic axis cannot show reaches the bottom of the chart") {
  const auto svg = [](bool log, double least) {
    return Plot{.y = {.log = log},
                .lines = {{"mean", {0, 1, 2}, {1, 2, 3}}},
                .bands = {{.name = "", .x = {0, 1, 2}, .low = {0.5, least, 2}, .high = {1.5, 5, 4}}}}
        .svg();
  };
  const double bottom = std::stod(attribute(svg(true, -1), "rect", "y")) +
                        std::stod(attribute(svg(true, -1), "rect", "height")) - 1;  // without half a line
  for (const double least : {-1.0, 0.0}) {
    CAPTURE(least);
    REQUIRE(count(svg(true, least), "<polygon") == 1);
    const std::vector<double> heights = heights_of(attribute(svg(true, least), "polygon", "points"));
    REQUIRE(heights.size() == 6);
    CHECK(heights[1] == doctest::Approx(bottom));
    CHECK(heights[0] < bottom - 10);  // 0.5, the smallest value that can be shown
    CHECK(heights[2] < bottom - 10);
  }
  CHECK(count(svg(true, kNan), "<polygon") == 2);
  CHECK(heights_of(attribute(svg(false, -1), "polygon", "points"))[0] <
        bottom - 10);  // the axis goes down to -1
}

}  // namespace lagtape
