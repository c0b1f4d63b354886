#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/cell.h"
#include "lagtape/cells/initial_values.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// The affine map y = W x + W.bias of every step, W [units, input], W.bias [units]: a layer, and the
/// read-out.
///
/// Initialisation "linear": both from U(-1/sqrt(input), 1/sqrt(input)); "kaiming_normal": W from N(0, 2 /
/// input), the bias as before; or by parameter.
struct Linear {
  struct Init {
    std::string name = "linear";
    InitialValues values = {};  ///< in the place of those

    /// The key "init", a name or an object of parameters.
    void read(JsonReader& reader);
  };
  std::int64_t units = 1;
  Init init = {};

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
