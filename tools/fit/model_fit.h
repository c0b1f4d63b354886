#pragma once

#include <memory>
#include <vector>

#include "lagtape/core/thread_pool.h"
#include "lagtape/tools/fit/fit.h"
#include "lagtape/tools/fit/fit_section.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The fit of all numbers of an experiment's model that are trained to the training set, in f64: residuals by running the
/// model, their derivatives by running its tangents beside it (ops/recurrence/derive/tangent_stack.h). Names of params
/// are the model's, without "layers.N." where that is clear, "W[2,0]" for one number of a matrix, and "y0 of a.csv" for
/// one that is a series' own.
class ModelFit final : public FitProblem {
 public:
  /// The most numbers that are fitted.
  static constexpr std::int64_t kMostNumbers = 64;

  /// Throws InputError for a model, data or a section "fit" that it does not serve.
  ModelFit(const Experiment& experiment, ThreadPool& pool, const FitSection& section = {});
  ~ModelFit() override;

  const std::vector<FitParam>& params() const override;
  std::vector<double> residuals(std::span<const double> values) override;
  DenseMatrix jacobian(std::span<const double> values) override;
  bool has_deviations() const override;
  /// Whether some numbers are each series' own.
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
