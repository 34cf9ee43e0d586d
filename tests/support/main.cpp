/// @file
/// The main function of test programs that need no Runtime.

#define DOCTEST_CONFIG_IMPLEMENT
#include <iostream>

#include <doctest/doctest.h>

#include "support/run_cases.hpp"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  return tessera::test::run_cases(context, {argc, argv}, std::cout);
}
