/**
 * Lets commands find the embedded engine that another process of this user runs. A Unix socket in the
 * engine's folder (mode 0700) returns the writer's address. The address contains a password, so it is not in
 * a file: the SQL function `file` can read every file in that folder.
 */
import { chmodSync, closeSync, constants, openSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';

import { z } from 'zod';

const NAME = 'door.sock';
/** Largest length of a socket path. sun_path has 108 bytes with its final zero on Linux, and 104 on other systems. */
const SOCKET_PATH_MAX = 100;
const KNOCK_TIMEOUT_MS = 2_000;
const ANSWER_BYTES_MAX = 4_096;

/** Folder of the embedded engine in a data folder. */
export const engineFolderOf = (dataDir: string): string => join(dataDir, 'clickhouse');

const answerShape = z.object({ pid: z.int(), writerUrl: z.string() });
type DoorAnswer = z.infer<typeof answerShape>;

/**
 * Answers requests on the socket until the returned function is called. Replaces a socket that a killed
 * process left behind.
 */
export async function openDoor(folder: string, writerUrl: string): Promise<() => void> {
  const path = join(folder, NAME);
  rmSync(path, { force: true });
  const answer: DoorAnswer = { pid: process.pid, writerUrl };
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(JSON.stringify(answer));
  });
  // The socket does not keep the process alive.
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

/** Asks the socket in the folder for the address of a running engine. Null if no engine runs. */
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
      // No process listens: the socket is missing, or a killed process left it behind.
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

/** Socket paths must be short. On Linux, a long path is reached through a descriptor of its folder. */
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
