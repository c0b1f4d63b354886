#include "lagtape/data/normalize_options.h"

namespace lagtape {

NormalizeOptions read_normalize_options(JsonReader& reader, const TaskHints& hints,
                                        NormalizeOptions defaults) {
  NormalizeOptions options = defaults;
  reader.optional("normalize", options.input, "inputs by mean and standard deviation of training");
  reader.optional("normalize_target", options.target,
                  "real targets likewise, for training with mse; metrics and predictions keep their units");
  if (options.target && !hints.real_loss)
    reader.error("normalize_target", "goes with the loss mse. Expected false with a loss of classes.");
  return options;
}

}  // namespace lagtape
