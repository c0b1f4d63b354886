#pragma once

#include <string>

#include "lagtape/tools/exchange/export/c99/c_layer.h"
#include "lagtape/tools/exchange/export/step_names.h"

namespace lagtape {

/// The comment at the head of the file: how to use it, sizes, and the operations of a step. `layers` and
/// `names` name the layers and, where names are known, the numbers of a step; the size of the code is estimated from
/// its text, `code`. `usage` has lines about more functions.
std::string c_comment(const CStyle& style, const std::string& layers, const StepNames& names,
                      const std::string& usage, const CCosts& costs, const std::string& code);

}  // namespace lagtape
