#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/recurrence/learn/learned_layer.h"
#include "lagtape/ops/recurrence/learn/learner_state.h"

namespace lagtape::recurrence {

/// The rule by which weights follow their gradients.
struct MoveRule {
  bool adam;
  double lr, beta1, beta2, epsilon;
  std::int64_t moves;  ///< including this one
};

/// A weight where a step reads it, packed by columns, with its gradient and, for backward products, a
/// transposed copy.
template <class T>
class WeightMemory {
 public:
  /// `at`, `transposed`: their addresses in StepCalls; null if the step does not read them. `is_row`: it reads
  /// a one-row matrix as a vector.
  WeightMemory(const LearnedWeight& weight, int layer, T* at, T* transposed, bool is_row,
               const Kernels<T>& kernels)
      : layer_(layer), weight_(weight), at_(at), transposed_(transposed) {
    const Shape& shape = weight.value.shape();
    rows_ = shape.empty() ? 1 : shape[0];
    columns_ = shape.size() == 2 ? shape[1] : 1;
    if (is_row) std::swap(rows_, columns_);
    if (weight.value.numel() > kMostElements)
      throw InputError({.item = "weight " + weight.name, .op = "learner"}, Rule::out_of_range,
                       text_of("at most ", kMostElements, " numbers"), text_of(weight.value.numel()));
    places_ = places(kernels, rows_, columns_, 1, columns_);
    if (transposed_ != nullptr) transposed_places_ = places(kernels, columns_, rows_, columns_, 1);
    memory_ = allocate_aligned(3 * static_cast<std::size_t>(elements()) * sizeof(T));
    gradient_ = reinterpret_cast<T*>(memory_.get());
    std::fill_n(gradient_, 3 * elements(), T(0));
    if (at_ == nullptr) return;
    for (std::size_t i = 0; i < places_.size(); ++i)
      at_[places_[i]] = static_cast<T>(weight.value.at(static_cast<std::int64_t>(i)));
    copy_transposed();
  }

  int layer() const { return layer_; }
  T* weight() const { return at_; }
  T* gradient() const { return gradient_; }
  const std::string& name() const { return weight_.name; }
  bool is_bounded() const { return weight_.bounds != Bounds{}; }
  /// The transposed copy is not read.
  void drop_transposed() {
    transposed_ = nullptr;
    transposed_places_.clear();
  }

  void clear() { std::fill_n(gradient_, elements(), T(0)); }

  /// Clips changed weights to their bounds, and copies them.
  void settle() {
    if (!weight_.trainable || at_ == nullptr) return;
    if (is_bounded())
      for (const std::int64_t p : places_)
        at_[p] = static_cast<T>(std::clamp<double>(at_[p], weight_.bounds.low, weight_.bounds.high));
    copy_transposed();
  }

  /// Updates by the gradient, which is then set to 0. A gradient that is not finite changes nothing.
  void move(const MoveRule& rule) {
    if (!weight_.trainable || at_ == nullptr) return;
    T *const mean = gradient_ + elements(), *const square = mean + elements();
    const double first = 1 - std::pow(rule.beta1, static_cast<double>(rule.moves));
    const double second = 1 - std::pow(rule.beta2, static_cast<double>(rule.moves));
    for (std::int64_t i = 0; i < elements(); ++i) {
      double step = gradient_[i];
      if (!std::isfinite(step)) continue;
      if (rule.adam) {
        mean[i] = static_cast<T>(rule.beta1 * mean[i] + (1 - rule.beta1) * step);
        square[i] = static_cast<T>(rule.beta2 * square[i] + (1 - rule.beta2) * step * step);
        step = mean[i] / first / (std::sqrt(square[i] / second) + rule.epsilon);
      }
      at_[i] = static_cast<T>(at_[i] - rule.lr * step);
    }
    clear();
    settle();
  }

  void list_state(LearnerState& state) {
    state.add(gradient_, static_cast<std::size_t>(3 * elements()));
    if (at_ != nullptr) state.add(at_, static_cast<std::size_t>(elements()));
    if (transposed_ != nullptr)
      state.add(transposed_, static_cast<std::size_t>(packed_elements<T>(rows_, columns_)));
  }

  bool is_finite() const {
    return at_ == nullptr || std::ranges::all_of(places_, [this](auto p) { return std::isfinite(at_[p]); });
  }
  Tensor value_now() const { return at_ == nullptr ? weight_.value : natural(at_); }
  Tensor gradient_now() const { return natural(gradient_); }

 private:
  /// The positions in a packed matrix are found by packing the numbers 0, 1, ..., which floats represent
  /// exactly up to this limit.
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 24;

  /// For each element of the weight, its position in the packed matrix with that many outputs and inputs.
  std::vector<std::int64_t> places(const Kernels<T>& kernels, std::int64_t out, std::int64_t in,
                                   std::int64_t in_stride, std::int64_t out_stride) const {
    std::vector<T> order(static_cast<std::size_t>(rows_ * columns_));
    std::iota(order.begin(), order.end(), T(1));
    const std::int64_t packed_size = packed_elements<T>(in, out);
    const AlignedMemory memory = allocate_aligned(static_cast<std::size_t>(packed_size) * sizeof(T));
    T* const packed = reinterpret_cast<T*>(memory.get());
    std::fill_n(packed, packed_size, T(0));
    kernels.pack(packed, order.data(), in, out, in_stride, out_stride);
    std::vector<std::int64_t> result(order.size());
    for (std::int64_t p = 0; p < packed_size; ++p)
      if (packed[p] > 0) result[static_cast<std::size_t>(packed[p]) - 1] = p;
    return result;
  }

  void copy_transposed() {
    for (std::size_t i = 0; i < transposed_places_.size(); ++i)
      transposed_[transposed_places_[i]] = at_[places_[i]];
  }

  std::int64_t elements() const { return packed_elements<T>(columns_, rows_); }

  Tensor natural(const T* packed) const {
    Tensor result(weight_.value.shape(), dtype_of<T>);
    for (std::size_t i = 0; i < places_.size(); ++i)
      result.set(static_cast<std::int64_t>(i), packed[places_[i]]);
    return result;
  }

  int layer_;
  LearnedWeight weight_;
  T *at_, *transposed_;
  std::int64_t rows_ = 1, columns_ = 1;
  std::vector<std::int64_t> places_, transposed_places_;
  AlignedMemory memory_;  // the gradient, and adam's means of it and its square
  T* gradient_ = nullptr;
};

}  // namespace lagtape::recurrence
