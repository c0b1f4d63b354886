#pragma once

#include <optional>
#include <vector>

#include "lagtape/core/linear_term.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The linear term whose residual a network learns: for "linear" all inputs of a step and the past of the columns that
/// vary, for "seasonal" the target a season before the row that is predicted. Nothing without the option. Throws
/// InputError where no season is known, where a target's past is not an input, and where the window is too short.
std::optional<LinearTerm> residual_term(const SeriesOptions& options, const Panel& panel);

/// With "seasonal": for each target, the feature of the term that is the target a season before; else empty.
std::vector<std::int64_t> seasonal_features(const SeriesOptions& options, const Panel& panel,
                                            const LinearTerm& term);

}  // namespace lagtape
