#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "lagtape/tools/train/trainer.h"

namespace lagtape {

/// Six epochs of three updates.
inline constexpr const char* kSmallSeries = R"({
  "name": "series", "seed": 3,
  "data": { "task": "mackey_glass", "length": 60, "train": 20, "valid": 5, "test": 3 },
  "model": { "layers": [ { "cell": "tau_gru", "units": 6, "tau": 4 } ] },
  "metrics": [ "rmse" ],
  "optimizer": { "type": "adam", "lr": 0.02 },
  "train": { "epochs": 6, "batch": 8 } })";

/// An experiment with all that its training needs.
struct Run {
  Experiment experiment;
  ThreadPool pool;
  Task task;
  Model model;
  Trainer trainer;

  explicit Run(const std::string& text, const std::vector<std::string>& set = {}, int threads = 2)
      : experiment(parse_experiment(text, "test", "/", set)),
        pool(threads),
        task(experiment.load_task(pool)),
        model(build_model(experiment, task.shape)),
        trainer(experiment, task, model, pool) {}

  std::vector<EvaluationReport> train() {
    std::vector<EvaluationReport> reports;
    trainer.run({.evaluated = [&](const EvaluationReport& report) { reports.push_back(report); }});
    return reports;
  }
};

inline bool same_bits(const Tensor& x, const Tensor& y) {
  return x.shape() == y.shape() && x.dtype() == y.dtype() &&
         std::memcmp(x.raw(), y.raw(), x.numel() * byte_size(x.dtype())) == 0;
}

inline bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return same_bits(x, y); });
}

inline bool same_bits(const Parameters& a, const Parameters& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Parameter& x, const Parameter& y) {
    return x.name == y.name && same_bits(x.value, y.value);
  });
}

}  // namespace lagtape
