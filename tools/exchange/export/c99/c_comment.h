#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/exchange/export/c99/c_layer.h"

namespace lagtape {

/// The comment at the head of the file: how to use it, sizes, and the operations of a step. `layers` are
/// their names, `inputs` those of the numbers of a step, if there are any; `code` are the functions, from which their size is estimated.
std::string c_comment(const CStyle& style, const std::string& layers, const std::vector<std::string>& inputs,
                      const CCosts& costs, const std::string& code);

}  // namespace lagtape
