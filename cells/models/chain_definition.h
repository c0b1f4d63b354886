#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/build/cell.h"
#include "lagtape/cells/build/sequence_layer.h"

namespace lagtape {

/// One operation of a chain: a sequence op, or a whole-sequence layer.
struct ChainPart {
  StackDefinition stack;                       ///< the layers of the sequence op
  std::shared_ptr<const SequenceLayer> layer;  ///< runs instead of a sequence op; null: none
  std::size_t weights = 0, parameters = 0;     ///< how many weights and parameters it has

  std::int64_t output_width() const;
};

/// A model's layers as operations that run one after another. Adjacent cells and per-step layers form one
/// sequence op; the last one includes the read-out and the loss. A model without whole-sequence layers is a
/// chain of one sequence op.
struct ChainDefinition {
  std::vector<ChainPart> parts;
  std::optional<Arithmetic> states = {};           ///< the arithmetic of all states, overriding their own
  ProductFormat products = ProductFormat::scalar;  ///< for all sequence ops
  /// The initial states of its sequence ops, for one row; empty: zeros.
  Window start = {};

  std::int64_t input_width() const;  ///< 1 for tokens
  std::int64_t output_width() const;
  ReadAt at() const { return parts.back().stack.at; }
  const LossFunction& loss() const { return parts.back().stack.loss; }
  /// The number of tokens from which the inputs are drawn; 0: inputs are not tokens.
  std::int64_t tokens() const;
  /// The reason why sequences cannot be read in pieces; empty if they can.
  std::string obstacle() const;
};

/// Makes the chain of these layers with a read-out at the top.
ChainDefinition make_chain(std::span<const Layer> layers, const Layer& readout, ReadAt at, LossFunction loss,
                           ProductFormat products);

/// The layers as evaluation runs them. A whole-sequence layer that acts per step in evaluation (batch
/// normalization with its running statistics) becomes a per-step layer, and so joins a sequence op.
std::vector<Layer> in_evaluation(std::span<const Layer> layers);

/// The shapes and precisions of the tensors in a window of the whole chain.
std::vector<std::pair<Shape, Dtype>> window_shapes(const ChainDefinition& chain, std::int64_t rows,
                                                   Dtype dtype);
/// The initial window for so many rows; empty if it is zeros.
Window start_window(const ChainDefinition& chain, std::int64_t rows, Dtype dtype);

/// The number of states in all layers of a stack.
std::size_t state_count(const StackDefinition& stack);

}  // namespace lagtape
