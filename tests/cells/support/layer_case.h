#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/registry.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape::test {

/// A layer of whole sequences by its name and options. Throws InputError for what is wrong with them.
Layer build_sequence_layer(const std::string& name, const Json& options, std::int64_t input);

/// A layer of whole sequences with numbers for all of it, in training.
struct LayerCase {
  Layer layer;
  std::vector<Tensor> parameters;  ///< about their first values
  SequenceBatch batch;

  LayerCase(Layer layer, Tensor x, std::vector<std::int64_t> lengths);

  /// Its outputs on the tape. `statistics` receives those of the batch, when given.
  Var record(Tape& tape, std::span<const Var> parameters, const Var& x, ThreadPool& pool,
             Statistics* statistics = nullptr);
  /// The outputs and the gradients of their scalar product with `weights`, of x and then of the parameters.
  std::vector<Tensor> run(const Tensor& weights, int threads);
  /// What it gives in evaluation.
  Tensor evaluate();

 private:
  std::vector<SequenceOp> ops_;
};

/// cos(k), k the row-major index; zeros beyond the lengths.
Tensor cosines(const Shape& shape, Dtype dtype, std::span<const std::int64_t> lengths);

}  // namespace lagtape::test
