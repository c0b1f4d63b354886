#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// The adjoints of a step's forward values during the reverse sweep, and the backward ops that it records. An
/// adjoint is kept as (value, negated), so a negation becomes an op only where its value is read.
class AdjointSums {
 public:
  struct Signed {
    int value = -1;  ///< -1: none yet
    bool negated = false;
  };

  /// `active`: for each forward value, whether it carries a gradient. New values are added to `ops`.
  AdjointSums(LayerOps& ops, std::vector<bool> active);

  bool is_active(int v) const { return active_[v]; }
  RowShape shape(int v) const { return ops_.values[v].shape; }

  Signed of(int v) const { return sums_[v]; }
  bool is_known(int v) const { return sums_[v].value >= 0; }
  void set(int v, int value) { hold(v, {value, false}); }
  /// Whether the adjoint of v belongs only to v: no other forward value shares it, and no recorded op reads it.
  bool is_own(int v) const;
  /// Adds `value` (or subtracts it, if negated) to the adjoint of `to`, if `to` is a forward value that carries
  /// a gradient.
  void contribute(int to, int value, bool negated = false);
  /// The adjoint as a value.
  int materialize(int v);

  int record(Op op, RowShape shape);
  /// Records an element-wise op whose result has the shape of a.
  int element(ElementOp e, int a, int b = -1, double k = 0);
  const Ops& recorded() const { return recorded_; }

 private:
  void hold(int v, Signed sum);

  LayerOps& ops_;
  std::vector<bool> active_;
  std::vector<Signed> sums_;              // by forward value: its adjoint
  std::map<int, int> negated_;            // value -> its negative, if there is one
  std::unordered_map<int, int> holders_;  // value -> the number of forward values whose adjoint it is
  std::unordered_set<int> read_;          // values that recorded ops read
  Ops recorded_;
};

}  // namespace lagtape::recurrence
