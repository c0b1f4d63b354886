#pragma once

#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// "/json/pointer=value" or the short form "train.epochs=3".
struct Assignment {
  std::string text;
  std::vector<std::string> keys;  ///< at least one
  Json value;                     ///< a string if the text after "=" is not JSON
};

/// Throws InputError that quotes the assignment.
Assignment parse_assignment(const std::string& text);

/// Applies an assignment to a document. Missing objects on the way are created, so the document's reader can
/// report a misspelled key; a list index must exist. Throws InputError that quotes the assignment.
void assign(Json& document, const Assignment& assignment);
void assign(Json& document, const std::string& assignment);

}  // namespace lagtape
