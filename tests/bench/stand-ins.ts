// SPDX-License-Identifier: ISC
//
// Stand-ins for the three modules that the second reference's docker.ts imports, for session.py
// only: the least that a launch needs, so that none of their own work is counted against it.

import { mkdir, realpath } from "node:fs/promises";

export type SandboxBackend = any;
export type SandboxConfig = any;
export type SandboxPolicy = any;
export type SandboxProcess = any;
export type SandboxTermination = any;

export async function ensurePrivateSandboxDirectory(path: string): Promise<string> {
	await mkdir(path, { recursive: true, mode: 0o700 });
	return path;
}

export const canonicalSandboxPath = (path: string): Promise<string> => realpath(path);

export async function nativeSandboxHome(): Promise<string> {
	return process.env.HOME!;
}

export function sandboxPathContains(outer: string, inner: string): boolean {
	return inner === outer || inner.startsWith(`${outer}/`);
}

export function validateSandboxConfig(_config: SandboxConfig): void {}

export async function validateSandboxMountSource(..._all: unknown[]): Promise<void> {}
