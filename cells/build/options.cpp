#include "lagtape/cells/build/options.h"

#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

Json json_of(const ReadOptions& read) {
  const Json nothing = Json::object();
  JsonErrors missing;  // keys without a default are errors here; their values are written too
  JsonReader reader(nothing, "", missing);
  read(reader);
  return reader.filled();
}

}  // namespace

std::string options_text(const ReadOptions& read) { return json_of(read).dump(); }

void check_options(std::string_view layer, const ReadOptions& read) {
  const Json options = json_of(read);
  JsonErrors errors;
  JsonReader reader(options, "", errors);
  read(reader);
  errors.raise(std::string(layer));
}

}  // namespace lagtape
