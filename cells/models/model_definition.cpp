#include "lagtape/cells/models/model_definition.h"

namespace lagtape {

std::string_view name_of(ReadAt at) {
  switch (at) {
    case ReadAt::every_step: return "every_step";
    case ReadAt::mean: return "mean";
    case ReadAt::last_step:
    case ReadAt::last_padded_step: return "last_step";
  }
  return "";
}

}  // namespace lagtape
