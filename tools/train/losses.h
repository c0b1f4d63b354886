#pragma once

#include <string>
#include <string_view>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/normalization.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// The targets that a loss needs, in words, and whether the data have them.
std::string_view targets_of(Loss loss);
bool loss_fits(Loss loss, const DataShape& data);
/// The message about a loss that does not fit the data.
std::string mismatch(Loss loss, const DataShape& data);

/// The default loss for data: cross_entropy for classes, else mse.
Loss default_loss(const DataShape& data);
/// The number of model outputs for such data and loss.
std::int64_t output_width(const LossFunction& loss, const DataShape& data);
/// The scaling of each model output, made from that of each target number.
Scaling scaling_of_outputs(const LossFunction& loss, const Scaling& of_targets);
/// The normalization of the data on which a model was trained: the model's, with one scaling for each target
/// number.
Normalization normalization_of_data(const Model& model);
Normalization normalization_of_data(const Normalization& of_model, const LossFunction& loss);
/// The opposite.
Normalization normalization_of_model(const Normalization& of_data, const LossFunction& loss);
/// The same for series that are scaled separately.
SeriesNormalizations series_of_data(const Model& model);

}  // namespace lagtape
