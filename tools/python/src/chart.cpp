// SVG charts, for users without matplotlib.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

using Numbers = std::vector<double>;
using Line = std::tuple<std::string, Numbers, Numbers>;           ///< name, x, y
using Band = std::tuple<std::size_t, Numbers, Numbers, Numbers>;  ///< index of the line, x, low, high

std::string chart(const std::string& title, const std::string& x, const std::string& y, bool log,
                  const std::vector<Line>& lines, const std::vector<Band>& bands, double width,
                  double height) {
  Plot plot{.title = title,
            .x = {.title = x},
            .y = {.title = y, .log = log},
            .width = width,
            .height = height,
            .legend_below = true};
  for (const auto& [name, at, values] : lines) plot.lines.push_back({.name = name, .x = at, .y = values});
  for (const auto& [line, at, low, high] : bands)
    plot.bands.push_back({.name = {}, .x = at, .low = low, .high = high, .line = line});
  return plot.svg();
}

}  // namespace

void add_charts(nb::module_& module) {
  module.def("chart", chart, nb::arg("title"), nb::arg("x"), nb::arg("y"), nb::arg("log"), nb::arg("lines"),
             nb::arg("bands"), nb::arg("width"), nb::arg("height"));
}

}  // namespace lagtape::python
