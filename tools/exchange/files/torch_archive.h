#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/io/safetensors.h"

namespace lagtape::foreign {

/// The state_dict in a file written by torch.save, in order: the file's object, or its only entry that is one.
/// Only the part of the pickled program that builds dictionaries, lists and tensors is followed; nothing is
/// called. Throws InputError that starts with `where` for a damaged file, and for pickled objects of other
/// classes, such as a whole module. Formats: https://docs.pytorch.org/docs/main/notes/serialization.html,
/// Python's Lib/pickletools.py.
std::vector<NamedTensor> read_torch_archive(std::string_view bytes, const std::string& where,
                                            std::vector<std::string>& notes);

}  // namespace lagtape::foreign
