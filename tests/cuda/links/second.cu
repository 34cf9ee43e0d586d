// The half of the program that nvcc compiles.
#include "second.cpp"
