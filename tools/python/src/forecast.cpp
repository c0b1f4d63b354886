#include "lagtape/tools/forecast/sequence_prediction.h"
#include "lagtape/tools/forecast/series_forecast.h"
#include "lagtape/tools/forecast/series_prediction.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_file.h"
#include "lagtape/data/formats/given_files.h"
#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// Shared by forecasts and predictions.
nb::dict dict_of(const PredictedTargets& made) {
  nb::dict result;
  result["targets"] = made.targets;
  result["times"] = made.labels;
  if (!made.ids.empty()) {
    nb::dict ids;
    for (const LeadingColumn& column : made.ids)
      ids[column.name.c_str()] = std::get<std::vector<std::string>>(column.cells);
    result["series"] = ids;
  }
  if (!made.levels.empty()) {
    result["levels"] = made.levels;
    nb::list quantiles;
    for (const Tensor& quantile : made.quantiles) quantiles.append(array_of(quantile));
    result["quantiles"] = quantiles;
  }
  const std::pair<const char*, const Tensor*> arrays[] = {
      {"prediction", &made.prediction}, {"low", &made.low},     {"high", &made.high},
      {"lower", &made.lower},           {"upper", &made.upper}, {"truth", &made.truth}};
  for (const auto& [name, array] : arrays)
    if (!array->empty()) result[name] = array_of(*array);
  return result;
}

/// The forecast from several models, the first of which determines how the file is read. Arrays [steps,
/// targets].
nb::dict forecast(const std::vector<const Model*>& given, const std::filesystem::path& input,
                  const std::string& steps, const std::string& from, std::int64_t season, std::int64_t paths,
                  const std::filesystem::path& future, std::optional<double> interval,
                  const std::vector<std::string>& series, const GivenFiles* files) {
  const auto length = ForecastLength::parse(steps, {.item = "steps", .op = "forecast"});
  std::vector<SeriesForecast> made;
  {
    const nb::gil_scoped_release release;
    const GivenScope given_files(files);
    std::vector<Model> models;
    for (const Model* model : given)  // Python owns the originals
      models.push_back(Model::parse(serialize_safetensors(content_of(*model)), "the model"));
    made = forecast_series(models, {.input = input,
                                    .future = future,
                                    .steps = length,
                                    .from = from,
                                    .season = season,
                                    .paths = {.paths = paths},
                                    .interval = interval,
                                    .series = series});
  }
  nb::dict result = dict_of(joined(made));
  result["season"] = made.front().season;
  if (made.size() == 1 && !made.front().past.empty()) result["past"] = array_of(made.front().past);
  return result;
}

/// Predictions along a recording by a model trained on a similar one. Arrays [rows, targets].
nb::dict predict(const Model& model, const std::filesystem::path& input, int threads,
                 const GivenFiles* files) {
  SeriesPrediction made;
  {
    const nb::gil_scoped_release release;
    const GivenScope given_files(files);
    made = predict_series(model, input, threads);
  }
  nb::dict result = dict_of(made);
  result["rows"] = made.places;
  result["horizon"] = made.horizon;
  return result;
}

/// A column for each result per sequence in a table: the name, the prediction, class probabilities, the truth.
nb::dict predict_table(const Model& model, const std::filesystem::path& input, int threads,
                       const GivenFiles* files) {
  std::vector<ResultColumn> columns;
  {
    const nb::gil_scoped_release release;
    const GivenScope given_files(files);
    const SequencePrediction made = predict_sequences(model, input, threads);
    columns = columns_of(made, model, !made.table.classes.empty());
  }
  nb::dict result;
  for (const ResultColumn& column : columns) {
    const auto* texts = std::get_if<std::vector<std::string>>(&column.cells);
    result[column.name.c_str()] =
        texts ? nb::object(nb::cast(*texts)) : nb::object(array_of(std::get<Tensor>(column.cells)));
  }
  return result;
}

}  // namespace

void add_forecasts(nb::module_& module) {
  module.def("forecast", forecast, nb::arg("models"), nb::arg("input"), nb::arg("steps"), nb::arg("from_"),
             nb::arg("season"), nb::arg("paths"), nb::arg("future"), nb::arg("interval"), nb::arg("series"),
             nb::arg("files").none());
  module.def("predict_sequences", predict_table, nb::arg("model"), nb::arg("input"), nb::arg("threads"),
             nb::arg("files").none());
  module.def("predict_recording", predict, nb::arg("model"), nb::arg("input"), nb::arg("threads"),
             nb::arg("files").none());
}

}  // namespace lagtape::python
