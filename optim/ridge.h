#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lagtape/optim/levenberg_marquardt.h"
#include "lagtape/optim/optimizer.h"

namespace lagtape {

struct RidgeOptions {
  double alpha = 1e-6;  ///< penalty of the squared weights, >= 0
};

/// Does not make updates: with it the trainer solves for a linear read-out exactly, in one pass over the data,
/// and leaves all other parameters unchanged (optim/ridge_readout.h).
class Ridge final : public Optimizer {
 public:
  Ridge(const Parameters& parameters, const RidgeOptions& options)
      : Optimizer(parameters, {}, {}), options_(options) {}
  double alpha() const { return options_.alpha; }

 private:
  void update(Parameter& parameter, std::span<Tensor> slots, double lr) override;
  RidgeOptions options_;
};

/// The sums that determine the W and b that minimize sum |y - W x - b|^2 + alpha |W|^2, for x [in], y [out], in
/// f64.
class RidgeSums {
 public:
  RidgeSums(std::int64_t in, std::int64_t out);

  void add(std::span<const double> x, std::span<const double> y);
  std::int64_t count() const { return count_; }

  struct Solution {
    DenseMatrix weights;  ///< [out, in]
    std::vector<double> bias;
    double mean_square = 0;  ///< of the elements of y - W x - b
  };
  /// Throws InputError if alpha is 0 and the columns of x are linearly dependent.
  Solution solve(double alpha) const;

 private:
  std::int64_t in_, out_, count_ = 0;
  DenseMatrix sums_;  // lower triangle of the sum of (1, x, y) (1, x, y)^T
};

}  // namespace lagtape
