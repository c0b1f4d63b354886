#include "lagtape/ops/recurrence/stream/compiled_row.h"

#include <algorithm>

#if defined(LAGTAPE_JIT)
#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/recurrence/stream/row_emitter.h"
#endif

namespace lagtape::recurrence {

#if defined(LAGTAPE_JIT)

namespace {

/// Whether steps in the stack's format can be compiled on this processor.
template <class T>
bool takes_format(const CompiledStack<T>& stack) {
  if (stack.kernels(0).level != SimdLevel::avx512) return false;
  switch (stack.stack().products) {
    case ProductFormat::bf16: return sizeof(T) == 4 && has_bf16_instruction();
    case ProductFormat::int8: return sizeof(T) == 4 && has_int8_instruction();
    default: return true;
  }
}

}  // namespace

template <class T>
std::int64_t CompiledRow<T>::scratch_elements(const CompiledStack<T>& stack) {
  return takes_format(stack) ? rounded_elements(stack) : 0;
}

template <class T>
struct CompiledRow<T>::Code {
  RowProgram<T> row;
  EmittedRow<T> emitted;
};

template <class T>
std::shared_ptr<const typename CompiledRow<T>::Code> CompiledRow<T>::compile(
    const CompiledStack<T>& stack, const std::deque<LayerRunner<T>>& layers, const T* memory,
    const T* scratch, std::span<const Tensor> weights) {
  if (!takes_format(stack)) return nullptr;
  auto row = row_program(stack, layers, RowMemory<T>{memory, scratch}, weights);
  if (!row) return nullptr;
  const auto code = std::make_shared<Code>(Code{std::move(*row), {}});
  code->emitted = emit(code->row);
  return code->emitted.code != nullptr ? code : nullptr;
}

template <class T>
CompiledRow<T>::CompiledRow(std::shared_ptr<const Code> code, std::deque<LayerRunner<T>>& layers, T* memory)
    : code_(std::move(code)), layers_(layers), memory_(memory) {
  std::ranges::copy(code_->emitted.functions, functions_);
  states_.resize(code_->row.moving.size());
}

template <class T>
void CompiledRow<T>::begin(std::int64_t n) {
  active_ = true;
  for (std::size_t i = 0; i < states_.size(); ++i)
    states_[i] = layers_[code_->row.moving[i].layer].array(code_->row.moving[i].array).at(n);
  for_resting([&](ArrayView<T>& state) {
    const T* const from = state.at(n);
    state.first = n - (n & 1);
    std::copy_n(from, state.stride, state.at(n));
  });
}

template <class T>
void CompiledRow<T>::end(std::int64_t n) {
  if (!active_) return;
  active_ = false;
  for_resting([&](ArrayView<T>& state) { state.first = n - (n & 1); });
}

#else

template <class T>
struct CompiledRow<T>::Code {};

template <class T>
std::shared_ptr<const typename CompiledRow<T>::Code> CompiledRow<T>::compile(
    const CompiledStack<T>&, const std::deque<LayerRunner<T>>&, const T*, const T*, std::span<const Tensor>) {
  return nullptr;
}

template <class T>
std::int64_t CompiledRow<T>::scratch_elements(const CompiledStack<T>&) {
  return 0;
}

template <class T>
CompiledRow<T>::CompiledRow(std::shared_ptr<const Code> code, std::deque<LayerRunner<T>>& layers, T* memory)
    : code_(std::move(code)), layers_(layers), memory_(memory), functions_{} {}

template <class T>
void CompiledRow<T>::begin(std::int64_t) {}

template <class T>
void CompiledRow<T>::end(std::int64_t) {}

#endif

/// Places the states that are read only one step back: they alternate between two locations.
template <class T>
template <class F>
void CompiledRow<T>::for_resting(F f) {
  for (LayerRunner<T>& layer : layers_)
    for (std::size_t s = 0; s < layer.program().states.size(); ++s)
      if (layer.program().history(static_cast<int>(s)) == 0) f(layer.array(layer.schedule().state_arrays[s]));
}

template class CompiledRow<float>;
template class CompiledRow<double>;

}  // namespace lagtape::recurrence
