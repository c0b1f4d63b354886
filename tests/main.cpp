// Both names, since the precompiled header contains doctest's declarations already, and with them the place that would
// derive the first name from the second.
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
