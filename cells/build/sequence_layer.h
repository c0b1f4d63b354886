#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

struct Layer;

/// New values of parameters that do not come from gradients, such as running means, each with the index of its
/// parameter within the layer. They are assigned after an update.
using Statistics = std::vector<std::pair<std::size_t, Tensor>>;

/// The key for the random draws of one of several parts, which are independent of the other parts' draws. Part
/// 0 uses the key of the whole.
DrawKey draws_of_part(const DrawKey& draws, std::size_t part);

/// The context in which a whole-sequence layer is recorded.
struct LayerRecording {
  Tape& tape;
  const SequenceBatch& batch;  ///< lengths, draws and `training`; x and targets belong to the whole model
  ThreadPool& pool;
  std::span<SequenceOp> ops;  ///< the operations that SequenceLayer::ops defines
  Statistics& statistics;     ///< receives this batch's statistics during training
};

/// A layer that reads all steps of all rows of a batch at once, and so splits the model's sequence ops: the
/// layers below it run to the end of the sequence first. Immutable. Its weights are those of
/// Layer::step_weights.
class SequenceLayer {
 public:
  virtual ~SequenceLayer() = default;

  virtual std::int64_t input_width() const = 0;  ///< 1 for tokens
  virtual std::int64_t output_width() const = 0;

  /// Records y [B, T, output] for x [B, T, input]. Steps beyond the length of a row are not read; in y they are
  /// finite.
  virtual Var record(const LayerRecording& recording, std::span<const Var> weights, const Var& x) const = 0;
  /// The same without a tape, for evaluation.
  virtual Tensor evaluate(std::span<const Tensor> weights, const Tensor& x, const SequenceBatch& batch,
                          ThreadPool& pool, std::span<SequenceOp> ops) const = 0;

  /// The weights of the steps as functions of the parameters, like Layer::weights; by default the parameters
  /// themselves.
  virtual std::vector<Var> weights(std::span<const Var> parameters) const {
    return {parameters.begin(), parameters.end()};
  }
  /// The sequence ops that the layer runs; its owner stores them and passes them in.
  virtual std::vector<StackDefinition> ops() const { return {}; }
  /// The per-step layer with the same parameters that replaces this layer in evaluation. Null if there is none.
  virtual const Layer* in_evaluation() const { return nullptr; }
  /// The number of tokens, if the inputs x [B, T, 1] are tokens 0 .. tokens - 1. 0: they are not.
  virtual std::int64_t tokens() const { return 0; }
  /// The reason why the layer cannot read sequences in pieces (streams, truncated BPTT); empty if it can.
  virtual std::string obstacle() const { return {}; }
  /// The layer whose output [B, 1, output] is used by a read-out at the end of a sequence, if that is not the
  /// last step of y. Null if it is.
  virtual std::shared_ptr<const SequenceLayer> at_end() const { return nullptr; }
  /// Whether this layer came from `at_end`.
  virtual bool ends_sequences() const { return false; }
  /// How many numbers the layer keeps per row and step during training, in addition to its output and the
  /// gradients of x and of the output.
  virtual std::int64_t kept_a_step() const { return 0; }
};

}  // namespace lagtape
