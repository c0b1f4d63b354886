#include "lagtape/data/normalize_options.h"

#include "lagtape/core/json/options.h"

namespace lagtape {
namespace {

constexpr Option kNormalizeRows[] = {
    option<&NormalizeOptions::input>("normalize",
                                     "scale the inputs by mean and standard deviation of the training set"),
    option<&NormalizeOptions::target>(
        "normalize_target", "scale real targets likewise; metrics and predictions keep their units"),
};

void check_normalize(const NormalizeOptions& options, JsonReader& reader) {
  if (options.target && !options.real_loss)
    reader.error("normalize_target", "needs the loss mse. Expected false with a loss for classes.");
}

}  // namespace

constinit const OptionTable kNormalizeOptions = checked<check_normalize>(kNormalizeRows);

}  // namespace lagtape
