#include "lagtape/ops/recurrence/stream/linked_step.h"

#include <algorithm>

#include "lagtape/ops/recurrence/jit/stage_compiler.h"

namespace lagtape::recurrence {
namespace {

bool is_linkable(const Stage& stage) {
  if (const auto* product = std::get_if<ProductStage>(&stage)) return product->groups == 1;
  const auto& elements = std::get<ElementStage>(stage);
  // States on the grid change location at every step.
  return elements.compiled != nullptr &&
         std::ranges::count(elements.operands, Operand::Kind::grid, &Operand::kind) == 0;
}

}  // namespace

template <class T>
bool LinkedStep<T>::takes(const CompiledStack<T>& stack) {
  for (std::size_t l = 0; l < stack.layers(); ++l)
    for (const Phase* phase : in_forward_order(stack.schedule(l).forward))
      if (!std::all_of(phase->begin(), phase->end(), is_linkable)) return false;
  return true;
}

template <class T>
LinkedStep<T>::LinkedStep(const CompiledStack<T>& stack, const std::deque<LayerRunner<T>>& layers,
                          std::int64_t rows)
    : stack_(stack), layers_(layers), rows_(rows) {
  for (std::size_t l = 0; l < stack.layers(); ++l)
    for (const Phase* phase : in_forward_order(stack.schedule(l).forward))
      for (const Stage& stage : *phase) std::visit([&](const auto& s) { add(l, s); }, stage);
  point(&input_, 0, {Operand::Kind::array, stack.schedule(0).input_array, 0, 0});
  point(&output_, stack.layers() - 1, stack.schedule(stack.layers() - 1).output);
}

template <class T>
void LinkedStep<T>::add(std::size_t layer, const ProductStage& stage) {
  Call& call = calls_.emplace_back();
  for (std::size_t i = 0; i < stage.operands.size(); ++i)
    call.operands.push_back({nullptr, stage.operands[i].width, stage.operand_widths[i]});
  for (std::size_t i = 0; i < stage.operands.size(); ++i)
    point(const_cast<T**>(&call.operands[i].a), layer, stage.operands[i]);
  const WeightStack& weights = stack_.schedule(layer).stacks[stage.stack];
  call.pointers.resize(weights.columns / kLane<T>);
  T** pointer = call.pointers.data();
  for (const Operand& out : stage.outputs)
    for (std::int64_t j = 0; j < out.width; j += kLane<T>) {
      point(pointer++, layer, out, j);
      call.strides.push_back(out.width);
    }
  call.product = {rows_,
                  call.operands.data(),
                  static_cast<std::int64_t>(call.operands.size()),
                  stack_.weights(layer).stack(stage.stack),
                  weights.columns,
                  call.pointers.data(),
                  call.strides.data()};
  call.multiply = stack_.kernels(layer).product;
}

template <class T>
void LinkedStep<T>::add(std::size_t layer, const ElementStage& stage) {
  Call& call = calls_.emplace_back();
  call.stage = stage.compiled.get();
  call.bytes = rows_ * stage.register_width * static_cast<std::int64_t>(sizeof(T));
  call.pointers.resize(call.stage->operands().size());
  T** pointer = call.pointers.data();
  for (int i : call.stage->operands()) {
    const Operand& operand = stage.operands[i];
    if (operand.kind == Operand::Kind::array) {
      point(pointer, layer, operand);
    } else {
      *pointer = const_cast<T*>(stack_.weights(layer).vector(operand.index));
    }
    ++pointer;
  }
}

/// States persist between steps, and so does a layer's input if it is a state of the layer below. All other
/// arrays hold the values of one step.
template <class T>
bool LinkedStep<T>::moves(std::size_t layer, int array) const {
  const LayerSchedule& schedule = stack_.schedule(layer);
  if (layer > 0 && array == schedule.input_array)
    return moves(layer - 1, stack_.schedule(layer - 1).output.index);
  return schedule.arrays[array].kind == Array::Kind::state;
}

template <class T>
void LinkedStep<T>::point(T** pointer, std::size_t layer, const Operand& operand, std::int64_t offset) {
  const bool moving = moves(layer, operand.index);
  (moving ? moving_ : fixed_).push_back({pointer, layer, operand, offset});
  if (moving) strides_.push_back(rows_ * operand.width);
}

template <class T>
void LinkedStep<T>::begin(std::int64_t n) {
  for (const ArrayPointer& l : fixed_) *l.pointer = layers_[l.layer].array(l.operand.index).base + l.offset;
  for (const ArrayPointer& l : moving_)
    *l.pointer = layers_[l.layer].array(l.operand.index).at(n + l.operand.step) + l.offset;
}

template <class T>
const T* LinkedStep<T>::run() {
  const T* const output = output_;
  for (Call& call : calls_) {
    if (call.stage == nullptr) {
      call.multiply(call.product);
      call.product.descending = !call.product.descending;
    } else {
      call.stage->run(call.pointers.data(), call.bytes);
    }
  }
  for (std::size_t i = 0; i < moving_.size(); ++i) *moving_[i].pointer += strides_[i];
  return output;
}

template class LinkedStep<float>;
template class LinkedStep<double>;

}  // namespace lagtape::recurrence
