#include "lagtape/tools/train/experiment_reader.h"

#include <algorithm>
#include <new>
#include <set>

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
  return hints;
}

/// The folder and the seed with which a task is loaded, and the experiment's name for messages.
struct DataSurroundings {
  std::string where;
  fs::path base;
  std::uint64_t seed;

  TaskContext in(ThreadPool& pool) const { return {.base = base, .seed = seed, .pool = pool}; }
};

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

/// Reads one experiment, section by section. Errors are collected and thrown at the end.
class ExperimentReader {
 public:
  ExperimentReader(const Json& document, fs::path base)
      : document_(document), base_(std::move(base)), top_(document_, "", errors_) {}

  Experiment read(const std::string& where) {
    experiment_.where = where;
    top_.raw("$schema", "of an editor; not used");
    read_name();
    read_data();
    read_loss();
    read_model();
    read_metrics();
    read_optimizer_and_schedule();
    const Json train = section("train", "how to train");
    JsonReader reader(train, "/train", errors_);
    experiment_.train = read_train_options(reader, experiment_.fresh);
    check_truncation(reader);
    top_.fill("train", with_init(reader.filled()));
    if (experiment_.train.overfit > 0) restrict_data();
    top_.finish();
    errors_.raise(where);
    experiment_.document = std::make_shared<const Json>(in_order(top_.filled()));
    experiment_.model.precision = fitted_.definition.precision = experiment_.train.precision;
    if (experiment_.data_shape) experiment_.fitted = std::make_shared<const FittedModel>(std::move(fitted_));
    return std::move(experiment_);
  }

 private:
  /// The value of a key that holds an object; `missing` when there is none.
  Json section(const std::string& key, const std::string& about, Json missing = Json::object()) {
    const Json& value = top_.raw(key, about);
    return value.is_null() ? std::move(missing) : value;
  }

  void read_name() {
    top_.required("name", experiment_.name, "letters, digits, '.', '_' and '-'; names the run folder");
    if (value_at(document_, "/name").is_string() && !is_name(experiment_.name)) {
      top_.error("name",
                 text_of("expected up to 200 letters, digits, '.', '_' and '-', not '-' first. Got \"",
                         shortened(experiment_.name, 210), "\"."));
    }
    std::int64_t seed = 0;
    top_.optional("seed", seed, at_least(0), "of every random draw");
    experiment_.seed = static_cast<std::uint64_t>(seed);
  }

  void read_data() {
    const Json data = section("data", "the task and its options");
    JsonReader reader(data, "/data", errors_);
    const bool was_right = errors_.empty();
    const TaskLoader loader = read_task(reader, hints_of(document_));
    has_data_ = !was_right || errors_.empty();
    Json filled = reader.filled();
    for (const char* key : kDataPaths)
      if (filled.contains(key))
        for_each_path(filled[key], key, [&](const std::string& path) { return absolute(path, key, reader); });
    top_.fill("data", filled);
    experiment_.fresh = loader.fresh;
    experiment_.data_shape = loader.shape;
    const DataSurroundings context{experiment_.where, base_, experiment_.seed};
    experiment_.load_task = [loader, context](ThreadPool& pool) {
      return load_of(context.where, [&] { return loader.load(context.in(pool)); });
    };
    experiment_.load_to_score = [loader, context](ThreadPool& pool) {
      return load_of(context.where, [&] { return load_to_score(loader, context.in(pool)); });
    };
  }

  /// A path of the data, which starts at the folder of the file.
  std::string absolute(const std::string& given, const char* key, JsonReader& reader) {
    if (reader.has(key) && given.empty()) reader.error(key, "expected a path, got \"\".");
    return absolute(given, reader.pointer_to(key));
  }

  std::string absolute(const std::string& given, const std::string& pointer) {
    const std::string path = (base_ / given).lexically_normal().string();
    if (is_utf8(path)) return path;
    errors_.add(pointer, text_of("a path that is not UTF-8, which JSON cannot hold: ", quote(path, 200)));
    return "";
  }

  /// Reads the model after data and loss, which decide what the file leaves open. With an error so far, the
  /// model is read on its own.
  void read_model() {
    const Json& given = top_.raw("model", "layers and read-out");
    const Json& cells = top_.raw("cells", "cells defined by their equations");
    if (given.is_null()) top_.error("model", Problem{.rule = Rule::missing, .statement = "is missing."});
    if (!given.is_null()) experiment_.model = lagtape::read_model(given, cells, errors_);
    experiment_.model.loss = experiment_.loss;
    if (!errors_.empty()) return;
    if (experiment_.data_shape)
      fitted_ = fit(experiment_.model, widths_of(experiment_.loss, *experiment_.data_shape), errors_);
    top_.fill("model", json_of(experiment_.data_shape ? fitted_.definition : experiment_.model));
  }

  /// The read-out is known where the file or the data's shape decides it; else the trainer looks.
  void check_truncation(JsonReader& train) {
    const Json& at = value_at(top_.filled(), "/model/readout/at");
    if (experiment_.train.truncate > 0 && at == "mean") train.error("truncate", kTruncatedMean);
  }

  /// Makes the path of the weights to begin with absolute.
  Json with_init(Json train) {
    std::string& init = experiment_.train.init;
    if (init.empty()) return train;
    init = absolute(init, "/train/init");
    train["init"] = init;
    return train;
  }

  /// Replaces all sets by the first batches of the training set.
  void restrict_data() {
    const std::int64_t count =
        experiment_.train.overfit * experiment_.train.batch * experiment_.train.accumulate;
    experiment_.load_task = [load = experiment_.load_task, count](ThreadPool& pool) {
      Task task = load(pool);
      task.train = task.valid = task.test = first_sequences(task.train, count);
      return task;
    };
  }

  void read_loss() {
    const Json& given = top_.raw("loss", "what training makes small");
    if (!given.is_null()) {
      experiment_.loss = lagtape::read_loss(given, "/loss", errors_);
    } else if (experiment_.data_shape) {
      experiment_.loss = default_loss(*experiment_.data_shape);
    } else if (top_.is_object() && has_data_) {
      top_.error("loss", Problem{.rule = Rule::missing, .expected = "the name of a loss."});
    }
    if (experiment_.loss == Loss::none) return;
    experiment_.balanced_classes = value_at(document_, "/loss/class_weights") == "balanced";
    Json filled = json_of(experiment_.loss);
    if (experiment_.balanced_classes) {
      filled = {{"type", name_of(experiment_.loss)},
                {"class_weights", "balanced"},
                {"label_smoothing", experiment_.loss.options.label_smoothing}};
    }
    top_.fill("loss", std::move(filled));
    if (!experiment_.data_shape) return;
    if (!loss_fits(experiment_.loss, *experiment_.data_shape))
      top_.error("loss", mismatch(experiment_.loss, *experiment_.data_shape));
  }

  void read_metrics() {
    const Json& given =
        top_.raw("metrics", "what is reported beside the loss; the first decides which state is best");
    if (given.is_null()) {
      if (experiment_.loss == Loss::cross_entropy || experiment_.loss == Loss::binary_cross_entropy) {
        experiment_.metrics = {"accuracy"};
      }
    } else if (!given.is_array()) {
      top_.error("metrics", "expected a list of names.");
    } else {
      for (std::size_t i = 0; i < given.size(); ++i) read_metric(given[i], text_of("/metrics/", i));
    }
    top_.fill("metrics", experiment_.metrics);
  }

  void read_metric(const Json& given, const std::string& pointer) {
    if (!given.is_string()) {
      errors_.add(pointer, text_of("expected the name of a metric. Got ", given.dump(), "."));
      return;
    }
    const std::string name = given.get<std::string>();
    const std::optional<Metric> known = find_metric(name);
    if (!known) {
      errors_.add(pointer, unknown_name("metric", name, metric_names()));
    } else if (experiment_.loss != Loss::none && !known->applies(experiment_.loss)) {
      errors_.add(pointer, text_of("the metric ", name, " does not go with the loss ",
                                   name_of(experiment_.loss), "."));
    } else if (experiment_.metrics.empty() && !known->ranks_models) {
      errors_.add(pointer, text_of("the first metric decides which state is best, which ", name,
                                   " does not tell. Name another one first."));
    } else if (!metrics_.insert(name).second) {
      errors_.add(pointer, text_of("the metric ", name, " is there twice."));
    } else {
      experiment_.metrics.push_back(name);
    }
  }

  void read_optimizer_and_schedule() {
    const Json optimizer = section("optimizer", "how parameters follow their gradients", {{"type", "adam"}});
    JsonReader optimizer_reader(optimizer, "/optimizer", errors_);
    const OptimizerPlan plan = read_optimizer(optimizer_reader);
    experiment_.lr = plan.lr;
    experiment_.make_optimizer = plan.make;
    top_.fill("optimizer", optimizer_reader.filled());
    const Json schedule = section("schedule", "what the learning rate is multiplied by");
    JsonReader schedule_reader(schedule, "/schedule", errors_);
    experiment_.schedule = read_schedule(schedule_reader);
    if (schedule_reader.filled().value("type", "") == "plateau")
      experiment_.plateau_patience = schedule_reader.filled().value("patience", std::int64_t{0});
    top_.fill("schedule", schedule_reader.filled());
  }

  bool has_data_ = true;  ///< the data's options are right, as far as they were read
  const Json& document_;
  fs::path base_;
  JsonErrors errors_{synonyms()};
  JsonReader top_;
  Experiment experiment_;
  std::set<std::string> metrics_;
  FittedModel fitted_;  // fitted where the file decides the data's shape
};

}  // namespace

Experiment read_document(const Json& document, const std::string& where, const fs::path& base) {
  if (document.contains("experiment") && document.contains("ranges")) {
    throw InputError({where}, Rule::wrong_type,
                     "expected an experiment. This is the file of a search, which `lagtape search` takes.");
  }
  return ExperimentReader(document, base).read(where);
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
