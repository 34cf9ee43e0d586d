#pragma once
/// @file
/// Products of matrices: matmul, matmul_into, einsum and tensordot.

#include "tessera/ops/einsum.hpp"
#include "tessera/ops/products.hpp"
#include "tessera/tessera.hpp"
