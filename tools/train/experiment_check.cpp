#include "lagtape/tools/train/experiment_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/data/series/series_options.h"
#include "lagtape/data/series/windows.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/score/equal_columns.h"
#include "lagtape/tools/train/warnings.h"

namespace lagtape {

namespace {

constexpr std::int64_t kMostNamed = 10;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double percent(double share) { return std::round(share * 1000) / 10; }

/// Facts about the sequences of the training set, in the numbers that the model sees.
struct Facts {
  const DataShape& shape;
  std::int64_t largest_lag = 0;  ///< of the model
  std::int64_t sequences = 0, too_short = 0;
  std::vector<double> lowest = std::vector<double>(static_cast<std::size_t>(shape.input), kInfinity);
  std::vector<double> highest = std::vector<double>(lowest.size(), -kInfinity);  ///< of each input
  EqualColumns equal = {shape.input, shape.output};
  std::map<std::int32_t, double> classes = {};
  double targets = 0, squares = 0, missing = 0;  ///< of real targets

  void add(const Batch& batch) {
    for (std::int64_t row = 0; row < batch.size(); ++row) {
      const std::int64_t steps = batch.lengths[static_cast<std::size_t>(row)];
      sequences += 1;
      if (steps < std::min(largest_lag, shape.length)) too_short += 1;
      for (std::int64_t n = 0; n < steps; ++n) add_step(batch, row, n, n == steps - 1);
    }
    for (const std::int32_t target : batch.classes)
      if (target >= 0) classes[target] += 1;
  }

  void add_step(const Batch& batch, std::int64_t row, std::int64_t n, bool is_last) {
    const std::int64_t step = row * batch.x.size(1) + n;
    const auto part = [](const Tensor& tensor, std::int64_t index, std::int64_t count) {
      return tensor.values<double>().subspan(static_cast<std::size_t>(index * count),
                                             static_cast<std::size_t>(count));
    };
    const auto x = part(batch.x, step, shape.input);
    if (shape.output > 0 && (shape.every_step || is_last)) {
      const auto y = part(batch.y, shape.every_step ? step : row, shape.output);
      equal.add(x, y);
      for (const double target : y) {
        missing += std::isnan(target) ? 1 : 0;
        if (std::isnan(target)) continue;
        targets += 1;
        squares += target * target;
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      lowest[i] = std::min(lowest[i], x[i]);
      highest[i] = std::max(highest[i], x[i]);
    }
  }
};

using Texts = std::vector<std::string>;

/// Adds the first of the texts, and how many there are in all where those are more.
void add_some(Texts& texts, const Texts& found, const char* all) {
  for (std::int64_t i = 0; i < std::min(kMostNamed, std::ssize(found)); ++i)
    texts.push_back(found[static_cast<std::size_t>(i)]);
  if (std::ssize(found) > kMostNamed) texts.push_back(text_of(found.size(), all));
}

Texts constant_inputs(const Facts& facts, const ColumnTexts& names) {
  Texts texts;
  for (std::size_t i = 0; i < facts.lowest.size(); ++i)
    if (facts.lowest[i] == facts.highest[i] &&
        names.input(static_cast<std::int64_t>(i)) != text_of("input '", kNothing, "'"))
      texts.push_back(text_of(names.input(static_cast<std::int64_t>(i)), " is ", facts.lowest[i],
                              " at every step: it carries no information"));
  return texts;
}

/// Names numbers that are so far from the others that they are rather codes, or faults of a sensor. `scaling` is that by
/// which the inputs were normalized.
Texts far_inputs(const Facts& facts, const Scaling& scaling, const ColumnTexts& names) {
  constexpr double kFar = 15;
  Texts texts;
  for (std::size_t i = 0; i < facts.lowest.size() && i < scaling.scale.size(); ++i) {
    const double z = -facts.lowest[i] > facts.highest[i] ? facts.lowest[i] : facts.highest[i];
    if (std::abs(z) >= kFar)
      texts.push_back(text_of(names.input(static_cast<std::int64_t>(i)), " is ",
                              z * scaling.scale[i] + scaling.mean[i], " somewhere, ", std::round(std::abs(z)),
                              " standard deviations from its mean: if that is a code or a fault, leave such "
                              "cells empty"));
  }
  return texts;
}

void check_equal(const EqualColumns& equal, const ColumnTexts& names, ExperimentCheck& check) {
  for (const auto& [input, target] : equal.pairs(kMostNamed))
    check.warnings.push_back(text_of(names.input(input), " is ", names.target(target),
                                     " of the same step: the model is given what it should predict"));
  if (equal.count() > kMostNamed)
    check.warnings.push_back(
        text_of(equal.count(), " pairs of an input and a target in all are the same at every step"));
  if (equal.given_up() > 0)
    check.notes.push_back(
        text_of(equal.given_up(), " targets with gaps were not compared with the inputs: too many agree"));
}

void check_classes(const Facts& facts, ExperimentCheck& check) {
  constexpr double kRare = 0.2;  // of the share that every class would have if all were equally frequent
  constexpr std::int64_t kMostShown = 20;
  const std::int64_t classes = facts.shape.classes;
  double all = 0;
  for (const auto& [target, count] : facts.classes) all += count;
  std::string shares;
  for (std::int32_t target = 0; target < std::min(classes, kMostShown); ++target) {
    const auto found = facts.classes.find(target);
    const double share = found == facts.classes.end() ? 0 : found->second / all;
    const std::string name = facts.shape.name_of_class(target);
    shares += text_of(target == 0 ? "" : ", ", name, ": ", percent(share), " %");
    if (share >= kRare / static_cast<double>(classes) || classes > kMostShown) continue;
    check.warnings.push_back(
        text_of("class ", name, " has ", percent(share), " % of the targets; accuracy hides it, ",
                "the metrics f1 and ", facts.shape.class_names.empty() ? "f1_" + name : "f1[" + name + "]",
                " do not; \"sampling\": \"balanced\" ",
                "draws it more often, and class_weights \"balanced\" of the loss ", "count it for more"));
  }
  check.notes.push_back(text_of("classes ", shares, classes > kMostShown ? ", ..." : ""));
}

void check_scale(const Facts& facts, ExperimentCheck& check) {
  constexpr double kFar = 100;
  const double size = std::sqrt(facts.squares / facts.targets);  // NaN without targets
  if (size > kFar || (size > 0 && size < 1 / kFar))
    check.warnings.push_back(text_of("targets are of the size ", size,
                                     ", a model's first outputs are near 1; ",
                                     "\"normalize_target\": true in \"data\" scales them"));
}

/// Looks at the first sequences of the training set.
Facts facts_of(const Task& task, const Model& model, ThreadPool& pool) {
  constexpr std::int64_t kMostSequences = 1000, kMostNumbers = 20'000'000, kAtOnce = 50;
  Facts facts{.shape = task.shape};
  for (const LayerSummary& layer : model.layers())
    facts.largest_lag = std::max(facts.largest_lag, layer.largest_lag());
  const std::int64_t readable =
      std::max<std::int64_t>(kMostNumbers / (task.shape.length * task.shape.input), 1);
  const std::int64_t count = std::min({task.train->size(), kMostSequences, readable});
  for (std::int64_t first = 0; first < count; first += kAtOnce) {
    const auto indices = indices_in_order(*task.train, first, std::min(kAtOnce, count - first));
    facts.add(gather(*task.train, indices, Dtype::f64, pool, task.normalization));
  }
  return facts;
}

std::string size_of(const Dataset& set) {
  return set.size() == Dataset::kUnlimited ? "fresh sequences" : text_of(set.size(), " sequences");
}

void check_data(const Task& task, const Model& model, ThreadPool& pool, ExperimentCheck& check) {
  const Facts facts = facts_of(task, model, pool);
  const ColumnTexts names(task, data_of(model));
  check.notes.push_back(text_of("train ", size_of(*task.train), ", valid ", size_of(*task.valid), ", test ",
                                size_of(*task.test), "; up to ", task.shape.length, " steps"));
  add_some(check.warnings, constant_inputs(facts, names),
           " inputs in all are the same at every step: they carry no information");
  add_some(check.warnings, far_inputs(facts, task.normalization.input, names),
           " inputs in all have numbers so far from their means");
  check_equal(facts.equal, names, check);
  if (facts.too_short > 0)
    check.warnings.push_back(text_of(facts.too_short, " of ", facts.sequences,
                                     " sequences are shorter than the largest lag, ", facts.largest_lag,
                                     " steps"));
  if (task.shape.classes > 0) check_classes(facts, check);
  if (facts.missing > 0)
    check.notes.push_back(text_of(percent(facts.missing / (facts.missing + facts.targets)),
                                  " % of the targets are missing: they count in neither loss nor metrics"));
  const TargetDistribution* distribution = model.loss().distribution();
  if (distribution == nullptr || !distribution->of_counts) check_scale(facts, check);
}

}  // namespace

ExperimentCheck check_experiment(const Experiment& experiment, ThreadPool& pool) {
  TrainingSetup setup = set_up(experiment, pool);
  // Few parameters are drawn, since a range of first values may be one that they cannot have.
  constexpr std::int64_t kMostDrawn = 1 << 22;
  Model& model = setup.model;
  if (model.parameters().count() <= kMostDrawn) model.draw(setup.experiment.seed);
  ExperimentCheck found{.cost = training_cost(setup.experiment, model)};
  start_from_files(setup, pool);
  found.words = setup.words;
  found.weights = setup.weights;
  const Trainer trainer(setup.experiment, setup.task, model, pool);
  found.warnings = training_warnings(trainer, model, setup.task);
  found.notes = setup.task.notes;
  if (const auto* windows = dynamic_cast<const WindowDataset*>(setup.task.train.get()))
    found.left_out = 1 - static_cast<double>(windows->series_count()) /
                             static_cast<double>(windows->panel().series.size());
  check_data(setup.task, model, pool, found);
  return found;
}

}  // namespace lagtape
