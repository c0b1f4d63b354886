#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/cell.h"
#include "lagtape/cells/layers/sequence_layer.h"

namespace lagtape {

/// One of the operations of a chain: a sequence op, or a layer of whole sequences.
struct Link {
  StackDefinition stack;                       ///< of the sequence op
  std::shared_ptr<const SequenceLayer> layer;  ///< in place of it; null: none
  std::size_t weights = 0, parameters = 0;     ///< how many of the chain's are its own

  std::int64_t output_width() const;
};

/// What runs a model: its layers as operations one after another. Layers of a step and cells that follow each
/// other are one sequence op, the last of which has the read-out and the loss. A model without layers of
/// whole sequences is a chain of one sequence op.
struct ChainDefinition {
  std::vector<Link> links;
  std::optional<Arithmetic> states = {};  ///< of all states, in place of their own

  std::int64_t input_width() const;  ///< 1 for tokens
  std::int64_t output_width() const;
  ReadAt at() const { return links.back().stack.at; }
  Loss loss() const { return links.back().stack.loss; }
  /// Rows of the table that the inputs are numbers of; 0: inputs are no tokens.
  std::int64_t tokens() const;
  /// Why sequences cannot come in pieces; empty when they can.
  std::string obstacle() const;
};

/// The chain of layers with a read-out at the top.
ChainDefinition make_chain(std::span<const Layer> layers, const Layer& readout, ReadAt at, Loss loss);

/// The layers as evaluation has them: what is then a layer of a step alone is one, and belongs to a sequence
/// op.
std::vector<Layer> in_evaluation(std::span<const Layer> layers);

/// States of all layers of a stack.
std::size_t state_count(const StackDefinition& stack);

}  // namespace lagtape
