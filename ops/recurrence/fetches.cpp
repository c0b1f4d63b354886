#include "lagtape/ops/recurrence/fetches.h"

#include <algorithm>

namespace lagtape::recurrence {
namespace {

/// Weights of a product that takes long enough for fetches not to be noticed: layers of 16 units lose by
/// them, layers of 128 gain.
constexpr std::int64_t kLargeProduct = 64 * 128;

class Fetches {
 public:
  explicit Fetches(LayerCode& code) : code_(code) {}

  /// The places that the forward loop leaves for the backward pass, a step ahead.
  void plan_forward() {
    ProductStage* const product = large_product(code_.loop);
    if (product == nullptr) return;
    for (const Stage& stage : code_.loop) {
      if (const auto* tiles = std::get_if<TileStage>(&stage)) {
        for (const TileInstruction& t : tiles->code) add(*product, tiles->slots[t.out], 1);
      } else {
        for (const Slot& out : std::get<ProductStage>(stage).outputs) add(*product, out, 1);
      }
    }
  }

  /// What the step before reads, and the products of weight gradients at the end of its run.
  void plan_backward() {
    ProductStage* const product = large_product(code_.backward_loop);
    for (Stage& stage : code_.backward_loop) {
      auto* tiles = std::get_if<TileStage>(&stage);
      if (tiles == nullptr) continue;
      tiles->fetches_before = product == nullptr;
      if (product != nullptr)
        for (const Slot& slot : tiles->slots) add(*product, slot, -1);
    }
    if (product == nullptr) return;
    for (const auto& gradient : code_.matrix_gradients) add(*product, gradient.operand, -1);
  }

 private:
  /// The largest, or null.
  ProductStage* large_product(Phase& phase) const {
    ProductStage* largest = nullptr;
    std::int64_t most = kLargeProduct - 1;
    for (Stage& stage : phase) {
      auto* product = std::get_if<ProductStage>(&stage);
      if (product == nullptr || product->groups > 1) continue;
      const WeightStack& stack = code_.stacks[product->stack];
      if (stack.k * stack.columns <= most) continue;
      most = stack.k * stack.columns;
      largest = product;
    }
    return largest;
  }

  void add(ProductStage& product, Slot slot, std::int64_t steps) const {
    if (!is_kept(slot, code_.arrays)) return;
    slot.step += steps;
    if (std::ranges::find(product.fetched, slot) == product.fetched.end()) product.fetched.push_back(slot);
  }

  LayerCode& code_;
};

}  // namespace

void plan_fetches(LayerCode& code) {
  Fetches fetches(code);
  fetches.plan_forward();
  fetches.plan_backward();
}

}  // namespace lagtape::recurrence
