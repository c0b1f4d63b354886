#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/cell.h"

namespace lagtape {

class JsonReader;

/// The affine map y = W x + W.bias of every step, W [units, input], W.bias [units]: a layer, and the
/// read-out.
///
/// Initialisation "linear": both from U(-1/sqrt(input), 1/sqrt(input)); "kaiming_normal": W from N(0, 2 /
/// input), the bias as before.
struct Linear {
  std::int64_t units = 1;
  std::string init = "linear";

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

/// The key "init" of a linear map.
void read_linear_init(JsonReader& reader, std::string& init);

}  // namespace lagtape
