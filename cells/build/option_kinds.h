#pragma once

#include "lagtape/cells/build/common_options.h"
#include "lagtape/cells/build/delay.h"
#include "lagtape/cells/build/initial_values.h"
#include "lagtape/core/json/options.h"

namespace lagtape {

extern const OptionKindOf<Delays> kDelays;                ///< one delay or a list of them
extern const OptionKindOf<InitialValues> kInitialValues;  ///< initializers by the names of parameters

extern const OptionTable kInitOption;  ///< InitialValues as "init"
/// "dilations", "residual", "init", and "arithmetic" where the cell has a choice of it.
extern const OptionTable kCommonCellOptions;

}  // namespace lagtape
