#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/io/safetensors.h"

namespace lagtape::foreign {

/// The state_dict of a file that torch.save wrote, in its order: the file's object, or the only entry of it that is one. Of
/// the pickled program the part that builds dictionaries, lists and tensors is read; nothing is called. Throws InputError that
/// begins with `where` for a damaged file, and for pickled objects of other classes, such as a whole module.
/// Formats: https://docs.pytorch.org/docs/main/notes/serialization.html, Python's Lib/pickletools.py.
std::vector<NamedTensor> read_torch_archive(std::string_view bytes, const std::string& where,
                                            std::vector<std::string>& notes);

}  // namespace lagtape::foreign
