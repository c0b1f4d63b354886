#include "lagtape/ops/recurrence/run/compiled_stack.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/jit/stage_compiler.h"
#include "lagtape/ops/recurrence/schedule/scheduler.h"
#include "lagtape/ops/recurrence/step/resets.h"

namespace lagtape::recurrence {

template <class T>
CompiledStack<T>::CompiledStack(const StackDefinition& stack, bool input_gradient, const Kernels<T>& kernels,
                                bool compile_stages, bool forward_only)
    : stack_(stack),
      kernels_(kernels),
      layer_kernels_(stack.products == ProductFormat::scalar
                         ? kernels
                         : lagtape::kernels<T>(kernels.level, stack.products)),
      final_readout_(stack.readout.has_value() && !reads_every_step(stack.at)) {
  for (const StepProgram& layer : stack.layers) {
    auto known = forward_only ? std::nullopt : without_reset_column(layer);
    reset_columns_.push_back(known ? known->column : -1);
    programs_.push_back(known ? &without_resets_.emplace_back(std::move(known->program)) : &layer);
  }
  if (stack.readout && !final_readout_) programs_.push_back(&*stack.readout);
  const auto add = [&](const StepProgram& program, bool gradient) {
    const bool rounds = !forward_only && this->kernels(schedules_.size()).products == ProductFormat::bf16;
    schedules_.push_back(
        schedule_layer(program, gradient, kLane<T>, rounds ? ProductFormat::bf16 : ProductFormat::scalar));
    if (compile_stages) recurrence::compile_stages<T>(schedules_.back(), kernels.level);
    weights_.emplace_back(program, schedules_.back(), this->kernels(weights_.size()));
    weight_count_ += static_cast<std::int64_t>(program.weights.size());
  };
  for (std::size_t l = 0; l < programs_.size(); ++l) add(*programs_[l], l > 0 || input_gradient);
  if (final_readout_) add(*stack.readout, true);
}

template <class T>
void CompiledStack<T>::load(std::span<const Tensor> weights, const OperandRanges& ranges) {
  if (static_cast<std::int64_t>(weights.size()) != weight_count_)
    throw unexpected({.op = "sequence"}, Rule::shape, text_of(weight_count_, " weights"),
                     text_of(weights.size()));
  std::size_t next = 0;
  for (std::size_t p = 0; p < programs(); ++p) {
    const StepProgram& program = p < programs_.size() ? *programs_[p] : *stack_.readout;
    weights_[p].load(weights.subspan(next, program.weights.size()),
                     p < ranges.size() ? std::span<const float>(ranges[p]) : std::span<const float>());
    next += program.weights.size();
  }
}

template class CompiledStack<float>;
template class CompiledStack<double>;

}  // namespace lagtape::recurrence
