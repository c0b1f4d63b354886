#pragma once

#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/exchange/export/c99/c_options.h"

namespace lagtape {

/// A model as one C99 file that needs only math.h and allocates nothing:
///
///     void NAME_init(NAME_state *state);   before the first step; the caller owns the state
///     void NAME_reset(NAME_state *state);  back to there
///     void NAME_step(NAME_state *state, const T *in, T *out);
///
/// with in [input], out [output] in the units of the data, as in Stream::step. With
/// -DNAME_SELF_TEST it also contains NAME_self_test, which compares 64 steps with those of a stream. Throws InputError
/// for a name that C does not allow, and for a model that cannot run step by step or whose outputs are not finite.
std::string c_source(const Model& model, const CExportOptions& options);

}  // namespace lagtape
