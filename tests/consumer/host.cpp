// The same host in C++: libstdc++ is loaded before the plug-ins.

#include <iostream>

#include "host.c"
