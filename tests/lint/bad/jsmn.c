/* SPDX-License-Identifier: ISC */
#include <jsmn.h>
