#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace lagtape {

/// A matrix [rows, cols], row by row.
struct DenseMatrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> values = {};

  DenseMatrix() = default;
  DenseMatrix(std::int64_t rows, std::int64_t cols) : rows(rows), cols(cols), values(rows * cols) {}
  double& at(std::int64_t row, std::int64_t col) { return values[row * cols + col]; }
  double at(std::int64_t row, std::int64_t col) const { return values[row * cols + col]; }
};

/// Residuals [n] as a function of numbers u [p], and their derivatives [n, p].
struct LeastSquares {
  std::function<std::vector<double>(std::span<const double> u)> residuals;
  std::function<DenseMatrix(std::span<const double> u)> jacobian;
};

/// The cost of a residual r: r^2 / 2; with a robust loss, about |r| beyond 1: half of the following, with z =
/// r^2: huber 2 sqrt(z) - 1 for z >= 1, soft_l1 2 (sqrt(1 + z) - 1).
enum class RobustLoss : std::uint8_t { none, huber, soft_l1 };

struct LevenbergMarquardtOptions {
  std::int64_t most = 200;  ///< trial steps
  double gain = 1e-12;      ///< it stops when a step lowers the cost by at most this fraction
  double step = 1e-10;      ///< ... or moves u by at most this fraction
  double gradient =
      1e-12;  ///< ... or every column of J is this close to orthogonal to the residuals (cosine)
  double first_damping = 1e-3;
  std::vector<double> longest = {};  ///< the largest change of each number of u per step; empty: as the model
                                     ///< says
  RobustLoss robust = RobustLoss::none;
  double robust_scale = 1;  ///< the residual that counts as 1 in a robust loss
};

enum class StoppedBy : std::uint8_t { gain, step, gradient, exact, most };
std::string_view name_of(StoppedBy stop);

struct LevenbergMarquardtResult {
  std::vector<double> u;               ///< [p]
  std::vector<double> residuals = {};  ///< [n], at u
  DenseMatrix jacobian = {};           ///< [n, p], at u
  /// [n], the row factors of a robust loss, sqrt(rho'(r^2)); all 1 without one.
  std::vector<double> weights = {};
  double cost = 0;
  std::int64_t steps = 0;  ///< trial steps
  StoppedBy stopped_by = StoppedBy::most;
};

/// Lowers the cost, starting at `start` (Levenberg 1944, Marquardt 1963; damping by the columns' largest norms,
/// as in MINPACK). A trial with non-finite residuals is rejected. Throws InputError if residuals at the start
/// are not finite, or if there are fewer residuals than numbers.
LevenbergMarquardtResult levenberg_marquardt(const LeastSquares& problem, std::vector<double> start,
                                             const LevenbergMarquardtOptions& options = {});

}  // namespace lagtape
