#include "lagtape/ops/batch_norm.h"

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "lagtape/ops/checks.h"

namespace lagtape {
namespace {

/// The part of the forward pass that the backward rule needs.
struct Kept {
  std::int64_t rows, steps, width, count = 0;
  std::vector<std::int64_t> lengths;  ///< [B]
  std::vector<double> mean, inverse;  ///< [n]; 1 / sqrt(variance + eps)
};

/// Adds one step, whose first number is at `place`, to the sums. Sums run over the steps of each row, then over
/// the rows in order.
using AddStep = std::function<void(std::int64_t place, double* sums)>;
std::vector<double> sum_over(const Kept& kept, std::int64_t count, ThreadPool& pool, const AddStep& add) {
  std::vector<double> of_rows(static_cast<std::size_t>(kept.rows * count));
  pool.run(static_cast<int>(kept.rows), [&](int b, int) {
    for (std::int64_t t = 0; t < kept.lengths[static_cast<std::size_t>(b)]; ++t)
      add((b * kept.steps + t) * kept.width, of_rows.data() + b * count);
  });
  std::vector<double> sums(static_cast<std::size_t>(count));
  for (std::int64_t b = 0; b < kept.rows; ++b)
    for (std::int64_t i = 0; i < count; ++i) sums[i] += of_rows[b * count + i];
  return sums;
}

template <class T>
void take_moments(const T* x, Kept& kept, double eps, ThreadPool& pool, BatchMoments& moments) {
  const std::int64_t n = kept.width;
  const double count = static_cast<double>(kept.count);
  kept.mean = sum_over(kept, n, pool, [&](std::int64_t place, double* sums) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += x[place + i];
  });
  for (double& m : kept.mean) m /= count;
  std::vector<double> variance = sum_over(kept, n, pool, [&](std::int64_t place, double* sums) {
    for (std::int64_t i = 0; i < n; ++i)
      sums[i] += (x[place + i] - kept.mean[i]) * (x[place + i] - kept.mean[i]);
  });
  for (double& v : variance) v /= count;
  for (const double v : variance) kept.inverse.push_back(1 / std::sqrt(v + eps));
  moments = {Tensor::from({n}, kept.mean, dtype_of<T>), Tensor::from({n}, variance, dtype_of<T>), kept.count};
}

/// Calls f(place of the step's first number) for all steps that count.
template <class F>
void for_steps(const Kept& kept, ThreadPool& pool, const F& f) {
  pool.run(static_cast<int>(kept.rows), [&](int b, int) {
    for (std::int64_t t = 0; t < kept.lengths[static_cast<std::size_t>(b)]; ++t)
      f((b * kept.steps + t) * kept.width);
  });
}

/// With z = (x - mean) / sqrt(variance + eps):
/// dbias = sum(d), dgain = sum(d z), and
/// dx = gain / sqrt(variance + eps) (d - mean(d) - z mean(d z)).
template <class T>
void add_gradients(const Tensor& d, const Tensor& x_values, const Tensor& gain_values, const Kept& kept,
                   ThreadPool& pool, InputGradients& inputs) {
  const T *dy = d.values<T>().data(), *x = x_values.values<T>().data(),
          *gain = gain_values.values<T>().data();
  const std::int64_t n = kept.width;
  const double *mean = kept.mean.data(), *inverse = kept.inverse.data();
  const std::vector<double> sums = sum_over(kept, 2 * n, pool, [&](std::int64_t place, double* to) {
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] += dy[place + i];
      to[n + i] += dy[place + i] * ((x[place + i] - mean[i]) * inverse[i]);
    }
  });
  const auto add = [&](int input, std::int64_t first) {
    if (!inputs.wanted(input)) return;
    const auto to = inputs.accumulator(input).values<T>();
    for (std::int64_t i = 0; i < n; ++i) to[i] += static_cast<T>(sums[first + i]);
  };
  add(1, n);
  add(2, 0);
  if (!inputs.wanted(0)) return;
  T* dx = inputs.accumulator(0).values<T>().data();
  const double count = static_cast<double>(kept.count);
  for_steps(kept, pool, [&](std::int64_t place) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double z = (x[place + i] - mean[i]) * inverse[i];
      const double rest = dy[place + i] - sums[i] / count - z * (sums[n + i] / count);
      dx[place + i] += static_cast<T>(gain[i] * inverse[i] * rest);
    }
  });
}

}  // namespace

Var batch_norm(const Var& x, const Var& gain, const Var& bias, std::span<const std::int64_t> lengths,
               double eps, ThreadPool& pool, BatchMoments& moments) {
  Tape& tape = common_tape("batch_norm", {{"x", x}, {"gain", gain}, {"bias", bias}});
  const Shape features = x.shape().empty() ? Shape{} : Shape{x.shape().back()};
  if (x.shape().size() != 3 || gain.shape() != features || bias.shape() != features)
    refuse("batch_norm", "x is [B, T, n], gain and bias are [n]", {{"x", x}, {"gain", gain}, {"bias", bias}});
  auto kept = std::make_shared<Kept>();
  kept->rows = x.shape()[0];
  kept->steps = x.shape()[1];
  kept->width = x.shape()[2];
  kept->lengths.assign(lengths.begin(), lengths.end());
  if (lengths.empty()) kept->lengths.assign(static_cast<std::size_t>(kept->rows), kept->steps);
  for (const std::int64_t length : kept->lengths) kept->count += length;
  Tensor y = tape.allocate(x.shape(), x.dtype());
  with_scalar(x.dtype(), [&]<class T>() {
    const T *from = x.value().values<T>().data(), *scale = gain.value().values<T>().data(),
            *shift = bias.value().values<T>().data();
    take_moments(from, *kept, eps, pool, moments);
    T* to = y.values<T>().data();
    for_steps(*kept, pool, [&](std::int64_t place) {
      for (std::int64_t i = 0; i < kept->width; ++i)
        to[place + i] =
            static_cast<T>(scale[i] * ((from[place + i] - kept->mean[i]) * kept->inverse[i]) + shift[i]);
    });
  });
  return tape.record(
      y, {x, gain, bias},
      [kept, &pool, from = x.value(), scale = gain.value()](const Tensor& d, InputGradients& inputs) {
        with_scalar(d.dtype(), [&]<class T>() { add_gradients<T>(d, from, scale, *kept, pool, inputs); });
      });
}

}  // namespace lagtape
