#pragma once

#include <memory>
#include <vector>

#include "lagtape/data/dataset.h"

namespace lagtape {

/// The sequences of several sets of one task, one set after the other. Throws Error when one never ends.
std::shared_ptr<const Dataset> joined(const std::vector<std::shared_ptr<const Dataset>>& parts);

}  // namespace lagtape
