#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// A layer of a model as another program runs it: the step and its weights, derived ones as plain matrices.
struct ExportedLayer {
  std::string name;  ///< "layer0", "layer1", ..., "readout": unique in the model
  StepProgram program;
  std::vector<Tensor> weights;  ///< in the order of program.weights
  /// The states before the first step, [history + 1, 1, width] each as in a window; empty: zeros.
  std::vector<Tensor> start = {};
};

/// A layer below that reads sequences from both ends, with the layers under it.
struct ExportedPart {
  std::vector<ExportedLayer> below;        ///< run first
  std::vector<ExportedLayer> ahead, back;  ///< read the sequence from its first step on, and from its last
  std::string merge;                       ///< the merge of the two outputs: "concat", "sum" or "mean"
  bool at_end = false;  ///< only the last outputs of both, which have seen the whole sequence, are read
};

/// A model in the form that streams run (batch normalization with its running statistics), with everything that a step
/// needs except the input.
struct ExportedModel {
  std::vector<ExportedLayer> layers;
  std::optional<ExportedLayer> readout;
  ReadAt at = ReadAt::every_step;
  Tensor table;  ///< [V, width], the vectors of the tokens; empty: inputs are numbers
  Normalization normalization;
  Dtype dtype = Dtype::f32;
  /// The stack of `layers` and `readout`, for a stream over (changed) weights.
  StackDefinition stack;
  std::int64_t input = 0;           ///< numbers of a step; 1 for tokens
  std::vector<ExportedPart> parts;  ///< below `layers`; only in models of whole sequences

  std::int64_t output_width() const { return stack.output_width(); }
  /// The weights of all layers, the read-out's last, as Stream takes them.
  std::vector<Tensor> weights() const;
};

/// The names of a step's outputs where a target has several: "q0.1", "mean of target 2", ...; else none.
std::vector<std::string> output_names(const StackDefinition& stack);

/// Throws InputError for a model that cannot run step by step, which names the layer's reason, and for one of bf16: no
/// other program rounds the operands of its products.
ExportedModel exported(const Model& model);
/// The same for a model that may need whole sequences.
ExportedModel exported_whole(const Model& model);
/// The same for a form whose states begin with zeros, such as "torch". Throws InputError for a model that begins in its
/// own states, too.
ExportedModel exported_from_zeros(const Model& model, const std::string& form);

/// A model of bf16 as one of f32 with the same parameters, whose outputs differ a little.
Model in_f32(const Model& model);

}  // namespace lagtape
