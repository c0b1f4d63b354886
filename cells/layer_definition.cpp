#include "lagtape/cells/layer_definition.h"

#include "lagtape/cells/layer_content.h"
#include "lagtape/core/error.h"

namespace lagtape {

LayerDefinition::LayerDefinition(const LayerEntry& entry, const std::function<void(JsonReader&)>& read) {
  const std::string kind(entry.kind), name(entry.name), where = text_of(kind, " '", name, "'");
  const Json nothing = Json::object();
  JsonErrors missing;  // keys without a default, which the struct holds all the same
  JsonReader own(nothing, "", missing);
  read(own);
  Json options = {{kind, name}};
  options.update(own.filled());
  JsonErrors errors;
  // From here on it is a layer of a file, so that both ways of writing it give the same layer.
  JsonReader reader(options, "", errors);
  reader.raw(kind, "name");
  BuildLayer build = entry.read(reader);
  reader.finish();
  errors.raise(where);
  content_ = std::make_shared<const LayerContent>(
      LayerContent{name, std::move(build), entry.takes_tokens, reader.filled()});
}

const std::string& LayerDefinition::name() const { return content_->name; }

}  // namespace lagtape
