// A bare number becomes an id only where the program says so.
// expect-error: conversion from .int. to .*Device.* requested

#include "tessera/base/ids.hpp"

tessera::DeviceId const device = 3;
