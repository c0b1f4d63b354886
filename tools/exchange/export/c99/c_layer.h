#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lagtape/tools/exchange/export/c99/c_numbers.h"
#include "lagtape/tools/exchange/export/exported_model.h"

namespace lagtape {

/// The cost of a step and its data, for the comment at the top of the file.
struct CCosts {
  std::int64_t weight_bytes = 0;
  std::int64_t state_bytes = 0;
  std::int64_t stack_bytes = 0;                ///< bytes of arrays, in the function that needs the most
  std::int64_t multiply_adds = 0;              ///< in sums of products
  std::map<std::string, std::int64_t> called;  ///< functions such as tanh, with counts per element
};

/// A layer as C: its constants, the members that it adds to the state, the code that zeroes them, and the
/// function `static void NAME_LAYER(NAME_state *state, const T *x, T *y)`.
struct CLayer {
  std::string constants = {}, members = {}, reset = {}, function = {};
  std::set<std::string> helpers = {};  ///< functions of c_helpers.h that it calls
  CCosts costs = {};
  bool counts_steps = false;  ///< it reads state->steps, the number of previous steps
};

/// The layer as C. Integer matrices replace the layer's own, which must be restored from the same integers.
/// Throws InputError for a layer whose sizes exceed an int in C.
CLayer c_layer(const ExportedLayer& layer, const CStyle& style);

}  // namespace lagtape
