/**
 * A bucket of S3 on the loopback: the files of one folder, listed, read and written as in the API reference of S3. Checks the
 * signature of each request by the algorithm of AWS Signature Version 4, written here without the client's library:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
import { createHash, createHmac } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';

export const BUCKET = 'chain-files';

interface BucketKeys {
  readonly id: string;
  readonly secret: string;
}

export interface BucketServer {
  readonly url: string;
  /** Method and path of each request, in order. */
  readonly requests: readonly string[];
  /** Chooses the fault of a request. `none` is the right answer. */
  fault: (request: string, index: number) => Fault;
  close(): Promise<void>;
}

type Fault = 'none' | 'busy' | 'drop' | 'cut' | 'whole' | 'endless';

/** A signed request, as the server sees it. */
interface SignedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/** Whether the request is signed with the keys. */
export function isSigned({ method, target, headers }: SignedRequest, keys: BucketKeys): boolean {
  const [, id, day, region, names, signature] =
    AUTHORIZATION.exec(String(headers['authorization'] ?? '')) ?? [];
  if (id !== keys.id || day === undefined || region === undefined || names === undefined) return false;
  const [path = '', query = ''] = target.split('?');
  const parts = query === '' ? [] : query.split('&').map((part) => (part.includes('=') ? part : `${part}=`));
  const time = String(headers['x-amz-date']);
  const canonical = [
    method,
    path,
    parts
      .map((part) => part.replaceAll('+', '%20'))
      .toSorted()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    String(headers['x-amz-content-sha256']),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${keys.secret}`);
  return hmac(key, text).toString('hex') === signature;
}

const encodeKey = (key: string): string =>
  encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+');

/** Serves the files below a folder. Lists have at most `pageKeys` names. Without credentials, signatures are not checked. */
export async function startBucket(
  folder: string,
  credentials: BucketKeys | null,
  pageKeys = 5,
): Promise<BucketServer> {
  const requests: string[] = [];
  const listObjects = (): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .toSorted();

  function sendList(query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get('prefix') ?? '';
    const after = Buffer.from(query.get('continuation-token') ?? '', 'base64').toString();
    const matchingObjects = listObjects().filter(
      (key) => key.startsWith(prefix) && key > after && !key.slice(prefix.length).includes('/'),
    );
    const page = matchingObjects.slice(0, pageKeys);
    const nextToken =
      matchingObjects.length > page.length ? Buffer.from(page.at(-1) ?? ' ').toString('base64') : null;
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(
        `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>${BUCKET}</Name>` +
          `<IsTruncated>${nextToken !== null}</IsTruncated>` +
          page.map((key) => `<Contents><Key>${encodeKey(key)}</Key><Size>1</Size></Contents>`).join('') +
          (nextToken === null ? '' : `<NextContinuationToken>${nextToken}</NextContinuationToken>`) +
          '</ListBucketResult>',
      );
  }

  function sendObject(request: IncomingMessage, response: ServerResponse, key: string, fault: Fault): void {
    if (!listObjects().includes(key))
      return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    const bytes = readFileSync(join(folder, key));
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const isPart = from !== undefined && fault !== 'whole';
    const sentBytes = isPart ? bytes.subarray(Number(from), Number(to) + 1) : bytes;
    response.writeHead(isPart ? 206 : 200, { 'content-length': sentBytes.length });
    if (request.method === 'HEAD') return void response.end();
    if (fault !== 'cut') return void response.end(sentBytes);
    response.write(sentBytes.subarray(0, sentBytes.length >> 1), () => response.destroy());
  }

  async function store(request: IncomingMessage, response: ServerResponse, key: string): Promise<void> {
    const path = join(folder, key);
    const bytes = await buffer(request);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    response.writeHead(200).end();
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: target = '' } = request;
    const [path = '', query = ''] = target.split('?');
    const fault = server.fault(`${method} ${target}`, requests.length);
    requests.push(`${method} ${target}`);
    if (fault === 'drop') return void request.socket.destroy();
    if (fault === 'busy') return void response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    if (fault === 'endless') return sendEndless(response);
    if (credentials !== null && !isSigned({ method, target, headers: request.headers }, credentials))
      return void response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    const [, bucket, ...parts] = path.split('/');
    if (bucket !== BUCKET)
      return void response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    if (parts.length === 0) return sendList(new URLSearchParams(query), response);
    const key = parts.map(decodeURIComponent).join('/');
    if (method === 'PUT') return void store(request, response, key).catch(() => response.destroy());
    sendObject(request, response, key, fault);
  }

  const listener = createServer(answer);
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const { port } = listener.address() as AddressInfo;
  const server: BucketServer = {
    url: `http://127.0.0.1:${port}`,
    requests,
    fault: () => 'none',
    close: () =>
      new Promise((done) => {
        listener.close(() => done());
        listener.closeAllConnections();
      }),
  };
  return server;
}

/** Sends names without an end, until the client closes the connection. */
function sendEndless(response: ServerResponse): void {
  const chunk = '<Key>x</Key>'.repeat(10_000);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  response.writeHead(200);
  more();
}
