#pragma once

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// The result of Model::predict for x [T, input] or [B, T, input], computed step by step, each row by a stream with
/// these options.
Tensor predict_by_stream(const Model& model, const Tensor& x, const StreamOptions& options = {});

/// The error of outputs compared with exact ones of the same shape: the root mean square of the differences,
/// relative to that of the exact outputs.
double relative_difference(const Tensor& outputs, const Tensor& exact);

/// Throws InputError unless the model's outputs are logits.
void check_has_probabilities(const Model& model);
/// Softmax over the last axis, or the sigmoid of single logits, in the precision of the logits.
Tensor probabilities_of(const Model& model, const Tensor& logits);

}  // namespace lagtape
