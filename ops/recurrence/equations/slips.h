#pragma once

#include <string>
#include <string_view>

namespace lagtape {

// What people write who have another language or a paper in mind, and how an equation says it. Each of these functions
// gives the end of a message, which begins with the sign after the found text; "." where nothing is known.

/// For a character that no equation has, at position `i` of the line.
std::string cure_of_character(std::string_view line, std::size_t i);

/// For a name that nothing has: np.tanh, torch.sigmoid, σ, h_t. Empty where nothing is known.
std::string cure_of_name(std::string_view name);

/// How the steps of a state are written, for h[t-1], h_{t-1} and h(t-1).
inline constexpr std::string_view kStepsOfState =
    "h is the state before the step (h_{t-1} of a paper), h' the one after it (h_t), h[-k] the one k steps "
    "before h.";

}  // namespace lagtape
