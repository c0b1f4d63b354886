#include "lagtape/data/baselines/step_regressions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace lagtape {

namespace {

/// A symmetric matrix [n, n], of which only the lower triangle is read.
struct Symmetric {
  std::vector<double> values;
  std::int64_t n;

  double& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * n + j)]; }
  double at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * n + j)]; }
};

/// Adds the products of all pairs of the n numbers to the lower triangle of sums [n, n].
void add_products(const double* numbers, std::int64_t n, double* sums) {
  for (std::int64_t i = 0; i < n; ++i, sums += n)
    for (std::int64_t j = 0; j <= i; ++j) sums[j] += numbers[i] * numbers[j];
}

/// Replaces a positive definite matrix by its Cholesky factor L.
void factorize(Symmetric& a) {
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      double sum = a.at(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= a.at(i, k) * a.at(j, k);
      a.at(i, j) = i == j ? std::sqrt(std::max(sum, std::numeric_limits<double>::min())) : sum / a.at(j, j);
    }
}

/// Solves L L^T x = b in place.
void solve(const Symmetric& l, std::vector<double>& x) {
  for (std::int64_t i = 0; i < l.n; ++i) {
    double& value = x[static_cast<std::size_t>(i)];
    for (std::int64_t k = 0; k < i; ++k) value -= l.at(i, k) * x[static_cast<std::size_t>(k)];
    value /= l.at(i, i);
  }
  for (std::int64_t i = l.n; i-- > 0;) {
    double& value = x[static_cast<std::size_t>(i)];
    for (std::int64_t k = i + 1; k < l.n; ++k) value -= l.at(k, i) * x[static_cast<std::size_t>(k)];
    value /= l.at(i, i);
  }
}

/// The products of a step, standardized by the mean and standard deviation of each number.
struct Standardised {
  std::vector<double> mean, scale;               ///< [1 + P + K]; scale 0: the number is constant
  Symmetric correlation;                         ///< [P, P]
  std::vector<std::vector<double>> with_target;  ///< [K][P]

  Standardised(const Symmetric& sums, std::int64_t features) : correlation{{}, features} {
    constexpr double kLeast = 1e-9;  // relative to the numbers; a smaller deviation is rounding error
    const double rows = sums.at(0, 0);
    const auto centered = [&](std::int64_t i, std::int64_t j) {
      return sums.at(i, j) / rows - mean[static_cast<std::size_t>(i)] * mean[static_cast<std::size_t>(j)];
    };
    for (std::int64_t i = 0; i < sums.n; ++i) mean.push_back(sums.at(i, 0) / rows);
    for (std::int64_t i = 0; i < sums.n; ++i) {
      const double scale = std::sqrt(std::max(centered(i, i), 0.0));
      this->scale.push_back(scale > kLeast * std::sqrt(sums.at(i, i) / rows) ? scale : 0);
    }
    const auto related = [&](std::int64_t i, std::int64_t j) {
      const double scales = scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)];
      return scales > 0 ? centered(i, j) / scales : 0;
    };
    correlation.values.resize(static_cast<std::size_t>(features * features));
    for (std::int64_t i = 0; i < features; ++i)
      for (std::int64_t j = 0; j <= i; ++j) correlation.at(i, j) = related(i + 1, j + 1);
    for (std::int64_t target = 1 + features; target < sums.n; ++target) {
      std::vector<double>& column = with_target.emplace_back();
      for (std::int64_t i = 0; i < features; ++i) column.push_back(related(target, i + 1));
    }
  }

  /// A target's constant and weights for raw numbers, from those for standardized ones.
  std::vector<double> restored(const std::vector<double>& standard, std::size_t target) const {
    const std::size_t place = 1 + standard.size() + target;
    std::vector<double> weights = {mean[place]};
    for (std::size_t i = 0; i < standard.size(); ++i) {
      weights.push_back(scale[i + 1] > 0 ? standard[i] * scale[place] / scale[i + 1] : 0);
      weights.front() -= weights.back() * mean[i + 1];
    }
    return weights;
  }
};

/// The sum of squared errors with these weights.
double squared_error(const Symmetric& sums, const std::vector<double>& weights, std::int64_t target) {
  const std::int64_t n = std::ssize(weights);
  double error = sums.at(n + target, n + target);
  for (std::int64_t i = 0; i < n; ++i) {
    const double weight = weights[static_cast<std::size_t>(i)];
    double sum = sums.at(i, i) * weight / 2 - sums.at(n + target, i);
    for (std::int64_t j = 0; j < i; ++j) sum += sums.at(i, j) * weights[static_cast<std::size_t>(j)];
    error += 2 * weight * sum;
  }
  return error;
}

}  // namespace

StepProducts::StepProducts(const RegressionSizes& sizes)
    : sizes_(sizes),
      all_(1 + sizes.shared),
      rest_(sizes.own + sizes.targets),
      shared_(static_cast<std::size_t>(all_ * all_)),
      less_(static_cast<std::size_t>(sizes.steps)),
      rest_products_(static_cast<std::size_t>(sizes.steps * rest_ * (all_ + rest_))),
      one_(static_cast<std::size_t>(all_), 1),
      own_(static_cast<std::size_t>(rest_)) {}

void StepProducts::add(const double* shared, const double* own, const double* targets) {
  std::copy_n(shared, sizes_.shared, one_.begin() + 1);
  add_products(one_.data(), all_, shared_.data());
  for (std::int64_t step = 0; step < sizes_.steps; ++step, own += sizes_.own, targets += sizes_.targets) {
    std::copy_n(targets, sizes_.targets, std::copy_n(own, sizes_.own, own_.begin()));
    if (std::ranges::any_of(own_, [](double number) { return std::isnan(number); })) {
      std::vector<double>& less = less_[static_cast<std::size_t>(step)];
      less.resize(shared_.size());
      add_products(one_.data(), all_, less.data());
      continue;
    }
    double* sums = rest_products_.data() + step * rest_ * (all_ + rest_);
    for (std::int64_t i = 0; i < rest_; ++i, sums += all_ + rest_) {
      const double number = own_[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < all_; ++j) sums[j] += number * one_[static_cast<std::size_t>(j)];
      for (std::int64_t j = 0; j <= i; ++j) sums[all_ + j] += number * own_[static_cast<std::size_t>(j)];
    }
  }
}

double StepProducts::rows(std::int64_t step) const {
  const std::vector<double>& less = less_[static_cast<std::size_t>(step)];
  return shared_.front() - (less.empty() ? 0 : less.front());
}

std::vector<double> StepProducts::at(std::int64_t step) const {
  Symmetric sums{{}, all_ + rest_};
  sums.values.resize(static_cast<std::size_t>(sums.n * sums.n));
  const std::vector<double>& less = less_[static_cast<std::size_t>(step)];
  for (std::int64_t i = 0; i < sums.n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      double& sum = sums.at(i, j);
      const auto place = static_cast<std::size_t>(i * all_ + j);
      if (i < all_) {
        sum = shared_[place] - (less.empty() ? 0 : less[place]);
      } else {
        sum = rest_products_[static_cast<std::size_t>((step * rest_ + i - all_) * sums.n + j)];
      }
      sums.at(j, i) = sum;
    }
  return std::move(sums.values);
}

StepRegressions::StepRegressions(const StepProducts& train, const StepProducts& valid)
    : sizes_(train.sizes()) {
  const std::int64_t features = sizes_.features(), n = 1 + features + sizes_.targets;
  for (std::int64_t step = 0; step < sizes_.steps; ++step) {
    const Standardised standard({train.at(step), n}, features);
    const Symmetric to_choose_by{valid.at(step), n};
    const bool can_choose = valid.rows(step) > 0;
    std::vector<std::vector<double>> best;
    double least = std::numeric_limits<double>::infinity();
    for (const double penalty :
         can_choose ? std::span(kPenalties) : std::span(kPenalties).subspan(kUsualPenalty, 1)) {
      Symmetric factor = standard.correlation;
      for (std::int64_t i = 0; i < features; ++i)
        factor.at(i, i) = std::max(factor.at(i, i), 1.0) + penalty;  // 0 for a constant number
      factorize(factor);
      std::vector<std::vector<double>> solutions;
      double error = 0;
      for (std::size_t target = 0; target < standard.with_target.size(); ++target) {
        std::vector<double> weights = standard.with_target[target];
        solve(factor, weights);
        solutions.push_back(standard.restored(weights, target));
        const double scale = standard.scale[1 + weights.size() + target];
        if (can_choose && scale > 0)
          error += squared_error(to_choose_by, solutions.back(), static_cast<std::int64_t>(target)) /
                   (scale * scale);
      }
      if (!best.empty() && !(error < least)) continue;
      least = error;
      best = std::move(solutions);
    }
    for (const std::vector<double>& weights : best)
      weights_.insert(weights_.end(), weights.begin(), weights.end());
  }
}

const double* StepRegressions::weights(std::int64_t step, std::int64_t target) const {
  return weights_.data() + (step * sizes_.targets + target) * (1 + sizes_.features());
}

double StepRegressions::predict(const double* shared, const double* own, std::int64_t step,
                                std::int64_t target) const {
  const double* weight = weights(step, target);
  double sum = *weight++;
  for (std::int64_t i = 0; i < sizes_.shared; ++i) sum += *weight++ * shared[i];
  for (std::int64_t i = 0; i < sizes_.own; ++i) sum += *weight++ * own[i];
  return sum;
}

}  // namespace lagtape
