/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_NUMBER_H
#define COFFERDAM_POLICY_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Plain decimal numbers, exactly.  Pure. */

enum number_result { NUMBER_OK = 0, NUMBER_GRAMMAR = 1, NUMBER_RANGE = 2 };

/* Digits only, no leading zero but "0" itself, value in [min, max].  *out is
 * untouched unless NUMBER_OK. */
__attribute__((warn_unused_result)) enum number_result
number_integer(const char *digits, size_t len, uint64_t min, uint64_t max, uint64_t *out);

/* The same with an optional point and one to nine digits after it, in units of
 * 10^-9: "0.5" is 500000000.  min and max are in those units too. */
__attribute__((warn_unused_result)) enum number_result
number_nano(const char *digits, size_t len, uint64_t min, uint64_t max, uint64_t *out);

#endif
