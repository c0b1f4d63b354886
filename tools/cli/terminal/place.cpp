#include "lagtape/tools/cli/terminal/place.h"

namespace lagtape::cli {

InputError named(const InputError& error, const std::string& place) {
  return error.problems().front().place.op.empty() ? error : error.within({place});
}

}  // namespace lagtape::cli
