#pragma once

#include "lagtape/cells/build/cell.h"
#include "lagtape/core/gradient_check.h"
#include "lagtape/tests/ops/recurrence/support/sequence_case.h"

namespace lagtape::test {

/// A layer in f64 with values for its parameters, near their first values, and a case for its step with the
/// weights that follow from them.
struct CellCase {
  Layer layer;
  std::vector<Tensor> parameters;
  SequenceCase sequence;
};

/// `rows` sequences of `steps` random inputs, from random windows, in training.
CellCase cell_case(const Layer& layer, std::int64_t rows, std::int64_t steps, std::uint64_t seed = 1);

/// The same layer in the model's precision: steps of 2^-32 have no differences to compare with.
Layer off_grid(Layer layer);

/// The gradients of parameters, inputs and initial windows against central differences.
GradientReport check_cell_gradients(const CellCase& c);

}  // namespace lagtape::test
