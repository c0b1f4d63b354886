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

/// SequenceOp::outputs on the tape. Handed in by what trains, so that what only runs models does without.
using RecordOutputs = Var (*)(SequenceOp& op, Tape& tape, std::span<const Var> weights, const Var& x,
                              const SequenceBatch& batch, ThreadPool& pool);

/// Values that parameters take after an update which are no function of gradients (running means), by their
/// number among the layer's parameters.
using Statistics = std::vector<std::pair<std::size_t, Tensor>>;

/// The draws of one of several parts, each its own whatever the others draw. Part 0 has those of the whole.
DrawKey draws_of_part(const DrawKey& draws, std::size_t part);

/// What a layer of whole sequences is recorded with.
struct RecordedPass {
  Tape& tape;
  const SequenceBatch& batch;  ///< lengths, draws and `training`; x and targets are the whole model's
  ThreadPool& pool;
  std::span<SequenceOp> ops;  ///< of SequenceLayer::ops
  RecordOutputs outputs;
  Statistics& statistics;  ///< those of this batch are added, in training
};

/// A layer that takes all steps of all rows of a batch at a time, and so ends a sequence op: what is below it
/// runs to its end first. Immutable. Weights are those of Layer::step_weights.
class SequenceLayer {
 public:
  virtual ~SequenceLayer() = default;

  virtual std::int64_t input_width() const = 0;  ///< 1 for tokens
  virtual std::int64_t output_width() const = 0;

  /// y [B, T, output] of x [B, T, input]. What stands beyond a row's length is not read, and finite in y.
  virtual Var record(const RecordedPass& pass, std::span<const Var> weights, const Var& x) const = 0;
  /// The same without a tape, in evaluation.
  virtual Tensor evaluate(std::span<const Tensor> weights, const Tensor& x, const SequenceBatch& batch,
                          ThreadPool& pool, std::span<SequenceOp> ops) const = 0;

  /// The step's weights of the parameters, where they are others. As Layer::weights.
  virtual std::vector<Var> weights(std::span<const Var> parameters) const {
    return {parameters.begin(), parameters.end()};
  }
  /// The sequence ops that it runs, which the chain holds for it.
  virtual std::vector<StackDefinition> ops() const { return {}; }
  /// In evaluation a layer of a step alone, with the same parameters. Null when it is none.
  virtual const Layer* in_evaluation() const { return nullptr; }
  /// The rows of the table that its inputs, x [B, T, 1], are numbers of. 0: inputs are no tokens.
  virtual std::int64_t tokens() const { return 0; }
  /// Why its sequences cannot come in pieces (streams, truncated BPTT); empty when they can.
  virtual std::string obstacle() const { return {}; }
  /// The layer that gives [B, 1, output], what a read-out at the end of a sequence takes, where that is
  /// something else than the last step. Null when it is that.
  virtual std::shared_ptr<const SequenceLayer> at_end() const { return nullptr; }
  /// Whether it is such a layer.
  virtual bool ends_sequences() const { return false; }
  /// Numbers that it keeps a row and step in training, besides its output and the gradients of x and output.
  virtual std::int64_t kept_a_step() const { return 0; }
};

}  // namespace lagtape
