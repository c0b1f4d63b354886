#pragma once

#include <string>
#include <string_view>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/normalization.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// The targets of a loss, in words, and whether data have them.
std::string_view targets_of(Loss loss);
bool loss_fits(Loss loss, const DataShape& data);
/// The message about a loss that does not fit the data.
std::string mismatch(Loss loss, const DataShape& data);

/// The default loss for data: cross_entropy for classes, else mse.
Loss default_loss(const DataShape& data);
/// The number of outputs of a model for such data and loss.
std::int64_t output_width(const LossFunction& loss, const DataShape& data);
/// The scaling of each output of a model, made from that of each number of its targets.
Scaling scaling_of_outputs(const LossFunction& loss, const Scaling& of_targets);
/// The normalization of the data that a model was trained on: that of the model, with one scaling for each number
/// of a target.
Normalization normalization_of_data(const Model& model);
Normalization normalization_of_data(const Normalization& of_model, const LossFunction& loss);
/// The opposite.
Normalization normalization_of_model(const Normalization& of_data, const LossFunction& loss);
/// The same for the series that it scales by themselves.
SeriesNormalizations series_of_data(const Model& model);

}  // namespace lagtape
