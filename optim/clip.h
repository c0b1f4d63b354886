#pragma once

#include "lagtape/core/parameter.h"

namespace lagtape {

/// The Euclidean norm of all trainable gradients together, summed in order in f64.
double gradient_norm(const Parameters& parameters);

/// Scales every trainable gradient by max_norm / (norm + 1e-6) if that is below 1, and returns the original
/// norm. A non-finite norm is returned without scaling. Throws InputError unless max_norm > 0.
double clip_gradient_norm(Parameters& parameters, double max_norm);

}  // namespace lagtape
