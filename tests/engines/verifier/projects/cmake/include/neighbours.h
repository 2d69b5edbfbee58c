// SPDX-License-Identifier: Apache-2.0
#pragma once
void neighbours(int n);
