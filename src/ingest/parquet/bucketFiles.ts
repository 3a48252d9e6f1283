/**
 * Parquet files in a bucket of S3, or of a server with the same protocol:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html and `API_GetObject.html`. Paths are
 * `s3://bucket/folder/name.parquet`.
 */
import { Readable } from 'node:stream';

import { AwsClient } from 'aws4fetch';

import { AppError } from '../../errors';
import { PARQUET_FILES_MAX, namePattern, type FilePlace, type OpenFile } from './filePlace';
import { repeatRequest } from './repeatRequest';

/** How to reach the buckets. Without keys, requests are not signed, as for public buckets. */
interface BucketAccess {
  /** URL of the server; null for AWS. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly keys: { readonly id: string; readonly secret: string; readonly session: string | null } | null;
}

const SERVER = 'the bucket';
/** Largest page of a list in bytes. A name has at most 1,024 bytes, each encoded as up to three characters. */
const LIST_BYTES_MAX = 8 * 2 ** 20;

/** Largest number of pages of a list. A page usually has 1,000 names. */
const PAGES_MAX = 1_000;

const BUCKET_PATH = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.*)$/s;

export const isBucketPath = (path: string): boolean => path.startsWith('s3://');

export class BucketFiles implements FilePlace {
  private readonly endpoint: string;
  private readonly client: AwsClient | null;

  constructor({ endpoint, region, keys }: BucketAccess) {
    this.endpoint = (endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, '');
    this.client =
      keys === null
        ? null
        : new AwsClient({
            accessKeyId: keys.id,
            secretAccessKey: keys.secret,
            ...(keys.session === null ? {} : { sessionToken: keys.session }),
            service: 's3',
            region,
          });
  }

  /** Lists the files of a pattern. A path without `*` and without `.parquet` at its end is a folder. */
  async list(pattern: string, signal: AbortSignal): Promise<string[]> {
    const { bucket, key } = parsePath(pattern);
    if (!key.includes('*') && key.endsWith('.parquet')) return [pattern];
    const fullPattern = key.includes('*') ? key : `${key.replace(/(?<=.)\/*$/, '/')}*.parquet`;
    const folder = fullPattern.slice(0, fullPattern.lastIndexOf('/') + 1);
    if (folder.includes('*')) throw wrongPath(pattern);
    const keyTest = namePattern(fullPattern);
    const prefix = fullPattern.slice(0, fullPattern.indexOf('*'));
    const paths: string[] = [];
    let continuationToken = '';
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', delimiter: '/', prefix });
      if (continuationToken !== '') query.set('continuation-token', continuationToken);
      const page = await this.listPage(pattern, `/${bucket}?${query}`, signal);
      paths.push(...page.keys.filter((each) => keyTest.test(each)).map((each) => `s3://${bucket}/${each}`));
      if (page.next === null || paths.length > PARQUET_FILES_MAX) return paths;
      continuationToken = page.next;
    }
    throw new AppError(
      'bad_config',
      `--parquet ${pattern}: the bucket lists more than ${PAGES_MAX} pages of names; allowed: a folder with fewer files`,
    );
  }

  async open(path: string, signal: AbortSignal): Promise<OpenFile> {
    const readSize = ({ headers }: Response): Promise<number> => {
      const length = headers.get('content-length') ?? '';
      if (/^\d{1,15}$/.test(length)) return Promise.resolve(Number(length));
      throw new AppError('bad_config', `${path}: the size is "${length}"; allowed: a number of bytes`);
    };
    const size = await this.request(path, objectPath(path), { method: 'HEAD' }, readSize, signal);
    return {
      size,
      read: (from, bytes) => this.readPart(path, from, Math.min(bytes, size - from), signal),
      close: () => Promise.resolve(),
    };
  }

  stream(path: string, signal: AbortSignal): Promise<Readable> {
    const openBody = (_: Response, chunks: AsyncGenerator<Uint8Array>): Promise<Readable> =>
      Promise.resolve(Readable.from(chunks, { objectMode: false }));
    return this.request(path, objectPath(path), {}, openBody, signal);
  }

  /** Stores an object, whole or not at all. */
  write(path: string, body: Buffer, signal: AbortSignal): Promise<void> {
    const init: RequestInit = { method: 'PUT', body: new Uint8Array(body) };
    return this.request(path, objectPath(path), init, () => Promise.resolve(), signal);
  }

  /** Bytes of an object; none if `bytes` is not positive. */
  private async readPart(
    path: string,
    firstByte: number,
    bytes: number,
    signal: AbortSignal,
  ): Promise<Buffer> {
    if (bytes <= 0) return Buffer.alloc(0);
    const headers = { range: `bytes=${firstByte}-${firstByte + bytes - 1}` };
    const readBytes = async ({ status }: Response, chunks: AsyncGenerator<Uint8Array>): Promise<Buffer> => {
      if (status !== 206)
        throw new AppError('bad_config', `${path}: the bucket answers ${status} to a Range; allowed: 206`);
      const content = await readAtMost(path, chunks, bytes);
      if (content.length === bytes) return content;
      throw new AppError(
        'unavailable',
        `${path}: the bucket sent ${content.length} bytes instead of ${bytes}`,
      );
    };
    return this.request(path, objectPath(path), { headers }, readBytes, signal);
  }

  private async listPage(
    pattern: string,
    target: string,
    signal: AbortSignal,
  ): Promise<{ keys: string[]; next: string | null }> {
    const readPage = async (_: Response, chunks: AsyncGenerator<Uint8Array>): Promise<string> =>
      (await readAtMost(pattern, chunks, LIST_BYTES_MAX)).toString();
    const page = await this.request(pattern, target, {}, readPage, signal);
    const keys = [...page.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => decodeKey(pattern, key));
    const nextToken = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(page)?.[1] ?? null;
    return { keys, next: nextToken === null ? null : unescapeXml(nextToken) };
  }

  private request<T>(
    path: string,
    target: string,
    init: RequestInit,
    read: (response: Response, chunks: AsyncGenerator<Uint8Array>) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { client } = this;
    const url = `${this.endpoint}${target}`;
    return repeatRequest({
      path,
      server: SERVER,
      make: (options) => {
        const requestInit: RequestInit = { ...init, ...options, redirect: 'manual' };
        return client === null ? new Request(url, requestInit) : client.sign(url, requestInit);
      },
      read,
      reasonOf,
      signal,
    });
  }
}

function reasonOf(status: number): string {
  return status === 404
    ? 'there is no such file or bucket'
    : 'the bucket refuses the request; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL';
}

function wrongPath(path: string): AppError {
  return new AppError(
    'bad_config',
    `--parquet ${path}: got no path of a bucket; allowed: s3://bucket/folder/*.parquet, with * in the last part only`,
  );
}

function parsePath(path: string): { bucket: string; key: string } {
  const [, bucket, key] = BUCKET_PATH.exec(path) ?? [];
  if (bucket === undefined || key === undefined) throw wrongPath(path);
  return { bucket, key };
}

function objectPath(path: string): string {
  const { bucket, key } = parsePath(path);
  return `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
}

function decodeKey(pattern: string, key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    throw new AppError('bad_config', `--parquet ${pattern}: the bucket lists a name with a wrong encoding`);
  }
}

const XML_ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(value: string): string {
  return value.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => XML_ENTITIES[name] ?? '');
}

async function readAtMost(
  path: string,
  chunks: AsyncGenerator<Uint8Array>,
  bytesMax: number,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax)
      throw new AppError('bad_config', `${path}: got more than ${bytesMax} bytes; allowed: at most this`);
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}
