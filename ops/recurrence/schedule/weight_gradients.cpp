#include "lagtape/ops/recurrence/schedule/weight_gradients.h"

#include <algorithm>

#include "lagtape/ops/recurrence/derive/rounded_deltas.h"

namespace lagtape::recurrence {

void list_gradient_sums(const LayerOps& layer, const ValueOperands& operands, LayerSchedule& schedule) {
  auto& narrow = schedule.narrow_gradients;
  for (const auto& g : layer.matrix_gradients) {
    const RowShape &delta = operands.shape(g.delta), &operand = operands.shape(g.operand);
    const Operand d = operands.of(g.delta), x = operands.of(g.operand);
    if (!is_narrow(layer, g)) {
      schedule.matrix_gradients.push_back({g.weight, d, x, operand.groups});
    } else if (operand.size <= kNarrow) {
      for (std::int64_t j = 0; j < operand.size; ++j)
        narrow.push_back({{g.weight}, j, operand.size, delta.size, d, x, j});
    } else {
      for (std::int64_t i = 0; i < delta.size; ++i)
        narrow.push_back({{g.weight}, i * operand.size, 1, operand.size, x, d, i});
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
  // Products with the same operand are consecutive, unless a weight has two whose order matters.
  auto& products = schedule.matrix_gradients;
  const bool distinct = std::ranges::all_of(products, [&](const auto& g) {
    return std::ranges::count(products, g.weight, &LayerSchedule::MatrixGradient::weight) == 1;
  });
  if (distinct)
    std::stable_sort(products.begin(), products.end(), [](const auto& a, const auto& b) {
      return std::pair(a.operand.index, a.operand.step) < std::pair(b.operand.index, b.operand.step);
    });
  // Sums that read the same rows are consecutive.
  std::stable_sort(narrow.begin(), narrow.end(), [](const auto& a, const auto& b) {
    return std::pair(a.rows.index, a.rows.step) < std::pair(b.rows.index, b.rows.step);
  });
}

}  // namespace lagtape::recurrence
