#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/registry.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape::test {

/// A layer of whole sequences by its name and options. Throws InputError for wrong options.
Layer build_sequence_layer(const std::string& name, const Json& options, std::int64_t input);

/// A layer of whole sequences with values for its parameters and a batch, in training.
struct LayerCase {
  Layer layer;
  std::vector<Tensor> parameters;  ///< near their first values
  SequenceBatch batch;

  LayerCase(Layer layer, Tensor x, std::vector<std::int64_t> lengths);

  /// The outputs on the tape. `statistics`, unless null, receives the statistics of the batch.
  Var record(Tape& tape, std::span<const Var> parameters, const Var& x, ThreadPool& pool,
             Statistics* statistics = nullptr);
  /// The outputs, and the gradients of their scalar product with `weights`: that of x, then those of the
  /// parameters.
  std::vector<Tensor> run(const Tensor& weights, int threads);
  /// The outputs in evaluation.
  Tensor evaluate();

 private:
  std::vector<SequenceOp> ops_;
};

/// cos(k), k the row-major index; zeros beyond the lengths.
Tensor cosines(const Shape& shape, Dtype dtype, std::span<const std::int64_t> lengths);

}  // namespace lagtape::test
