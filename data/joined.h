#pragma once

#include <memory>
#include <vector>

#include "lagtape/data/dataset.h"

namespace lagtape {

/// The sequences of several sets of one task, one set after the other. Throws Error for an unlimited set.
std::shared_ptr<const Dataset> joined(const std::vector<std::shared_ptr<const Dataset>>& parts);

}  // namespace lagtape
