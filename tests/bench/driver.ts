// SPDX-License-Identifier: ISC
//
// The reference's own functions doing what cofferdam-policy does, for policy.py,
// which lays the reference's source files beside this one and bundles them.
//
//   driver turn|model-input|argv                  standard input to standard output, once
//   driver text|bytes turn|model-input FILE MILLISECONDS
//       the same again and again: nanoseconds a call, wall and CPU.  text: from a decoded
//       string to a string; bytes: from UTF-8 to UTF-8, as the C side has it.

import { readFileSync, statSync, writeSync } from "node:fs";
import { containerRunArgs } from "./container-driver.ts";
import { modelInput } from "./model-input.ts";
import { isRecord, isSandboxTurn, type ToolSpec } from "./protocol.ts";

const BATCH_BYTES = 65536; // of documents, between two looks at the clock

function tool({ name, description, parameters }: ToolSpec) {
	return { name, description, parameters };
}

function turn(text: string): string {
	const value: unknown = JSON.parse(text);
	if (!isSandboxTurn(value)) throw new Error("refused");
	return JSON.stringify({
		text: value.text,
		speaker: { id: value.speaker.id, name: value.speaker.name },
		model: value.model,
		prompt: value.prompt,
		timeZone: value.timeZone,
		tools: value.tools.map(tool),
		reset: value.reset,
		mcp: value.mcp.map(({ server, tools }) => ({ server, tools: tools.map(tool) })),
	});
}

function model(text: string): string {
	const value: unknown = JSON.parse(text);
	const input = isRecord(value) ? modelInput(value) : undefined;
	if (!input) throw new Error("refused");
	return JSON.stringify(input);
}

function argv(text: string): string {
	return JSON.stringify(containerRunArgs(JSON.parse(text)));
}

const works: Record<string, (text: string) => string> = { turn, "model-input": model, argv };

function repeat(call: () => number, size: number, milliseconds: number): number {
	const batch = 1 + Math.floor(BATCH_BYTES / size);
	const end = performance.now() + milliseconds;
	let calls = 0;
	let sum = 0;
	do {
		for (let i = 0; i < batch; i++) sum += call();
		calls += batch;
	} while (performance.now() < end);
	if (sum === 0) throw new Error("nothing was written");
	return calls;
}

function cpu(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
}

function measure(call: () => number, size: number, milliseconds: number) {
	repeat(call, size, milliseconds);
	const from = [performance.now(), cpu()];
	const calls = repeat(call, size, milliseconds);
	const took = [performance.now() - from[0], cpu() - from[1]];
	console.log(took.map((ms) => ((ms * 1e6) / calls).toFixed(1)).join(" "));
}

function caller(form: string, work: (text: string) => string, path: string): () => number {
	const bytes = readFileSync(path);
	const text = bytes.toString();
	const decoder = new TextDecoder("utf-8", { fatal: true });
	const encoder = new TextEncoder();
	if (form === "text") return () => work(text).length;
	return () => encoder.encode(work(decoder.decode(bytes))).length;
}

const [first, name, path, milliseconds] = process.argv.slice(2);
if (name === undefined) {
	const out = Buffer.from(`${works[first](readFileSync(0, "utf8"))}\n`);
	for (let at = 0; at < out.length; ) at += writeSync(1, out, at);
} else {
	measure(caller(first, works[name], path), statSync(path).size, Number(milliseconds));
}
