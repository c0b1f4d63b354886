#include "lagtape/ops/recurrence/schedule/prefetches.h"

#include <algorithm>

namespace lagtape::recurrence {
namespace {

/// The number of weights above which a product takes long enough to hide prefetches: layers of 16 units lose by
/// them; layers of 128 gain.
constexpr std::int64_t kLargeProduct = 64 * 128;

class Prefetches {
 public:
  explicit Prefetches(LayerSchedule& schedule) : schedule_(schedule) {}

  /// Plans to prefetch, one step ahead, the locations that the forward steps leave for the backward pass.
  void plan_forward() {
    ProductStage* const product = large_product(schedule_.forward.step);
    if (product == nullptr) return;
    for (const Stage& stage : schedule_.forward.step) {
      if (const auto* elements = std::get_if<ElementStage>(&stage)) {
        for (const ElementInstruction& t : elements->instructions)
          add(*product, elements->operands[t.out], 1);
      } else {
        for (const Operand& out : std::get<ProductStage>(stage).outputs) add(*product, out, 1);
      }
    }
  }

  /// Plans to prefetch the locations that the previous step reads, and those that the products of weight
  /// gradients read at the end of its run.
  void plan_backward() {
    ProductStage* const product = large_product(schedule_.backward.step);
    for (Stage& stage : schedule_.backward.step) {
      auto* elements = std::get_if<ElementStage>(&stage);
      if (elements == nullptr) continue;
      elements->prefetches_before = product == nullptr;
      if (product != nullptr)
        for (const Operand& operand : elements->operands) add(*product, operand, -1);
    }
    if (product == nullptr) return;
    for (const auto& gradient : schedule_.matrix_gradients) add(*product, gradient.operand, -1);
  }

 private:
  /// The largest product of a phase, or null if it has no large one.
  ProductStage* large_product(Phase& phase) const {
    ProductStage* largest = nullptr;
    std::int64_t most = kLargeProduct - 1;
    for (Stage& stage : phase) {
      auto* product = std::get_if<ProductStage>(&stage);
      if (product == nullptr || product->groups > 1) continue;
      const WeightStack& stack = schedule_.stacks[product->stack];
      if (stack.k * stack.columns <= most) continue;
      most = stack.k * stack.columns;
      largest = product;
    }
    return largest;
  }

  void add(ProductStage& product, Operand operand, std::int64_t steps) const {
    if (!lies_over_sequence(operand, schedule_.arrays)) return;
    operand.step += steps;
    if (std::ranges::find(product.prefetched, operand) == product.prefetched.end())
      product.prefetched.push_back(operand);
  }

  LayerSchedule& schedule_;
};

}  // namespace

void plan_prefetches(LayerSchedule& schedule) {
  Prefetches fetches(schedule);
  fetches.plan_forward();
  fetches.plan_backward();
}

}  // namespace lagtape::recurrence
