#pragma once

#include "lagtape/cells/build/common_options.h"
#include "lagtape/cells/build/delay.h"
#include "lagtape/cells/build/initial_values.h"
#include "lagtape/core/json/options.h"

namespace lagtape {

extern const OptionKindOf<Delays> kDelays;  ///< one delay or a list of them
/// Initializers by the names of parameters.
extern const OptionKindOf<InitialValues> kInitialValues;

extern const OptionTable kInitOption;  ///< "init" alone, of InitialValues
extern const OptionTable
    kCommonCellOptions;  ///< "dilations", "residual", "init", and "arithmetic" where there is one

}  // namespace lagtape
