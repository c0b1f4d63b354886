#pragma once

#include "lagtape/ops/recurrence/memory/bump_allocator.h"
#include "lagtape/ops/recurrence/run/slice.h"

namespace lagtape::recurrence {

/// The losses esr and dc of one slice. Their gradient at a step depends on other steps, so the errors of all
/// steps are kept until the last is known: one number per target, under any memory plan.
template <class T>
class SignalReadout {
 public:
  /// `width`: numbers per target.
  void lay_out(BumpAllocator<T>& memory, const Extent& extent, std::int64_t rows, std::int64_t width);
  void begin(const SliceRows<T>& rows, const LossOptions& options);
  /// Adds the outputs of step n: rows `stride` apart.
  void take(std::int64_t n, const T* outputs, std::int64_t stride);
  /// The sum over the slice's rows, after the last step. With `gradient` the errors become dL/d(outputs).
  double finish(bool gradient);
  /// Writes dL/d(outputs) of step n.
  void give(std::int64_t n, T* gradient, std::int64_t stride) const;

 private:
  const T* targets(std::int64_t row) const;
  std::int64_t place(std::int64_t row, std::int64_t n) const {
    return (row * steps_ + n - rows_.extent.first) * width_;
  }

  T* errors_ = nullptr;  // rows x steps x width
  std::int64_t steps_ = 0, width_ = 0;
  double pre_emphasis_ = 0;
  SliceRows<T> rows_;
};

extern template class SignalReadout<float>;
extern template class SignalReadout<double>;

}  // namespace lagtape::recurrence
