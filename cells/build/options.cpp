#include "lagtape/cells/build/options.h"

#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/core/json/options.h"

namespace lagtape {

void require_valid(const LayerEntry& entry, const void* options) {
  Json written = Json::object();
  write_rows(written, entry.options, options);
  JsonErrors errors;
  JsonReader reader(written, "", errors);
  if (entry.read_around != nullptr) {
    entry.read_around(reader, [](JsonReader&, const std::string&) { return BuildLayer(); });
  } else {
    entry.read(reader);
  }
  errors.raise(std::string(entry.name));
}

}  // namespace lagtape
