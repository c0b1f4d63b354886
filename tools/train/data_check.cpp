#include "lagtape/tools/train/data_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/data/batches.h"
#include "lagtape/tools/train/score/equal_columns.h"

namespace lagtape {

namespace {

constexpr std::int64_t kMostSequences = 1000;
constexpr std::int64_t kMostNumbers = 20'000'000;
constexpr std::int64_t kAtOnce = 50;
constexpr std::int64_t kMostNamed = 10;

double percent(double share) { return std::round(share * 1000) / 10; }

/// Collects facts over batches of the training set, in the numbers that the model sees.
class Look {
 public:
  Look(const DataShape& shape, const Scaling& scaling, std::int64_t largest_lag)
      : shape_(shape),
        scaling_(scaling),
        largest_lag_(largest_lag),
        lowest_(static_cast<std::size_t>(shape.input), std::numeric_limits<double>::infinity()),
        highest_(lowest_.size(), -std::numeric_limits<double>::infinity()),
        equal_(shape.input, shape.output) {}

  void add(const Batch& batch) {
    for (std::int64_t row = 0; row < batch.size(); ++row) {
      const std::int64_t steps = batch.lengths[static_cast<std::size_t>(row)];
      sequences_ += 1;
      if (steps < std::min(largest_lag_, shape_.length)) short_ += 1;
      for (std::int64_t n = 0; n < steps; ++n) add_step(batch, row, n, n == steps - 1);
    }
    for (const std::int32_t target : batch.classes)
      if (target >= 0) classes_[target] += 1;
  }

  void report(DataCheck& check) const {
    report_constant(check);
    report_far(check);
    report_equal(check);
    if (short_ > 0)
      check.warnings.push_back(text_of(short_, " of ", sequences_,
                                       " sequences are shorter than the largest lag, ", largest_lag_,
                                       " steps"));
    if (shape_.classes > 0) report_classes(check);
    report_missing(check);
    report_scale(check);
  }

 private:
  void add_step(const Batch& batch, std::int64_t row, std::int64_t n, bool is_last) {
    const std::int64_t step = row * batch.x.size(1) + n;
    const auto part = [](const Tensor& tensor, std::int64_t index, std::int64_t count) {
      return tensor.values<double>().subspan(static_cast<std::size_t>(index * count),
                                             static_cast<std::size_t>(count));
    };
    const auto x = part(batch.x, step, shape_.input);
    if (shape_.output > 0 && (shape_.every_step || is_last)) {
      const auto y = part(batch.y, shape_.every_step ? step : row, shape_.output);
      equal_.add(x, y);
      for (const double target : y) {
        missing_ += std::isnan(target) ? 1 : 0;
        if (std::isnan(target)) continue;
        targets_ += 1;
        squares_ += target * target;
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      lowest_[i] = std::min(lowest_[i], x[i]);
      highest_[i] = std::max(highest_[i], x[i]);
    }
  }

  void report_constant(DataCheck& check) const {
    std::int64_t constant = 0;
    for (std::size_t i = 0; i < lowest_.size(); ++i) {
      if (lowest_[i] != highest_[i] || ++constant > kMostNamed) continue;
      check.warnings.push_back(
          text_of("input ", i, " is ", lowest_[i], " at every step: it carries no information"));
    }
    if (constant > kMostNamed)
      check.warnings.push_back(
          text_of(constant, " inputs in all are the same at every step: they carry no information"));
  }

  /// Names numbers that are so far from the others that they are rather codes, or faults of a sensor.
  void report_far(DataCheck& check) const {
    constexpr double kFar = 15;
    std::int64_t far = 0;
    for (std::size_t i = 0; i < lowest_.size() && i < scaling_.scale.size(); ++i) {
      const double z = -lowest_[i] > highest_[i] ? lowest_[i] : highest_[i];
      if (std::abs(z) < kFar || ++far > kMostNamed) continue;
      check.warnings.push_back(text_of("input ", i, " is ", z * scaling_.scale[i] + scaling_.mean[i],
                                       " somewhere, ", std::round(std::abs(z)),
                                       " standard deviations from its mean: if that is a code or a fault, "
                                       "leave such cells empty"));
    }
    if (far > kMostNamed)
      check.warnings.push_back(text_of(far, " inputs in all have numbers so far from their means"));
  }

  void report_equal(DataCheck& check) const {
    for (const auto& [input, target] : equal_.pairs(kMostNamed))
      check.warnings.push_back(text_of("input ", input, " is target ", target,
                                       " of the same step: the model is given what it should predict"));
    if (equal_.count() > kMostNamed)
      check.warnings.push_back(
          text_of(equal_.count(), " pairs of an input and a target in all are the same at every step"));
    if (equal_.given_up() > 0)
      check.notes.push_back(
          text_of(equal_.given_up(), " targets with gaps were not compared with the inputs: too many agree"));
  }

  void report_missing(DataCheck& check) const {
    if (missing_ > 0)
      check.notes.push_back(text_of(percent(missing_ / (missing_ + targets_)),
                                    " % of the targets are missing: they count in neither loss nor metrics"));
  }

  void report_classes(DataCheck& check) const {
    constexpr double kRare = 0.2;  // of the share that every class would have if all were equally frequent
    constexpr std::int64_t kMostShown = 20;
    double all = 0;
    for (const auto& [target, count] : classes_) all += count;
    std::string shares;
    for (std::int32_t target = 0; target < shape_.classes; ++target) {
      const auto found = classes_.find(target);
      const double share = found == classes_.end() ? 0 : found->second / all;
      if (target < kMostShown) shares += text_of(target == 0 ? "" : ", ", target, ": ", percent(share), " %");
      if (share >= kRare / static_cast<double>(shape_.classes) || shape_.classes > kMostShown) continue;
      check.warnings.push_back(
          text_of("class ", target, " has ", percent(share), " % of the targets; accuracy hides it, ",
                  "the metrics f1 and f1_", target, " do not; \"sampling\": \"balanced\" ",
                  "draws it more often, and class_weights \"balanced\" of the loss ", "count it for more"));
    }
    check.notes.push_back(text_of("classes ", shares, shape_.classes > kMostShown ? ", ..." : ""));
  }

  void report_scale(DataCheck& check) const {
    constexpr double kFar = 100;
    if (targets_ == 0) return;
    const double size = std::sqrt(squares_ / targets_);
    if (size > kFar || (size > 0 && size < 1 / kFar))
      check.warnings.push_back(text_of("targets are of the size ", size,
                                       ", a model's first outputs are near 1; ",
                                       "\"normalize_target\": true in \"data\" scales them"));
  }

  const DataShape& shape_;
  const Scaling& scaling_;  ///< the scaling by which the inputs were normalized
  std::int64_t largest_lag_, sequences_ = 0, short_ = 0;
  std::vector<double> lowest_, highest_;
  EqualColumns equal_;
  std::map<std::int32_t, double> classes_;
  double targets_ = 0, squares_ = 0, missing_ = 0;
};

std::string size_of(const Dataset& set) {
  return set.size() == Dataset::kUnlimited ? "fresh sequences" : text_of(set.size(), " sequences");
}

}  // namespace

DataCheck check_data(const Task& task, const Model& model, ThreadPool& pool) {
  std::int64_t largest_lag = 0;
  for (const LayerSummary& layer : model.layers()) largest_lag = std::max(largest_lag, layer.largest_lag());
  Look look(task.shape, task.normalization.input, largest_lag);
  const std::int64_t readable =
      std::max<std::int64_t>(kMostNumbers / (task.shape.length * task.shape.input), 1);
  const std::int64_t count = std::min({task.train->size(), kMostSequences, readable});
  for (std::int64_t first = 0; first < count; first += kAtOnce) {
    const auto indices = indices_in_order(*task.train, first, std::min(kAtOnce, count - first));
    look.add(gather(*task.train, indices, Dtype::f64, pool, task.normalization));
  }
  DataCheck check;
  check.notes.push_back(text_of("train ", size_of(*task.train), ", valid ", size_of(*task.valid), ", test ",
                                size_of(*task.test), "; up to ", task.shape.length, " steps"));
  look.report(check);
  return check;
}

}  // namespace lagtape
