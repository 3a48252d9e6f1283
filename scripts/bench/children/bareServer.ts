/**
 * `node bareServer.js '{"body":"…"}'`: runs a plain node:http server that always answers with this JSON, and
 * prints its address.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const { body } = JSON.parse(process.argv[2] ?? '{"body":""}') as { readonly body: string };
const bytes = Buffer.from(body);
const server = createServer((_, response) => {
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', bytes.length);
  response.end(bytes);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
