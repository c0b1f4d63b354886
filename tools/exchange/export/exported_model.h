#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// A layer as another program runs it: the step and its weights, with derived weights as plain matrices.
struct ExportedLayer {
  std::string name;  ///< "layer0", "layer1", ..., "readout": unique in the model
  StepProgram program;
  std::vector<Tensor> weights;  ///< in the order of program.weights
  /// The initial states, [history + 1, 1, width] each as in a window; empty: zeros.
  std::vector<Tensor> start = {};
};

/// A bidirectional layer below, with the layers under it.
struct ExportedPart {
  std::vector<ExportedLayer> below;        ///< run first
  std::vector<ExportedLayer> ahead, back;  ///< read the sequence from its first step, and from its last
  std::string merge;                       ///< how the two outputs are merged: "concat", "sum" or "mean"
  bool at_end = false;  ///< only the last outputs of both, which have seen the whole sequence, are read
};

/// A model in the form that streams run (batch normalization uses its running statistics), with everything that
/// a step needs except the input.
struct ExportedModel {
  std::vector<ExportedLayer> layers;
  std::optional<ExportedLayer> readout;
  ReadAt at = ReadAt::every_step;
  Tensor table;  ///< [V, width], the vectors of the tokens; empty: inputs are numbers
  Normalization normalization;
  Dtype dtype = Dtype::f32;
  /// The stack of `layers` and `readout`, for a stream over (changed) weights.
  StackDefinition stack;
  std::int64_t input = 0;           ///< numbers per step; 1 for tokens
  std::vector<ExportedPart> parts;  ///< below `layers`; only in models of whole sequences

  std::int64_t output_width() const { return stack.output_width(); }
  /// The weights of all layers, the read-out's last, as Stream takes them.
  std::vector<Tensor> weights() const;
};

/// The names of a step's outputs if a target has several: "q0.1", "mean of target 2", ...; else none.
std::vector<std::string> output_names(const StackDefinition& stack);

/// Throws InputError for a model that cannot run step by step, with the layer's reason, and for a bf16 model:
/// no other program rounds the operands of its products.
ExportedModel exported(const Model& model);
/// The same for a model that may need whole sequences.
ExportedModel exported_whole(const Model& model);
/// The same for a format whose states start as zeros, such as "torch". Also throws InputError for a model with
/// its own initial states.
ExportedModel exported_from_zeros(const Model& model, const std::string& form);

/// A bf16 model as an f32 model with the same parameters, whose outputs differ slightly.
Model in_f32(const Model& model);

}  // namespace lagtape
