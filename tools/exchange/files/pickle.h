#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagtape::foreign {

struct PickledValue;
using Pickled = const PickledValue*;

/// An object in a pickled file, which may be part of several others, and of itself.
struct PickledValue {
  enum class Kind : std::uint8_t {
    none,
    number,  ///< also True and False
    text,
    global,      ///< "torch._utils _rebuild_tensor_v2": a name that Python would import
    list,        ///< also tuples
    dict,        ///< `items` alternates keys and values
    persistent,  ///< something outside the pickled program; its name is items[0]
    call,        ///< what the global `text` would make of the list items[0]
  } kind = Kind::none;
  double number = 0;
  std::string text = {};
  std::vector<Pickled> items = {};
};

/// Follows a pickled program in Python's protocols 2 to 5. It builds numbers, texts, lists and dictionaries;
/// what a function or a class would make is stored as a call with its arguments, and nothing is called. Throws
/// InputError that starts with `where` for damaged programs, and for other instructions. The objects are stored
/// in `values`.
Pickled read_pickle(std::string_view bytes, std::deque<PickledValue>& values, const std::string& where);

}  // namespace lagtape::foreign
