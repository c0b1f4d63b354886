#pragma once

#include <span>
#include <vector>

#include "lagtape/cells/model.h"

namespace lagtape {

/// One row's stream in the user's own numbers: the model's scaling is applied to what goes in and undone on
/// what comes out, bit for bit as Model::predict does. T is the scalar of the model.
template <class T>
class RowStream {
 public:
  explicit RowStream(const Model& model);

  /// Feeds one step x [input] and gives the read-out there, [q].
  Tensor step(std::span<const double> x);

 private:
  const Model& model_;
  Stream<T> stream_;
  std::vector<T> input_;
};

/// What Model::predict gives for x [T, input] or [B, T, input], computed step by step.
Tensor predict_by_stream(const Model& model, const Tensor& x);

/// Throws InputError unless the model's outputs are logits.
void check_has_probabilities(const Model& model);
/// Softmax over the last axis, or the sigmoid of single logits, in the precision of the logits.
Tensor probabilities_of(const Model& model, const Tensor& logits);

}  // namespace lagtape
