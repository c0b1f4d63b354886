#include "lagtape/cells/build/layer_definition.h"

#include "lagtape/cells/build/layer_content.h"
#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// A reader that returns `inner` for any key.
ReadInner reading(const LayerContent& inner) {
  return [&inner](JsonReader& around, const std::string& key) {
    around.raw(key, "");
    around.fill(key, inner.json);
    if (inner.json.contains("layer"))
      around.error(key, text_of("the layer inside must be a cell, got '", inner.name, "'."));
    return inner.build;
  };
}

}  // namespace

LayerDefinition::LayerDefinition(const LayerEntry& entry, const void* options,
                                 const CommonCellOptions* common, const InitialValues* init,
                                 const LayerDefinition* inner) {
  const std::string kind(entry.kind), name(entry.name);
  Json written = {{kind, name}};
  write_rows(written, entry.options, options);
  if (common != nullptr) written.update(json_of(kCommonCellOptions, *common));
  if (init != nullptr) written.update(json_of(kInitOption, *init));
  JsonErrors errors;
  // From here on the layer is read as from a file, so both ways of writing it produce the same layer.
  JsonReader reader(written, "", errors);
  reader.raw(kind, "name");
  BuildLayer build = inner ? entry.read_around(reader, reading(inner->content())) : entry.read(reader);
  reader.finish();
  errors.raise(name);
  content_ = std::make_shared<const LayerContent>(
      LayerContent{name, std::move(build), entry.takes_tokens, reader.filled()});
}

const std::string& LayerDefinition::name() const { return content_->name; }

}  // namespace lagtape
