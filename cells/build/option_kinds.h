#pragma once

#include <string_view>

#include "lagtape/cells/build/common_options.h"
#include "lagtape/cells/build/delay.h"
#include "lagtape/cells/build/initial_values.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/options.h"

namespace lagtape {

extern const OptionKindOf<Delays> kDelays;                ///< one delay or a list of delays
extern const OptionKindOf<InitialValues> kInitialValues;  ///< initializers by the names of parameters

extern const OptionKindOf<StepTime> kStepTime;  ///< {"dt": -1}, the column that holds the length of a step
inline constexpr std::string_view kAboutStepTime =
    "{\"dt\": -1}: the number of the column of the input, from the end where it is negative, that says how "
    "long "
    "each step is: it multiplies dt, and the cell reads it as nothing else";

extern const OptionTable kInitOption;  ///< InitialValues as "init"
/// "dilations", "residual", "init", and "arithmetic" if the cell offers a choice.
extern const OptionTable kCommonCellOptions;

}  // namespace lagtape
