#pragma once

#include <optional>
#include <vector>

#include "lagtape/core/linear_term.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The linear term whose residual a network learns: for "linear" all inputs of a step and the past of the
/// varying columns; for "seasonal" the target one season before the predicted row. None without the option.
/// Throws InputError if no season is known, if a target's past is not an input, or if the window is too short.
std::optional<LinearTerm> residual_term(const SeriesOptions& options, const Panel& panel);

/// With "seasonal": for each target, the feature of the term that holds the target one season before; else
/// empty.
std::vector<std::int64_t> seasonal_features(const SeriesOptions& options, const Panel& panel,
                                            const LinearTerm& term);

}  // namespace lagtape
