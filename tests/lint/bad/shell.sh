#!/bin/sh
# SPDX-License-Identifier: ISC
rm -rf $1/*
