#include "lagtape/ops/recurrence/run/signal_readout.h"

#include <algorithm>
#include <cmath>

namespace lagtape::recurrence {

template <class T>
void SignalReadout<T>::lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows,
                               std::int64_t width) {
  steps_ = extent.last - extent.first;
  width_ = width;
  errors_ = memory.take(rows * steps_ * width_);
}

template <class T>
void SignalReadout<T>::begin(const SliceRows<T>& rows, const LossOptions& options) {
  rows_ = rows;
  pre_emphasis_ = options.pre_emphasis;
  std::fill_n(errors_, rows.count() * steps_ * width_, T(0));
}

template <class T>
const T* SignalReadout<T>::targets(std::int64_t row) const {
  const SequenceBatch& batch = rows_.request->batch;
  return batch.targets.template values<T>().data() +
         rows_.place(row, rows_.extent.first, batch.x.shape()[1]) * width_;
}

template <class T>
void SignalReadout<T>::take(std::int64_t n, const T* outputs, std::int64_t stride) {
  for (std::int64_t r = 0; r < rows_.count(); ++r) {
    if (!rows_.counts(r, n)) continue;
    const T* y = outputs + r * stride;
    const T* target = targets(r) + (n - rows_.extent.first) * width_;
    T* error = errors_ + place(r, n);
    for (std::int64_t j = 0; j < width_; ++j) error[j] = std::isnan(target[j]) ? T(0) : y[j] - target[j];
  }
}

template <class T>
double SignalReadout<T>::finish(bool gradient) {
  const SignalFactors& factors = rows_.request->signal;
  double loss = 0;
  for (std::int64_t r = 0; r < rows_.count(); ++r) {
    const std::int64_t steps = std::min(rows_.length(r), steps_);
    T* errors = errors_ + place(r, rows_.extent.first);
    SignalSums sums;
    for (std::int64_t j = 0; j < width_; ++j) {
      add_errors(sums, errors + j, width_, targets(r) + j, steps, width_, pre_emphasis_);
      if (gradient) errors_to_gradient(errors + j, targets(r) + j, steps, width_, pre_emphasis_, factors);
    }
    loss += factors.error * sums.error + factors.bias * sums.bias;
  }
  return loss;
}

template <class T>
void SignalReadout<T>::give(std::int64_t n, T* gradient, std::int64_t stride) const {
  for (std::int64_t r = 0; r < rows_.count(); ++r)
    std::copy_n(errors_ + place(r, n), width_, gradient + r * stride);
}

template class SignalReadout<float>;
template class SignalReadout<double>;

}  // namespace lagtape::recurrence
