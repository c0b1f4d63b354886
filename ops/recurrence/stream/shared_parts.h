#pragma once

#include <span>
#include <utility>

#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/stream/stream_input.h"

namespace lagtape::recurrence {

/// The stack as a stream runs it: a read-out that reads once per sequence reads at every step instead; for a
/// mean, the mean so far.
inline StackDefinition as_stream(StackDefinition stack) {
  if (stack.at != ReadAt::mean) stack.at = ReadAt::every_step;
  stack.loss = Loss::none;
  return stack;
}

/// The parts that copies of a stream share.
template <class T>
struct SharedParts {
  SharedParts(const StackDefinition& definition, SimdLevel level, std::span<const Tensor> weights,
              const Tensor& table, const Normalization& normalization, Window first,
              const OperandRanges& ranges)
      : stack(as_stream(definition)),
        input(stack.input_width(), table, normalization.input),
        output_scaling(normalization.output),
        compiled(stack, false, kernels<T>(level), true, true),
        start(std::move(first)) {
    output_scaling.check(stack.output_width(), "output");
    compiled.load(weights, ranges);
  }
  StackDefinition stack;
  StreamInput<T> input;
  Scaling output_scaling;
  CompiledStack<T> compiled;
  Window start;  // the states before the first step; empty: zeros
};

}  // namespace lagtape::recurrence
