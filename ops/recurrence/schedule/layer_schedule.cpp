#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

bool lies_over_sequence(const Operand& operand, const std::vector<Array>& arrays) {
  if (operand.kind != Operand::Kind::array) return false;
  const Array::Kind kind = arrays[static_cast<std::size_t>(operand.index)].kind;
  return kind == Array::Kind::saved || kind == Array::Kind::state;
}

}  // namespace lagtape::recurrence
