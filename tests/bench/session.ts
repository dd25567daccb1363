// SPDX-License-Identifier: ISC
//
// The second reference driver at work, for session.py, which lays its docker.ts beside this file.
//
// Reads one JSON line at a time: {docker, host, image, bundle, launches: [{workspace, key}, ...]}.
// Launches them all at once, each up to the worker's first line, then stops each; answers with one
// JSON line, milliseconds from the moment at which the line was read:
//
//   [{ready: the worker's first bytes are here, launched: launch() has returned,
//     whole: stop() has confirmed the removal}, or {failed: why}, ...]

import { createInterface } from "node:readline";
import { createDockerBackend } from "./docker";

interface Launch {
	workspace: string;
	key: string;
}

async function one(order: any, { workspace, key }: Launch, start: number) {
	const backend = createDockerBackend({
		dockerPath: order.docker,
		env: { ...process.env, DOCKER_HOST: order.host },
	});
	const limits = { pids: 64, memoryBytes: 536870912, cpus: 1 };
	const worker = await backend.launch(
		{
			sessionKey: key,
			revision: 1,
			privatePaths: [],
			config: { image: order.image, limits },
			mounts: [{ host: workspace, guest: "/workspace", mode: "rw" }],
		},
		order.bundle,
	);
	const launched = performance.now() - start;
	const first = await worker.stdout.getReader().read();
	if (first.done) throw new Error("the worker said nothing");
	const ready = performance.now() - start;
	const { gone, residual } = await worker.stop();
	if (!gone) throw new Error(`left over: ${residual}`);
	return { ready, launched, whole: performance.now() - start };
}

for await (const line of createInterface({ input: process.stdin })) {
	const order = JSON.parse(line);
	const start = performance.now();
	const times = await Promise.all(
		order.launches.map((launch: Launch) =>
			one(order, launch, start).catch((error) => ({ failed: String(error) })),
		),
	);
	console.log(JSON.stringify(times));
}
