#pragma once

#include <memory>
#include <vector>

#include "lagtape/data/dataset.h"

namespace lagtape {

/// The concatenated sequences of several sets of one task. Throws Error for an unlimited set.
std::shared_ptr<const Dataset> joined(const std::vector<std::shared_ptr<const Dataset>>& parts);

/// The first `count` sequences of a set, or all of them. Throws Error for an unlimited set.
std::shared_ptr<const Dataset> first_sequences(std::shared_ptr<const Dataset> whole, std::int64_t count);

}  // namespace lagtape
