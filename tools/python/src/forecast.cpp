#include "lagtape/tools/forecast/series_forecast.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"
#include "lagtape/tools/train/source.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// The forecast of runs, the first of which says how the file is read. Arrays [steps, targets].
nb::dict forecast(const std::vector<std::string>& runs, const std::filesystem::path& input,
                  std::int64_t steps, const std::string& from, std::int64_t season, std::int64_t paths) {
  SeriesForecast made;
  {
    const nb::gil_scoped_release release;
    std::vector<Model> models;
    for (const std::string& run : runs) models.push_back(load_model(run));
    made = forecast_series(models,
                           {.input = input, .steps = steps, .from = from, .season = season, .paths = paths});
  }
  nb::dict result;
  result["targets"] = made.targets;
  result["times"] = made.labels;
  result["season"] = made.season;
  if (!made.levels.empty()) {
    result["levels"] = made.levels;
    nb::list quantiles;
    for (const Tensor& quantile : made.quantiles) quantiles.append(array_of(quantile));
    result["quantiles"] = quantiles;
  }
  const std::pair<const char*, const Tensor*> arrays[] = {{"prediction", &made.prediction},
                                                          {"low", &made.low},
                                                          {"high", &made.high},
                                                          {"truth", &made.truth},
                                                          {"past", &made.past}};
  for (const auto& [name, array] : arrays)
    if (!array->empty()) result[name] = array_of(*array);
  return result;
}

}  // namespace

void add_forecasts(nb::module_& module) {
  module.def("forecast", forecast, nb::arg("runs"), nb::arg("input"), nb::arg("steps"), nb::arg("from_"),
             nb::arg("season"), nb::arg("paths"));
}

}  // namespace lagtape::python
