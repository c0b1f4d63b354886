#include "lagtape/tools/train/experiment_reader.h"

#include <algorithm>
#include <new>
#include <unordered_set>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/loss_json.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/out_of_memory.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/joined.h"
#include "lagtape/data/tasks/registry.h"
#include "lagtape/optim/registry.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/score/metrics.h"
#include "lagtape/tools/train/synonyms.h"

namespace lagtape {

namespace fs = std::filesystem;

namespace {

bool is_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name[0] != '-' && name != "." && name != ".." && name.size() <= kLongest &&
         std::all_of(name.begin(), name.end(), allowed);
}

/// The longest of the lags `tau` that layers have, and those inside them.
std::int64_t longest_lag(const Json& layers) {
  std::int64_t longest = 0;
  if (layers.is_object() || layers.is_array())
    for (const auto& [key, value] : layers.items())
      longest = std::max(longest, layers.is_object() && key == "tau" && value.is_number_integer()
                                      ? value.get<std::int64_t>()
                                      : longest_lag(value));
  return longest;
}

/// The values that the defaults of a task depend on. Peeked at here; the readers of `train`
/// and `model` report errors later.
TaskHints hints_of(const Json& document) {
  TaskHints hints{.batch = TrainOptions{}.batch};
  const Json& batch = value_at(document, "/train/batch");
  if (batch.is_number_integer() && batch.get<std::int64_t>() >= 1) hints.batch = batch.get<std::int64_t>();
  hints.every_step = value_at(document, "/model/readout/at") == "every_step";
  const Json& given = value_at(document, "/loss");
  const Json& loss = given.is_object() ? value_at(document, "/loss/type") : given;
  hints.real_loss = loss != name_of(Loss::cross_entropy) && loss != name_of(Loss::binary_cross_entropy);
  hints.counts = loss == name_of(Loss::negative_binomial);
  if (value_at(document, "/train/precision") == name_of(Dtype::f64)) hints.dtype = Dtype::f64;
  hints.lag = longest_lag(value_at(document, "/model/layers"));
  return hints;
}

/// Loads data; a message about a setting of theirs begins with the file's name, and data that do not fit into the
/// memory are an error of the file.
Task load_of(const std::string& where, const std::function<Task()>& load) try {
  return load();
} catch (const InputError& error) {
  const Place& place = error.problems().front().place;
  if (!place.file.empty() || place.pointer.empty()) throw;
  throw error.within({where});
} catch (const OutOfMemory& error) {
  throw InputError({.file = where, .pointer = "/data"}, Rule::no_memory,
                   text_of("the data do not fit into the memory: ", error.what()));
} catch (const std::bad_alloc&) {
  throw InputError({.file = where, .pointer = "/data"}, Rule::no_memory,
                   "the data do not fit into the memory.");
}

/// The sections in the order in which they are best read: the data, the model, the training.
Json in_order(const Json& filled) {
  Json ordered = Json::object();
  for (const char* key : {"$schema", "name", "seed", "data", "cells", "model", "loss", "metrics", "optimizer",
                          "schedule", "train"}) {
    if (filled.contains(key)) ordered[key] = filled[key];
  }
  return ordered;
}

/// Whether a loss has the class weights that the training set decides.
bool is_balanced(const Json& loss) { return value_at(loss, "/class_weights") == "balanced"; }

/// Reads the object of a section, `missing` where there is none, and fills it in.
auto read_section(JsonReader& top, const std::string& key, const std::string& about, const auto& read,
                  const Json& missing = Json::object()) {
  const Json& given = top.raw(key, about);
  JsonReader reader(given.is_null() ? missing : given, "/" + key, top.errors());
  auto section = read(reader);
  top.fill(key, reader.filled());
  return section;
}

std::string read_name(JsonReader& top, const Json& document) {
  std::string name;
  top.required("name", name, "letters, digits, '.', '_' and '-'; names the run folder");
  if (value_at(document, "/name").is_string() && !is_name(name)) {
    top.error("name", text_of("expected up to 200 letters, digits, '.', '_' and '-', not '-' first. Got \"",
                              shortened(name, 210), "\"."));
  }
  return name;
}

std::uint64_t read_seed(JsonReader& top) {
  std::int64_t seed = 0;
  top.optional("seed", seed, at_least(0), "of every random draw");
  return static_cast<std::uint64_t>(seed);
}

DataSection data_section(JsonReader& top, const TaskHints& hints, const std::string& where,
                         const fs::path& base) {
  const TaskLoader loader = read_section(top, "data", "the task and its options", [&](JsonReader& reader) {
    TaskLoader task = read_task(reader, hints);
    Json filled = reader.filled();
    for (const char* key : kDataPaths) {
      if (!reader.has(key) || !filled.contains(key) || names_columns(filled["task"], key)) continue;
      for_each_path(filled[key], key, [&](const std::string& path) {
        if (path.empty()) reader.error(key, "expected a path, got \"\".");
        return path;
      });
    }
    return task;
  });
  const auto loading = [&](std::function<Task(const TaskContext&)> load) -> TaskLoading {
    return [load = std::move(load), where, base](ThreadPool& pool, std::uint64_t seed,
                                                 const SeriesNormalizations* known) {
      return load_of(where, [&] { return load({.base = base, .seed = seed, .pool = pool, .known = known}); });
    };
  };
  return {.fresh = loader.fresh,
          .of_series = loader.of_series,
          .shape = loader.shape,
          .load = loading(loader.load),
          .load_to_score =
              loading([loader](const TaskContext& context) { return load_to_score(loader, context); })};
}

/// Reads the loss, which the data decide where there is none. `is_known`: the data's options were read without an error.
LossFunction loss_section(JsonReader& top, const DataSection& section, bool is_known) {
  const std::optional<DataShape>& data = section.shape;
  const Json& given = top.raw("loss", "the function that training minimizes");
  LossFunction loss;
  if (!given.is_null()) {
    loss = read_loss(given, "/loss", top.errors());
  } else if (data || section.of_series) {
    loss = default_loss(data.value_or(DataShape{.output = 1}));  // series have real targets
  } else if (top.is_object() && is_known) {
    top.error("loss", Problem{.rule = Rule::missing, .expected = "the name of a loss."});
  }
  if (loss == Loss::none) return loss;
  Json filled = json_of(loss);
  if (is_balanced(given))
    filled = {{"type", name_of(loss)},
              {"class_weights", "balanced"},
              {"label_smoothing", loss.options.label_smoothing}};
  top.fill("loss", std::move(filled));
  if (data && !loss_fits(loss, *data)) top.error("loss", mismatch(loss, *data));
  return loss;
}

/// Reads the model after data and loss, which decide what the file leaves open, and fits it where the data's shape is
/// known. With an error so far, the model is read on its own.
FittedModel model_section(JsonReader& top, Experiment& experiment) {
  const Json& given = top.raw("model", "layers and read-out");
  const Json& cells = top.raw("cells", "cells defined by their equations");
  if (given.is_null()) top.error("model", Problem{.rule = Rule::missing, .statement = "is missing."});
  if (!given.is_null()) experiment.model = read_model(given, cells, top.errors());
  experiment.model.loss = experiment.loss;
  FittedModel fitted;
  if (!top.errors().empty()) return fitted;
  if (const auto& shape = experiment.data.shape)
    fitted = fit(experiment.model, widths_of(experiment.loss, *shape), top.errors());
  top.fill("model", json_of(experiment.data.shape ? fitted.definition : experiment.model));
  return fitted;
}

/// The reason why a metric cannot follow the ones before it, if there is one.
std::optional<Problem> obstacle_to(const std::string& name, const std::unordered_set<std::string>& before,
                                   const LossFunction& loss, bool of_series, const JsonErrors& words) {
  const auto conflict = [](std::string text) {
    return Problem{.rule = Rule::conflict, .statement = std::move(text)};
  };
  const std::optional<Metric> known = find_metric(name);
  if (!known) return words.unknown("metric", name, metric_names(), "/metrics");
  if (loss != Loss::none && !known->applies(loss))
    return conflict(text_of("the metric ", name, " does not go with the loss ", name_of(loss), "."));
  if (known->need == MetricNeed::naive_errors && !of_series)
    return conflict(text_of("the metric ", name,
                            " divides errors by those of the seasonal naive forecast, which "
                            "the task series alone has."));
  if (before.empty() && !known->ranks_models)
    return conflict(text_of("the first metric decides which state is best, which ", name,
                            " does not tell. Name another one first."));
  if (before.contains(name)) return conflict(text_of("the metric ", name, " is there twice."));
  return std::nullopt;
}

std::vector<std::string> metrics_section(JsonReader& top, const LossFunction& loss, bool of_series) {
  const Json& given =
      top.raw("metrics", "numbers reported beside the loss; the first decides which state is best");
  std::vector<std::string> metrics;
  std::unordered_set<std::string> named;
  if (given.is_null() && (loss == Loss::cross_entropy || loss == Loss::binary_cross_entropy))
    metrics = {"accuracy"};
  if (!given.is_null() && !given.is_array()) top.error("metrics", "expected a list of names.");
  for (std::size_t i = 0; given.is_array() && i < given.size(); ++i) {
    const std::string pointer = text_of("/metrics/", i);
    if (!given[i].is_string()) {
      top.errors().add(pointer, text_of("expected the name of a metric. Got ", given[i].dump(), "."));
      continue;
    }
    const std::string name = given[i].get<std::string>();
    if (const auto obstacle = obstacle_to(name, named, loss, of_series, top.errors())) {
      top.errors().add(pointer, *obstacle);
    } else {
      metrics.push_back(name);
      named.insert(name);
    }
  }
  top.fill("metrics", metrics);
  return metrics;
}

TrainOptions train_section(JsonReader& top, const Experiment& experiment) {
  return read_section(top, "train", "how to train", [&](JsonReader& reader) {
    const TrainOptions train = read_train_options(reader, experiment.data.fresh);
    // The data make no model of another read-out read the mean of its steps.
    if (train.truncate > 0 && experiment.model.readout.at == ReadAt::mean)
      reader.error("truncate", kTruncatedMean);
    return train;
  });
}

/// The first batches of the training set in place of all sets.
TaskLoading restricted(TaskLoading load, const TrainOptions& train) {
  const std::int64_t count = train.overfit * train.batch * train.accumulate;
  return [load = std::move(load), count](ThreadPool& pool, std::uint64_t seed,
                                         const SeriesNormalizations* known) {
    Task task = load(pool, seed, known);
    task.train = task.valid = task.test = first_sequences(task.train, count);
    return task;
  };
}

}  // namespace

Experiment read_document(const Json& document, const std::string& where, const fs::path& base) {
  if (document.contains("experiment") && document.contains("ranges")) {
    throw InputError({where}, Rule::wrong_type,
                     "expected an experiment. This is the file of a search, which `lagtape search` takes.");
  }
  JsonErrors errors(synonyms());
  JsonReader top(document, "", errors);
  top.raw("$schema", "of an editor; not used");
  Experiment experiment;
  experiment.where = where;
  experiment.name = read_name(top, document);
  experiment.seed = read_seed(top);
  const bool was_right = errors.empty();
  experiment.data = data_section(top, hints_of(document), where, base);
  experiment.loss = loss_section(top, experiment.data, !was_right || errors.empty());
  experiment.balanced_classes = experiment.loss != Loss::none && is_balanced(value_at(document, "/loss"));
  FittedModel fitted = model_section(top, experiment);
  experiment.metrics = metrics_section(top, experiment.loss, experiment.data.of_series);
  experiment.optimizer = read_section(top, "optimizer", "the rule by which parameters follow their gradients",
                                      read_optimizer, {{"type", "adam"}});
  experiment.schedule =
      read_section(top, "schedule", "the factor of the learning rate over time", read_schedule);
  experiment.train = train_section(top, experiment);
  if (experiment.train.overfit > 0)
    experiment.data.load = restricted(std::move(experiment.data.load), experiment.train);
  top.finish();
  Json filled = in_order(top.filled());
  begin_paths_at(filled, base, errors);
  errors.raise(where);
  experiment.train.init = filled["train"]["init"].get<std::string>();
  experiment.document = std::make_shared<const Json>(std::move(filled));
  experiment.model.precision = fitted.definition.precision = experiment.train.precision;
  if (experiment.data.shape) experiment.fitted = std::make_shared<const FittedModel>(std::move(fitted));
  return experiment;
}

const Json& document_of(const Experiment& experiment) {
  if (experiment.document) return *experiment.document;
  throw InputError({experiment.where}, Rule::not_supported,
                   "was filled in C++. This takes an experiment that was read.");
}

void leave_out_reports(Json& experiment) {
  if (experiment.contains("train")) erase_keys(experiment["train"], kTrainOptions, Effect::reports);
}

}  // namespace lagtape
