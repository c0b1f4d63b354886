#pragma once

#include <memory>
#include <vector>

#include "lagtape/core/thread_pool.h"
#include "lagtape/tools/fit/fit.h"
#include "lagtape/tools/fit/fit_section.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// Fits all trained numbers of an experiment's model to the training set, in f64: residuals come from running
/// the model, their derivatives from running its tangents alongside (ops/recurrence/derive/tangent_stack.h).
/// Params have the model's names, without "layers.N." if that is unambiguous, "W[2,0]" for one number of a
/// matrix, and "y0 of a.csv" for one specific to a series.
class ModelFit final : public FitProblem {
 public:
  /// The maximum number of fitted numbers.
  static constexpr std::int64_t kMostNumbers = 64;

  /// Throws InputError for a model, data or a section "fit" that it does not support.
  ModelFit(const Experiment& experiment, ThreadPool& pool, const FitSection& section = {});
  ~ModelFit() override;

  const std::vector<FitParam>& params() const override;
  std::vector<double> residuals(std::span<const double> values) override;
  DenseMatrix jacobian(std::span<const double> values) override;
  bool has_deviations() const override;
  /// Whether some numbers are specific to each series.
  bool has_own() const;
  std::vector<FitTrace> traces(std::span<const double> values) override;
  void start_from(std::span<const double> values) override;
  bool fix(const std::string& param, double value) override;
  /// The model, with the values of the last call.
  const Model& model() const;
  const Experiment& experiment() const;  ///< of the model

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape
