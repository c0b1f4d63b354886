#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/normalization.h"
#include "lagtape/core/tensor.h"
#include "lagtape/ops/kernels/kernels.h"

namespace lagtape::recurrence {

/// Converts the numbers fed to a stream into the rows that its first layer reads: normalizes them, or looks
/// them up in a table.
template <class T>
class StreamInput {
 public:
  /// For a stack that reads `width` numbers. With a table [V, width], inputs are row numbers; an invalid one
  /// gives NaN. Throws InputError if table or scaling does not fit.
  StreamInput(std::int64_t width, const Tensor& table, const Scaling& scaling)
      : width_(width), table_(table), scaling_(scaling) {
    if (!table.empty() && (table.rank() != 2 || table.size(1) != width))
      throw InputError({.op = "stream"}, Rule::shape, text_of("a table is [V, ", width, "]"),
                       to_string(table.shape()));
    if (!table.empty()) unknown_.assign(width, std::numeric_limits<T>::quiet_NaN());
    scaling.check(this->width(), "input");
  }

  /// The number of inputs per row and step.
  std::int64_t width() const { return looks_up() ? 1 : width_; }
  bool is_scaled() const { return !scaling_.empty(); }

  /// The normalized numbers, in `buffer`, which has room for them; if nothing is scaled, the numbers
  /// themselves.
  const T* normalized(std::span<const T> numbers, std::vector<T>& buffer) const {
    if (!is_scaled()) return numbers.data();
    const std::span<T> scaled = std::span(buffer).first(numbers.size());
    std::copy(numbers.begin(), numbers.end(), scaled.begin());
    scaling_.normalize(scaled);
    return scaled.data();
  }

  /// The numbers that a step of one row reads.
  const T* vector_of(const T* input) const { return looks_up() ? named(*input) : input; }

  /// Writes the rows of a step with their padding. Returns a pointer past the numbers that it read.
  const T* write(const T* input, std::int64_t rows, T* to) const {
    const std::int64_t stride = padded<T>(width_);
    for (std::int64_t r = 0; r < rows; ++r, input += width(), to += stride) {
      std::copy_n(vector_of(input), width_, to);
      std::fill(to + width_, to + stride, T(0));
    }
    return input;
  }

 private:
  bool looks_up() const { return !unknown_.empty(); }
  /// The table row with that number.
  const T* named(T number) const {
    if (!(number >= 0 && number < static_cast<T>(table_.size(0)))) return unknown_.data();
    const auto row = static_cast<std::int64_t>(number);
    if (static_cast<T>(row) != number) return unknown_.data();
    return table_.template values<T>().data() + row * width_;
  }

  std::int64_t width_;
  Tensor table_;
  Scaling scaling_;
  std::vector<T> unknown_;  // the row for an invalid number; empty without a table
};

}  // namespace lagtape::recurrence
