/**
 * `node streamReaders.js '{"url":…,"clients":…}'`: opens many raw sockets that read a stream of server-sent events.
 * Prints `ready` when all sockets have an answer. For each line on standard input it prints the number of messages
 * since the line before. It also prints the 50th and 99th percentile, in ms, of the delay between the first client's
 * copy of a message and the other copies.
 */
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

import { percentile } from '../figure';

interface Argument {
  readonly url: string;
  readonly clients: number;
}

/** Number of sockets that are opened at the same time. */
const OPENED_AT_ONCE = 50;

/** Time at which the first client received a message, by the id of the message. */
const firstSeen = new Map<string, number>();
let delays: number[] = [];

function read(socket: Socket): void {
  let unfinishedLine = '';
  socket.on('data', (chunk: Buffer) => {
    const now = performance.now();
    const lines = (unfinishedLine + chunk.toString('latin1')).split('\n');
    unfinishedLine = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('id:')) continue;
      const id = line.slice(3).trim();
      const firstSeenAt = firstSeen.get(id);
      if (firstSeenAt === undefined) firstSeen.set(id, now);
      delays.push(now - (firstSeenAt ?? now));
    }
  });
}

function open({ hostname, port, pathname, search }: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once('error', reject);
    socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    socket.once('data', (chunk: Buffer) => {
      const status = chunk.toString('latin1', 0, 15);
      if (!status.startsWith('HTTP/1.1 200')) reject(new Error(status));
      read(socket);
      resolve();
    });
  });
}

async function main(): Promise<void> {
  const { url, clients } = JSON.parse(process.argv[2] ?? '{}') as Argument;
  const target = new URL(url);
  for (let openedCount = 0; openedCount < clients; openedCount += OPENED_AT_ONCE) {
    const count = Math.min(OPENED_AT_ONCE, clients - openedCount);
    await Promise.all(Array.from({ length: count }, () => open(target)));
  }
  process.stdout.write('ready\n');
  const input = createInterface({ input: process.stdin });
  input.on('line', () => {
    const summary = { messages: delays.length, p50: percentile(delays, 50), p99: percentile(delays, 99) };
    delays = [];
    process.stdout.write(`${JSON.stringify(summary)}\n`);
  });
  input.on('close', () => process.exit(0));
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
