// A process is no device, even where both have the number 3.
// expect-error: conversion from .*Process.* to .*Device.* requested

#include "tessera/base/ids.hpp"

tessera::DeviceId const device = tessera::ProcessId{3};
