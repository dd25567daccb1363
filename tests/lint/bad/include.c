/* SPDX-License-Identifier: ISC */
#include "../policy/text.h"
