#pragma once

#include <set>
#include <string>

#include "lagtape/ops/kernels/element_functions.h"
#include "lagtape/tools/exchange/export/c99/c_numbers.h"

namespace lagtape {

/// The largest errors of the f32 approximations compared with the exact functions, over all real numbers. A
/// test measures them.
inline constexpr double kFastTanhError = 1.5e-6, kFastSigmoidError = 8e-7;

/// Whether C lacks the function, so that the file defines it.
bool has_own_helper(const ElementFunction& f);

/// The definitions of functions that layers call, by name (CLayer::helpers), and of functions that these call.
std::string c_helpers(std::set<std::string> names, const CStyle& style);

}  // namespace lagtape
