// SPDX-License-Identifier: Apache-2.0
#pragma once
void shift(int n);   // shift.cu
void reverse(int n); // reverse.cu
