#pragma once

#include <string>

#include "lagtape/tools/exchange/export/c99/c_layer.h"
#include "lagtape/tools/exchange/export/exported_model.h"

namespace lagtape {

/// The function NAME_self_test in C, with its inputs and the outputs that a stream produces for them. Throws
/// InputError if these are not finite.
std::string c_self_test(const ExportedModel& model, const CStyle& style);

}  // namespace lagtape
