/**
 * `node plainSockets.js '{"bytes":…,"everyMs":…}'`: answers each connection with the head of an event stream,
 * then repeatedly writes the same bytes to all connections. No server of event streams can do less work than
 * this.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';

const { bytes, everyMs } = JSON.parse(process.argv[2] ?? '{}') as { bytes: number; everyMs: number };
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 3000\n\n';
const sockets = new Set<Socket>();
let sentMessages = 0;

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined);
  socket.on('close', () => sockets.delete(socket));
  socket.once('data', () => {
    socket.write(HEAD);
    sockets.add(socket);
  });
});
setInterval(() => {
  sentMessages += 1;
  const head = `id: ${sentMessages}\nevent: swap\ndata: `;
  const message = Buffer.from(`${head}${'x'.repeat(Math.max(0, bytes - head.length - 2))}\n\n`);
  for (const socket of sockets) socket.write(message);
}, everyMs);
server.listen(0, '127.0.0.1', 4_096, () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
