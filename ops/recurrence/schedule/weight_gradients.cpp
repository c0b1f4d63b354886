#include "lagtape/ops/recurrence/schedule/weight_gradients.h"

#include <algorithm>

namespace lagtape::recurrence {

void list_gradient_sums(const LayerOps& layer, const ValueOperands& operands, LayerSchedule& schedule) {
  auto& narrow = schedule.narrow_gradients;
  for (const auto& g : layer.matrix_gradients) {
    const RowShape &delta = operands.shape(g.delta), &operand = operands.shape(g.operand);
    const Operand d = operands.of(g.delta), x = operands.of(g.operand);
    const bool once =
        std::ranges::count(layer.matrix_gradients, g.weight,
                           &LayerOps::MatrixGradient::weight) == 1;  // sums have places of their own
    if (once && operand.groups == 1 && operand.size <= kNarrow) {
      for (std::int64_t j = 0; j < operand.size; ++j)
        narrow.push_back({{g.weight}, j, operand.size, delta.size, d, x, j});
    } else if (once && operand.groups == 1 && delta.size <= kNarrow) {
      for (std::int64_t i = 0; i < delta.size; ++i)
        narrow.push_back({{g.weight}, i * operand.size, 1, operand.size, x, d, i});
    } else {
      schedule.matrix_gradients.push_back({g.weight, d, x, operand.groups});
    }
  }
  for (const auto& g : layer.vector_gradients) {
    const Operand adjoint = operands.of(g.adjoint);
    const auto same = std::find_if(narrow.begin(), narrow.end(),
                                   [&](const auto& t) { return t.element < 0 && t.rows == adjoint; });
    if (same != narrow.end()) {
      same->weights.push_back(g.weight);
    } else {
      narrow.push_back({{g.weight}, 0, 1, operands.shape(g.adjoint).width(), adjoint, {}});
    }
  }
  // Sums that read the same rows stand one after another.
  std::stable_sort(narrow.begin(), narrow.end(), [](const auto& a, const auto& b) {
    return std::pair(a.rows.index, a.rows.step) < std::pair(b.rows.index, b.rows.step);
  });
}

}  // namespace lagtape::recurrence
