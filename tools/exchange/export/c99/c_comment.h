#pragma once

#include <string>

#include "lagtape/tools/exchange/export/c99/c_layer.h"
#include "lagtape/tools/exchange/export/step_names.h"

namespace lagtape {

/// The comment at the top of the file: usage, sizes, and the operations in a step. `layers` and `names` name
/// the layers and, if known, the numbers of a step; the code size is estimated from its text, `code`. `usage`
/// contains lines about additional functions.
std::string c_comment(const CStyle& style, const std::string& layers, const StepNames& names,
                      const std::string& usage, const CCosts& costs, const std::string& code);

}  // namespace lagtape
