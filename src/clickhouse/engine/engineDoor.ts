/**
 * How a command finds the embedded engine that another process of this user runs: a Unix socket in the engine's folder
 * (mode 0700) tells the writer's address. Not a file: the engine's SQL function `file` reads every file of that folder.
 */
import { chmodSync, closeSync, constants, openSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';

import { z } from 'zod';

const NAME = 'door.sock';
/** sun_path has 108 bytes with its final zero on Linux, 104 elsewhere. */
const SOCKET_PATH_MAX = 100;
const KNOCK_TIMEOUT_MS = 2_000;
const ANSWER_BYTES_MAX = 4_096;

/** Where the embedded engine of a data folder lives. */
export const engineFolderOf = (dataDir: string): string => join(dataDir, 'clickhouse');

const answerShape = z.object({ pid: z.int(), writerUrl: z.string() });
export type DoorAnswer = z.infer<typeof answerShape>;

/** Answers until the returned function is called. What was left behind by a killed process is replaced. */
export async function openDoor(folder: string, writerUrl: string): Promise<() => void> {
  const path = join(folder, NAME);
  rmSync(path, { force: true });
  const answer: DoorAnswer = { pid: process.pid, writerUrl };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(JSON.stringify(answer));
  });
  // Nobody's work waits for it.
  server.unref();
  await withShortPath(folder, path, (short) => {
    return new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(short, resolve);
    });
  });
  chmodSync(path, 0o600);
  return () => {
    server.close();
    rmSync(path, { force: true });
  };
}

/** The address of the engine that a live process runs in the folder; null when there is none. */
export function knock(folder: string): Promise<DoorAnswer | null> {
  return withShortPath(folder, join(folder, NAME), (short) => {
    return new Promise<DoorAnswer | null>((resolve) => {
      let text = '';
      const socket = createConnection(short);
      socket.setTimeout(KNOCK_TIMEOUT_MS, () => socket.destroy());
      socket.setEncoding('utf8');
      socket.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > ANSWER_BYTES_MAX) socket.destroy();
      });
      // Nobody there, or what a killed process left behind.
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(readAnswer(text)));
    });
  }).catch(() => null);
}

function readAnswer(text: string): DoorAnswer | null {
  if (text === '') return null;
  const answer = answerShape.safeParse(JSON.parse(text));
  return answer.success ? answer.data : null;
}

/** A socket's path must be short; on Linux a long one is reached through a descriptor of its folder. */
async function withShortPath<T>(
  folder: string,
  path: string,
  use: (short: string) => Promise<T>,
): Promise<T> {
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX || process.platform !== 'linux') return use(path);
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await use(`/proc/self/fd/${descriptor}/${NAME}`);
  } finally {
    closeSync(descriptor);
  }
}
