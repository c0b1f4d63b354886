#include "lagtape/tools/train/provenance.h"

#include <utility>

#include "lagtape/tools/train/experiment_paths.h"

namespace lagtape {

std::shared_ptr<const Provenance> provenance_of(Json document) {
  return std::make_shared<const Provenance>(Provenance{std::move(document), {}, with_relative_paths});
}

Json document_of(const Model& model) {
  const Provenance& provenance = model.provenance();
  Json document = provenance.document;
  if (!provenance.folder.empty()) make_paths_absolute(document, provenance.folder);
  return document;
}

Json data_of(const Model& model) { return document_of(model).value("data", Json()); }

}  // namespace lagtape
