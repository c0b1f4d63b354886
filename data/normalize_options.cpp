#include "lagtape/data/normalize_options.h"

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

NormalizeOptions read_normalize_options(JsonReader& reader, const TaskHints& hints,
                                        NormalizeOptions defaults) {
  NormalizeOptions options = defaults;
  reader.optional("normalize", options.input,
                  "scale the inputs by mean and standard deviation of the training set");
  reader.optional("normalize_target", options.target,
                  "likewise the real targets; metrics and predictions keep their units");
  if (options.target && !hints.real_loss)
    reader.error("normalize_target", "needs the loss mse. Expected false with a loss for classes.");
  return options;
}

}  // namespace lagtape
