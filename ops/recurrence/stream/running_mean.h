#pragma once

#include <algorithm>
#include <cstdint>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"

namespace lagtape::recurrence {

/// The sum of a layer's outputs so far [rows, columns], for a stream whose read-out reads their mean.
template <class T>
class RunningMean {
 public:
  /// `stride` is the distance between rows of the layer's outputs.
  RunningMean(std::int64_t rows, std::int64_t columns, std::int64_t stride)
      : rows_(rows), columns_(columns), stride_(stride) {}

  void lay_out(BumpAllocator<T>& memory) { sum_ = memory.take(rows_ * stride_); }
  void begin() { std::fill_n(sum_, rows_ * stride_, T(0)); }

  /// Adds the outputs of another step.
  void add(const T* y) {
    for (std::int64_t i = 0; i < rows_ * stride_; ++i) sum_[i] += y[i];
  }
  /// The mean of `steps` steps, in rows of `width` numbers.
  void read(std::int64_t steps, std::int64_t width, T* mean) const {
    const T n = static_cast<T>(steps);
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t c = 0; c < width; ++c) mean[r * width + c] = sum_[r * stride_ + c] / n;
  }

  Tensor zeros() const { return Tensor({rows_, columns_}, dtype_of<T>); }
  void save(Tensor& sum) const {
    for (std::int64_t r = 0; r < rows_; ++r)
      std::copy_n(sum_ + r * stride_, columns_, sum.values<T>().data() + r * columns_);
  }
  void restore(const Tensor& sum) {
    for (std::int64_t r = 0; r < rows_; ++r)
      std::copy_n(sum.values<T>().data() + r * columns_, columns_, sum_ + r * stride_);
  }

 private:
  std::int64_t rows_, columns_, stride_;
  T* sum_ = nullptr;  // rows x stride
};

}  // namespace lagtape::recurrence
