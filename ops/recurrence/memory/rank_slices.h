#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/ranks.h"
#include "lagtape/core/tensor.h"

namespace lagtape::recurrence {

/// The slices of a batch that each process works on: contiguous, with counts that differ by at most one between
/// ranks. The results of all slices are then gathered on every rank, in slice order, so they do not depend on
/// the number of ranks. Without ranks there is one process.
class RankSlices {
 public:
  RankSlices(Ranks* ranks, std::int64_t slices);

  std::int64_t begin() const { return first_slices_[own()]; }    ///< this rank's first slice
  std::int64_t end() const { return first_slices_[own() + 1]; }  ///< one past this rank's last slice

  /// Completes a tensor with one entry per batch row along `axis`, of which each rank has only those of its
  /// slices. `first_rows` has the first row of each slice, then the total number of rows.
  void complete(Tensor& tensor, std::int64_t axis, const std::vector<std::int64_t>& first_rows) const;
  /// The same for one number per slice.
  void complete(std::vector<double>& numbers) const;

 private:
  std::size_t own() const { return ranks_ == nullptr ? 0 : static_cast<std::size_t>(ranks_->rank()); }

  Ranks* ranks_;
  std::vector<std::int64_t> first_slices_;  // first slice of each rank, then the number of slices
};

}  // namespace lagtape::recurrence
