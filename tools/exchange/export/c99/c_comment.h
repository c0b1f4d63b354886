#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/exchange/export/c99/c_layer.h"

namespace lagtape {

/// The comment at the head of the file: how to use it, sizes, and the operations of a step. `layers`, `inputs` and
/// `outputs` name the layers and, where names are known, the numbers of a step; the size of the code is estimated from
/// its text, `code`.
std::string c_comment(const CStyle& style, const std::string& layers, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs, const CCosts& costs, const std::string& code);

}  // namespace lagtape
