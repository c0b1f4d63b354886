#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// An op and its position in the order of a step's ops.
struct TimedOp {
  const Op* op;
  PassKind pass;
};

/// Finds an existing array for a value that lives within one pass: one whose contents are not needed at that
/// time, if any. The row blocks of a step are written and read in op order, so that order decides. Saved values
/// occupy their arrays from the op that computes them to the last backward op that reads them; products may use
/// the arrays before that, and deltas afterward. Arrays of rounded numbers hold nothing else.
class ArrayLifetimes {
 public:
  /// `ops` are in order; gradients are summed after the last one.
  ArrayLifetimes(const LayerOps& layer, std::vector<TimedOp> ops);

  /// An array for `value`, which has no location yet and may be rounded; -1 if a new one is needed.
  int claim(int value, bool rounded);
  /// Notes that a new array of the layer holds `value`.
  void add(int array, int value);

 private:
  /// The time from the op that writes a value to the last op that reads it.
  struct Lifetime {
    PassKind pass;
    std::size_t first, last;
  };
  struct Shared {
    int array;
    /// The last op of each lifetime in it, by pass and first op. Lifetimes of one pass do not overlap.
    std::map<std::pair<PassKind, std::size_t>, std::size_t> lifetimes;
  };
  using Format = std::pair<std::int64_t, bool>;  // width, and whether numbers are rounded
  Lifetime lifetime_of(int value) const;
  void find_saved();
  void add(int array, Shared shared);
  bool is_before(std::size_t last, std::size_t first) const;
  bool is_free(const Shared& shared, const Lifetime& wanted) const;
  std::size_t free_until(const Shared& shared, const Lifetime& wanted) const;

  const LayerOps& layer_;
  std::vector<TimedOp> ops_;
  std::vector<std::vector<std::size_t>> writes_, reads_;  // by value: positions in ops_
  std::map<Format, std::vector<Shared>> arrays_;
};

}  // namespace lagtape::recurrence
