#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/ops/recurrence/run/batch_request.h"

namespace lagtape::recurrence {

/// A part of the batch, with its loss and gradients.
template <class T>
struct Slice {
  std::int64_t row0 = 0, rows = 0;
  std::int64_t steps = 0;     ///< steps of its longest row
  std::vector<T*> gradients;  ///< one per weight; null where not wanted
  double loss = 0;            ///< sum over its rows
};

/// The steps of a slice's rows. Rows are counted within the slice.
template <class T>
struct SliceRows {
  const PreparedRequest* request = nullptr;
  const Slice<T>* slice = nullptr;
  Extent extent;

  std::int64_t count() const { return slice->rows; }
  std::int64_t length(std::int64_t r) const {
    return request->lengths.empty() ? extent.last - extent.first : request->lengths[slice->row0 + r];
  }
  /// Whether step n is one of row r's own steps, and whether it is the last.
  bool counts(std::int64_t r, std::int64_t n) const { return n - extent.first < length(r); }
  bool ends(std::int64_t r, std::int64_t n) const { return n - extent.first + 1 == length(r); }
  /// The position of row r at step n in [B, T], for a batch of T steps.
  std::int64_t place(std::int64_t r, std::int64_t n, std::int64_t steps) const {
    return (slice->row0 + r) * steps + n - extent.first;
  }
};

}  // namespace lagtape::recurrence
