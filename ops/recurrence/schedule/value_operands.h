#pragma once

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

/// The operands of values that have been located; rows are padded to whole lanes of `lane` elements.
class ValueOperands {
 public:
  ValueOperands(const LayerOps& layer, std::int64_t lane) : layer_(layer), lane_(lane) {}

  const RowShape& shape(int value) const { return layer_.values[value].shape; }
  const Location& location(int value) const { return layer_.values[value].location; }
  std::int64_t padded_width(const RowShape& shape) const {
    return (shape.width() + lane_ - 1) / lane_ * lane_;
  }
  Operand of(int value) const {
    const Location& p = location(value);
    switch (p.kind) {
      case Location::Kind::array:
        return {Operand::Kind::array, p.index, p.step, padded_width(shape(value)),
                layer_.arrays[static_cast<std::size_t>(p.index)].rounded};
      case Location::Kind::weight: return {Operand::Kind::weight, p.index, 0, padded_width(shape(value))};
      default: throw Error("[schedule] a value has no location");
    }
  }

 private:
  const LayerOps& layer_;
  std::int64_t lane_;
};

}  // namespace lagtape::recurrence
