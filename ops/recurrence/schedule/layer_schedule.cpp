#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

std::vector<Phase*> LayerSchedule::phases() {
  return {&pre,       &delay,     &loop,   &post,          &replay,         &undo_pre,
          &undo_loop, &undo_post, &before, &backward_loop, &backward_block, &after};
}

std::vector<const Phase*> LayerSchedule::phases() const {
  const auto mine = const_cast<LayerSchedule*>(this)->phases();
  return {mine.begin(), mine.end()};
}

bool lies_over_sequence(const Operand& operand, const std::vector<Array>& arrays) {
  if (operand.kind != Operand::Kind::array) return false;
  const Array::Kind kind = arrays[static_cast<std::size_t>(operand.index)].kind;
  return kind == Array::Kind::saved || kind == Array::Kind::state;
}

}  // namespace lagtape::recurrence
