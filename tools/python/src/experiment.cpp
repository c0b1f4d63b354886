// The tool's commands for experiments and runs. Results are passed to Python as JSON or arrays.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/core/json/json_comments.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/tools/analysis/analysis_json.h"
#include "lagtape/tools/analysis/model_description.h"
#include "lagtape/tools/analysis/model_gradients.h"
#include "lagtape/tools/python/src/bindings.h"
#include "lagtape/tools/python/src/given_experiment.h"
#include "lagtape/tools/train/catalogue.h"
#include "lagtape/tools/train/experiment_check.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_schema.h"
#include "lagtape/tools/train/export_data.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/warnings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

using Warnings = std::vector<std::string>;

std::pair<std::string, Warnings> check(const GivenExperiment& given, int threads, bool gradients,
                                       const ModelGradientOptions& options) {
  const GivenScope given_files = given.give();
  const Experiment experiment = given.read();
  ThreadPool pool(threads);
  const ExperimentCheck found = check_experiment(experiment, pool);
  Json result = {
      {"name", experiment.name}, {"params", found.cost.parameters}, {"memory", memory_of(found.cost)}};
  if (!found.notes.empty()) result["notes"] = found.notes;
  if (gradients) {
    const ModelGradients compared = check_model_gradients(experiment, pool, options);
    result.update(json_of(compared));
    result["ok"] = compared.report.max_rel_error <= options.tolerance;
  }
  return {result.dump(), found.warnings};
}

std::pair<std::string, Warnings> inspect(const GivenExperiment& given, int threads) {
  const GivenScope given_files = given.give();
  ThreadPool pool(threads);
  const Source source = given.load(pool);
  std::optional<DataShape> data;
  if (source.has_data) data = data_shape(source.experiment, pool);
  return {describe(source, data, threads).dump(), data ? lag_warnings(source.model, *data) : Warnings()};
}

std::string analyze(const GivenExperiment& given, const std::string& split_name, int threads,
                    AnalysisOptions options) {
  const GivenScope given_files = given.give();
  ThreadPool pool(threads);
  const Source source = given.load(pool);
  const Task task = source.experiment.load_task(pool);
  const Dataset& split = task.split(split_name);
  if (split.size() == 0)
    throw InputError({given.place}, Rule::missing,
                     text_of("there are no sequences in the split '", split_name, "'."));
  options.seed = source.experiment.seed;
  const Normalization normalization =
      given.is_trained() ? normalization_of_data(source.model) : task.normalization;
  const Analysis analysis = lagtape::analyze(source.model, split, normalization, pool, options);
  return json_of(analysis, source.experiment.name, split_name).dump();
}

/// Collects arrays in memory that is then owned by NumPy.
class ArrayCollector : public ArrayWriter {
 public:
  void begin(const std::string& name, const std::string& descr, const Shape& shape) override {
    const std::size_t item = descr == "<f8" ? 8 : 4;
    arrays_.push_back({name, descr, shape, std::make_unique<char[]>(element_count(shape) * item)});
    next_ = arrays_.back().bytes.get();
  }
  void write(const void* bytes, std::size_t count) override {
    std::memcpy(next_, bytes, count);
    next_ += count;
  }

  nb::dict arrays() {
    nb::dict all;
    for (Array& array : arrays_) {
      const std::vector<std::size_t> shape(array.shape.begin(), array.shape.end());
      char* bytes = array.bytes.release();
      const nb::capsule owner(bytes, [](void* kept) noexcept { delete[] static_cast<char*>(kept); });
      const nb::dlpack::dtype type = array.descr == "<i4"   ? nb::dtype<std::int32_t>()
                                     : array.descr == "<f8" ? nb::dtype<double>()
                                                            : nb::dtype<float>();
      all[array.name.c_str()] =
          nb::cast(nb::ndarray<nb::numpy>(bytes, shape.size(), shape.data(), owner, nullptr, type));
    }
    return all;
  }

 private:
  struct Array {
    std::string name, descr;
    Shape shape;
    std::unique_ptr<char[]> bytes;
  };
  std::vector<Array> arrays_;
  char* next_ = nullptr;
};

nb::dict data(const GivenExperiment& given, std::int64_t fresh, int threads) {
  ArrayCollector collector;
  {
    const nb::gil_scoped_release release;
    const GivenScope given_files = given.give();
    const Experiment experiment = given.read();
    ThreadPool pool(threads);
    write_data(collector, experiment.load_task(pool), experiment.train.precision, fresh, pool);
  }
  return collector.arrays();
}

Json json_of(const CatalogueEntry& entry) {
  Json options = Json::array();
  for (const OptionDoc& option : entry.options) {
    options.push_back({{"key", option.key},
                       {"type", type_words(option.schema)},
                       {"unit", option.unit},
                       {"default", option.fallback.empty() ? Json() : Json(option.fallback)},
                       {"about", option.about}});
  }
  return {{"name", entry.name},           {"summary", entry.summary}, {"source", entry.source},
          {"equations", entry.equations}, {"files", entry.files},     {"options", options}};
}

std::string list() {
  Json all = Json::object();
  for (const CatalogueKind& kind : catalogue()) {
    Json entries = Json::array();
    for (const CatalogueEntry& entry : kind.entries()) entries.push_back(json_of(entry));
    all[kind.name] = std::move(entries);
  }
  return all.dump();
}

}  // namespace

void add_experiments(nb::module_& module) {
  const auto release = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<GivenExperiment>(module, "GivenExperiment")
      .def(
          "__init__",
          [](GivenExperiment* made, std::string place, std::optional<std::string> text,
             std::vector<std::string> set, std::string row, std::shared_ptr<GivenFiles> files) {
            new (made) GivenExperiment{std::move(place), std::move(text), std::move(set), std::move(row),
                                       std::move(files)};
          },
          nb::arg("place"), nb::arg("text").none(), nb::arg("set"), nb::arg("row"), nb::arg("files").none());
  nb::class_<ModelGradientOptions>(module, "ModelGradientOptions")
      .def(nb::init<>())
      .def_rw("elements", &ModelGradientOptions::elements)
      .def_rw("projections", &ModelGradientOptions::projections);
  nb::class_<AnalysisOptions>(module, "AnalysisOptions")
      .def(nb::init<>())
      .def_rw("sequences", &AnalysisOptions::sequences)
      .def_rw("steps", &AnalysisOptions::steps)
      .def_rw("projections", &AnalysisOptions::projections)
      .def_rw("bins", &AnalysisOptions::bins)
      .def_rw("values", &AnalysisOptions::values);
  module.def("check", check, release);
  module.def("inspect", inspect, release);
  module.def("analyze", analyze, release);
  module.def("data", data);
  module.def("list", list);
  module.def("schema", [] { return experiment_schema().dump(); });
  module.def("experiment_of_run", [](const std::string& text, const std::string& folder) {
    Json experiment = parse_json(text, (std::filesystem::path(folder) / "experiment.json").string());
    make_paths_absolute(experiment, folder);
    return experiment.dump();
  });
  module.def("plain_json", [](const std::string& text, const std::string& where) {
    return parse_commented_json(text, where).dump();
  });
}

}  // namespace lagtape::python
