#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "lagtape/cells/build/layer_definition.h"
#include "lagtape/cells/layers/linear.h"
#include "lagtape/core/linear_term.h"
#include "lagtape/core/precision.h"
#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

struct CellEquations;

/// The name in JSON: "every_step", "last_step" (padding is its own key), "mean".
std::string_view name_of(ReadAt at);

/// The linear map from the top layer's output to the outputs of a model.
struct ReadoutDefinition {
  std::int64_t units = 0;  ///< size of the output; 0: determined by the data
  /// The steps that are read. None: every step if the data have a target for each, else the last.
  std::optional<ReadAt> at = {};
  /// The matrix is the table E [vocabulary, units] of the embedding below, one parameter that receives the
  /// gradients of both uses: y = E h + W.bias (Press and Wolf 2017; Inan et al. 2017). It starts with the
  /// embedding's values; `init` applies only to the bias. The embedding must have no padding, whose row could
  /// not stay zero. A token whose vector the embedding drops from a batch still has its logit.
  bool tied = false;
  /// The outputs are the top layer's: the matrix is the identity, the bias 0, and neither is trained.
  bool identity = false;
  Linear::Init init = {"kaiming_normal"};
};

/// A model as the user writes it, in C++ or as the "model" of an experiment file: the only form from which models are
/// built, and in which they are saved and read.
///
///     ModelDefinition{.layers = {TauGru{.units = 16, .tau = {10}}, Dropout{.rate = 0.1}},
///                     .readout = {.units = 1, .at = ReadAt::every_step},
///                     .loss = Loss::mse}
///
/// A loss with settings is {Loss::quantile, {.levels = {0.05, 0.5, 0.95}}}.
struct ModelDefinition {
  std::vector<LayerDefinition> layers;  ///< from the input up
  ReadoutDefinition readout = {};
  LossFunction loss = {};
  Precision precision = Dtype::f32;
  std::shared_ptr<const CellEquations> cells = {};  ///< the cells defined in a file; null: none
  /// A trained model starts in the state to which it settles for this input (Model::settle). None: zeros.
  std::optional<double> rest = {};
  std::optional<LinearTerm> linear = {};  ///< added to the outputs of the network (add_linear_term)
};

/// The widths of a model's data. Targets are `output` real numbers, or one of `classes`; 0: unknown.
struct DataWidths {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t classes = 0;
  std::optional<bool> every_step = {};      ///< whether there is one target per step, or one per sequence
  std::optional<LinearTerm> linear = {};    ///< the term added to the network; replaces the model's
  std::optional<std::int64_t> tokens = {};  ///< inputs are 0 .. tokens - 1, one per step; 0: real numbers

  bool operator==(const DataWidths&) const = default;
};

}  // namespace lagtape
