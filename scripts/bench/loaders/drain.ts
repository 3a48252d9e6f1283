/**
 * An HTTP client that reads answers into one reused buffer and counts their bytes. Other clients allocate buffers for
 * each answer, and the garbage collection that follows would distort the measured times.
 */
import { connect, type Socket } from 'node:net';

const READ_BYTES = 256 * 1024;
/** Idle connections are closed after this time in ms, before the API closes them at 5 s. */
const IDLE_MS = 2_000;
const HEAD_END = '\r\n\r\n';

export interface Drain {
  /**
   * GETs a path and resolves to the length of the body. Rejects for a status other than 200, or without
   * Content-Length.
   */
  get(path: string): Promise<number>;
  close(): void;
}

interface PendingRequest {
  readonly resolve: (bytes: number) => void;
  readonly reject: (error: Error) => void;
  /** Text of the answer that has arrived before the body: status line and headers. */
  head: string;
  /** Length of the body in bytes; null until the header has been read. */
  length: number | null;
  /** Bytes of the body that have arrived. */
  receivedBytes: number;
}

/** Sends one request at a time. Keeps the connection for later requests, until it is idle for IDLE_MS. */
export function createDrain(baseUrl: string): Drain {
  const { hostname, port, host } = new URL(baseUrl);
  let request: PendingRequest | null = null;
  const fail = (error: Error): void => {
    request?.reject(error);
    request = null;
  };
  /** Callback of `onread`; true means that the socket goes on reading. */
  const receive = (bytes: number, buffer: Uint8Array): boolean => {
    if (request === null) return true;
    if (request.length !== null) request.receivedBytes += bytes;
    else {
      request.head += Buffer.from(buffer.buffer, buffer.byteOffset, bytes).toString('latin1');
      const headLength = request.head.indexOf(HEAD_END);
      if (headLength === -1) return true;
      const length = /\r\ncontent-length: (\d+)/i.exec(request.head.slice(0, headLength))?.[1];
      if (!request.head.startsWith('HTTP/1.1 200 ') || length === undefined) {
        fail(new Error(`expected status 200 and a content-length, got: ${request.head.slice(0, 500)}`));
        socket.destroy();
        return true;
      }
      request.length = Number(length);
      request.receivedBytes = request.head.length - headLength - HEAD_END.length;
    }
    if (request.receivedBytes >= request.length) {
      request.resolve(request.receivedBytes);
      request = null;
    }
    return true;
  };
  const buffer = Buffer.alloc(READ_BYTES);
  const openSocket = (): Socket => {
    const onread = { buffer, callback: receive };
    const opened = connect({ host: hostname, port: Number(port), noDelay: true, onread });
    opened.on('error', fail);
    opened.on('close', () => fail(new Error('the API closed the connection')));
    return opened;
  };
  let socket = openSocket();
  let usedAt = performance.now();
  return {
    get: (path) =>
      new Promise((resolve, reject) => {
        if (request !== null) return reject(new Error('another request of this connection is still running'));
        if (performance.now() - usedAt > IDLE_MS) {
          socket.removeAllListeners().destroy();
          socket = openSocket();
        }
        usedAt = performance.now();
        request = { resolve, reject, head: '', length: null, receivedBytes: 0 };
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\n\r\n`);
      }),
    close: () => socket.destroy(),
  };
}
