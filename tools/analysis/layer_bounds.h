#pragma once

#include <string>
#include <vector>

namespace lagtape {

/// Proved bounds of a layer, computed from its weights.
struct LayerBounds {
  std::string jacobian_source;   ///< the theorem and its formula; or why there is none
  std::vector<double> jacobian;  ///< bound of the row-sum norm of dX_T/dX_{T-lag}, by lag; empty: none
  std::string state_source;      ///< the same for the states
  std::vector<double> states;    ///< bound on the largest entry of each state; empty: none
};

}  // namespace lagtape
