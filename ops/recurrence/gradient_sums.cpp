#include "lagtape/ops/recurrence/gradient_sums.h"

#include <algorithm>

namespace lagtape::recurrence {

void list_gradient_sums(const LayerOps& layer, const ValueSlots& slots, LayerCode& code) {
  auto& thin = code.thin_gradients;
  for (const auto& g : layer.matrix_gradients) {
    const RowShape &delta = slots.shape(g.delta), &operand = slots.shape(g.operand);
    const Slot d = slots.of(g.delta), x = slots.of(g.operand);
    const bool once =
        std::ranges::count(layer.matrix_gradients, g.weight,
                           &LayerOps::MatrixGradient::weight) == 1;  // sums have places of their own
    if (once && operand.groups == 1 && operand.size <= kThin) {
      for (std::int64_t j = 0; j < operand.size; ++j)
        thin.push_back({{g.weight}, j, operand.size, delta.size, d, x, j});
    } else if (once && operand.groups == 1 && delta.size <= kThin) {
      for (std::int64_t i = 0; i < delta.size; ++i)
        thin.push_back({{g.weight}, i * operand.size, 1, operand.size, x, d, i});
    } else {
      code.matrix_gradients.push_back({g.weight, d, x, operand.groups});
    }
  }
  for (const auto& g : layer.vector_gradients) {
    const Slot adjoint = slots.of(g.adjoint);
    const auto same = std::find_if(thin.begin(), thin.end(),
                                   [&](const auto& t) { return t.place < 0 && t.rows == adjoint; });
    if (same != thin.end()) {
      same->weights.push_back(g.weight);
    } else {
      thin.push_back({{g.weight}, 0, 1, slots.shape(g.adjoint).width(), adjoint, {}});
    }
  }
  // Those that read the same rows one after another.
  std::stable_sort(thin.begin(), thin.end(), [](const auto& a, const auto& b) {
    return std::pair(a.rows.index, a.rows.step) < std::pair(b.rows.index, b.rows.step);
  });
}

}  // namespace lagtape::recurrence
