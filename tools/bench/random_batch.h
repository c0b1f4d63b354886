#pragma once

#include "lagtape/cells/models/model.h"
#include "lagtape/data/dataset.h"

namespace lagtape::bench {

/// Standard normal numbers, always the same for a given stream number.
Tensor normal_tensor(Shape shape, Dtype dtype, std::uint64_t stream_number);

/// Inputs for a model: normal numbers, or equally likely tokens.
Tensor random_inputs(const Model& model, Shape shape, std::uint64_t stream_number);

/// A batch of such inputs, with targets that suit the model's loss: normal numbers, classes, or zeros and
/// ones.
SequenceBatch random_batch(const Model& model, const DataShape& data, std::int64_t batch);

}  // namespace lagtape::bench
