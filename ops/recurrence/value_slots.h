#pragma once

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/schedule.h"

namespace lagtape::recurrence {

/// The slots of values that have their places; rows are padded to whole lanes of `lane` elements.
class ValueSlots {
 public:
  ValueSlots(const LayerOps& layer, std::int64_t lane) : layer_(layer), lane_(lane) {}

  const RowShape& shape(int value) const { return layer_.values[value].shape; }
  const Place& place(int value) const { return layer_.values[value].place; }
  std::int64_t padded_width(const RowShape& shape) const {
    return (shape.width() + lane_ - 1) / lane_ * lane_;
  }
  Slot of(int value) const {
    const Place& p = place(value);
    switch (p.kind) {
      case Place::Kind::array: return {Slot::Kind::array, p.index, p.step, padded_width(shape(value))};
      case Place::Kind::weight: return {Slot::Kind::weight, p.index, 0, padded_width(shape(value))};
      default: throw Error("[schedule] a value has no place");
    }
  }

 private:
  const LayerOps& layer_;
  std::int64_t lane_;
};

}  // namespace lagtape::recurrence
