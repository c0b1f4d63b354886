#pragma once

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// The layers of a stack at the rate of the options (step_at_rate).
StackDefinition stack_at_rate(StackDefinition stack, const StreamOptions& options);

/// A window of a model with as many past values as the layers of `stack` need, spaced 1 / rate steps apart:
/// linearly interpolated between two values, and beyond the oldest value equal to it.
Window at_rate(const Window& window, const StackDefinition& stack, double rate, Dtype dtype);

/// Throws InputError where the layers `stack`, those of the model at the rate of the options, are not stable although
/// the model is: of two streams in f64 with a constant input, whose states differ by a millionth, the difference grows a
/// hundred times in 256 steps, and not so at the model's own rate. Inputs of 0, +-0.1 and +-0.3, as the layers see them,
/// are tried, from where the model is after 512 steps. Carson, Wright and Bilbao 2024 (step_rate.h) found that the
/// linear stability of a fixed point shows which models fail.
void check_stability(const Model& model, const StackDefinition& stack, const StreamOptions& options);

}  // namespace lagtape
