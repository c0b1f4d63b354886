#include "lagtape/cells/build/layer_definition.h"

#include "lagtape/cells/build/layer_content.h"
#include "lagtape/core/error.h"

namespace lagtape {

LayerDefinition::LayerDefinition(const LayerEntry& entry, const ReadOptions& read, const ReadInner& inner) {
  const std::string kind(entry.kind), name(entry.name);
  const Json nothing = Json::object();
  JsonErrors missing;  // keys without a default are errors here; the struct has values for them
  JsonReader own(nothing, "", missing);
  read(own);
  Json options = {{kind, name}};
  options.update(own.filled());
  JsonErrors errors;
  // From here on the layer is read as from a file, so that both ways of writing it give the same layer.
  JsonReader reader(options, "", errors);
  reader.raw(kind, "name");
  BuildLayer build = inner ? entry.read_around(reader, inner) : entry.read(reader);
  reader.finish();
  errors.raise(name);
  content_ = std::make_shared<const LayerContent>(
      LayerContent{name, std::move(build), entry.takes_tokens, reader.filled()});
}

ReadInner LayerDefinition::reading(const LayerDefinition& inner) {
  return [content = inner.content_](JsonReader& around, const std::string& key) {
    around.raw(key, "the cell inside");
    around.fill(key, content->json);
    if (content->json.contains("layer"))
      around.error(key, text_of("the layer inside must be a cell, got '", content->name, "'."));
    return content->build;
  };
}

const std::string& LayerDefinition::name() const { return content_->name; }

}  // namespace lagtape
