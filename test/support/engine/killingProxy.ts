/**
 * An HTTP proxy to the database that forwards a given number of statements and then drops all others, as after a kill.
 */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';

import { listen } from '../server/listen';

export interface KillingProxy {
  /** Replaces the port of a database URL by the proxy's port, and keeps user and database. */
  through(url: string): string;
  /** Forwards `statements` more statements. The answer to the last one is lost. */
  killAfter(statements: number): void;
  /** The writing statements since `killAfter`. */
  statements(): readonly string[];
  close(): Promise<void>;
}

const READING_STATEMENT = /^(?:\s|--.*\n)*(?:SELECT|WITH)\b/i;

/** The beginning of the statement: from the URL for an insert, from the body otherwise. */
function textOf({ url = '/' }: IncomingMessage, body: Buffer): string {
  return new URL(url, 'http://engine').searchParams.get('query') ?? body.toString('utf8', 0, 4_000);
}

/**
 * Whether the request only reads. A multipart form is always a SELECT, because the client uses it only for long
 * parameters of a SELECT.
 */
function isRead(incoming: IncomingMessage, body: Buffer): boolean {
  const isForm = incoming.headers['content-type']?.startsWith('multipart/') === true;
  return isForm || READING_STATEMENT.test(textOf(incoming, body));
}

export async function startKillingProxy(target: string): Promise<KillingProxy> {
  const { port } = new URL(target);
  let statementsLeft = Infinity;
  let writingStatements: string[] = [];
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isWrite = !isRead(incoming, body);
    if (statementsLeft <= 0) return void outgoing.destroy();
    if (isWrite) {
      statementsLeft -= 1;
      writingStatements.push(textOf(incoming, body));
    }
    const isLast = statementsLeft <= 0;
    const headers = { ...incoming.headers, 'content-length': body.length };
    delete (headers as Record<string, unknown>)['transfer-encoding'];
    const forwarded = request({ port, method: incoming.method, path: incoming.url, headers }, (answer) => {
      if (isLast) answer.resume().once('close', () => outgoing.destroy());
      else answer.pipe(outgoing.writeHead(answer.statusCode ?? 500, answer.headers));
    });
    forwarded.once('error', () => outgoing.destroy());
    // The client was killed. Without this, its statement would wait until its answer is read, and keep the tables locked.
    outgoing.once('close', () => forwarded.destroy());
    forwarded.end(body);
  };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const listening = await listen(server);
  return {
    through(url) {
      const changed = new URL(url);
      changed.port = String(listening.port);
      return changed.toString();
    },
    killAfter(statements) {
      statementsLeft = statements;
      writingStatements = [];
    },
    statements: () => writingStatements,
    close: listening.close,
  };
}
