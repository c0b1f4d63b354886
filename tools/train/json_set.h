#pragma once

#include <string>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// Carries out "/json/pointer=value" or the short form "train.epochs=3" on a document. The value is JSON, or
/// a string where it does not parse as JSON. Objects on the way that are missing are made, so that a misspelt
/// key is found by the document's reader; an index of a list must exist. Throws InputError that quotes the
/// assignment.
void assign(Json& document, const std::string& assignment);

}  // namespace lagtape
