/**
 * Sends SELECTs over its own connections and returns the answers as bytes. @clickhouse/client waits for
 * a timer before each request, which is noticeable in small reads. All other statements use
 * @clickhouse/client.
 *
 * ClickHouse sends status 200 before all rows are known. A later error follows the rows in a frame, and the
 * connection ends without the last chunk. The frame contains the tag from this answer's header:
 *
 * \r\n__exception__\r\n<tag>\r\n<text>\n<bytes of text and newline> <tag>\r\n__exception__\r\n
 *
 * Row data can look like a frame, but it cannot contain the tag, which is random for each answer. Only a frame
 * with the tag at the very end of the answer is treated as an error.
 */
import { FormData, Pool, type Dispatcher } from 'undici';

import { joinPieces } from '../../domain/time/joinPieces';
import { addSummary } from './readCost';
import { toEngineError, type EngineError } from './engineError';
import { formatParam, type QueryParams } from './queryParams';

interface ByteReaderOptions {
  /** URL of the server: `http(s)://user:pass@host:port/database?ch_<setting>=<value>`. */
  readonly url: string;
  readonly requestTimeoutMs: number;
  /**
   * Time in ms after which an unused connection is closed. It is shorter than the server's own timeout, so that the
   * server never closes first.
   */
  readonly idleMs: number;
  readonly maxConnections: number;
}

interface ByteReader {
  read(
    sql: string,
    params: QueryParams,
    format: string,
    settings: Readonly<Record<string, string>>,
  ): Promise<Buffer>;
  close(): Promise<void>;
}

type Fields = [name: string, value: string][];

/** Prefix of setting names in a URL, as in @clickhouse/client. */
const SETTING_PREFIX = 'ch_';
/**
 * Longest request path, in characters, that servers and proxies certainly accept. Longer parameters are sent
 * in the body.
 */
const PATH_LENGTH_MAX = 7_000;
/** The header has a random text for this answer. An error after the first rows ends with the same text and MARKER. */
const TAG_HEADER = 'x-clickhouse-exception-tag';
const ERROR_CODE_HEADER = 'x-clickhouse-exception-code';
const EXCEPTION_MARKER = '\r\n__exception__\r\n';

export function createByteReader(options: ByteReaderOptions): ByteReader {
  const { requestTimeoutMs: timeout, idleMs, maxConnections } = options;
  const { origin, username, password, pathname, searchParams } = new URL(options.url);
  const pool = new Pool(origin, {
    connections: maxConnections,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    headersTimeout: timeout,
    bodyTimeout: timeout,
    connect: { timeout },
  });
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers = {
    authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    'user-agent': 'candlehouse',
  };
  const fixedSettings = [...searchParams].filter(([name]) => name.startsWith(SETTING_PREFIX));
  const fixedFields: Fields = fixedSettings.map(([name, value]) => [
    name.slice(SETTING_PREFIX.length),
    value,
  ]);
  fixedFields.push(['database', pathname.slice(1) || 'default']);
  const toPath = (query: Fields): string => `/?${new URLSearchParams(query)}`;
  return {
    async read(sql, params, format, settings) {
      const query = `${sql}\nFORMAT ${format}`;
      const paramFields: Fields = Object.entries(params).map(([name, value]) => [
        `param_${name}`,
        formatParam(value),
      ]);
      const settingFields: Fields = [...fixedFields, ...Object.entries(settings)];
      const path = toPath([...settingFields, ...paramFields]);
      const fitsInPath = path.length <= PATH_LENGTH_MAX;
      const longRequest = { path: toPath(settingFields), body: toForm([['query', query], ...paramFields]) };
      const request = fitsInPath ? { path, body: query } : longRequest;
      return readAnswer(await pool.request({ method: 'POST', headers, ...request }));
    },
    close: () => pool.destroy(),
  };
}

function toForm(fields: Fields): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.set(name, value);
  return form;
}

async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Buffer> {
  const [errorCode, answerTag] = [headers[ERROR_CODE_HEADER], headers[TAG_HEADER]];
  addSummary(headers['x-clickhouse-summary']);
  if (statusCode !== 200 || errorCode !== undefined) {
    const text = (await body.text()).slice(0, 65_536);
    throw errorCode === undefined
      ? new Error(`status ${statusCode}: ${text}`)
      : toEngineError(text, Number(errorCode));
  }
  if (typeof answerTag !== 'string' || answerTag === '') {
    await body.dump();
    throw new Error(
      `the answer has no header ${TAG_HEADER}, which ClickHouse sends since 25.11: the server is too old, or a proxy removes the header`,
    );
  }
  const chunks: Buffer[] = [];
  const failure: unknown = await new Promise((resolve) => {
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.once('end', () => resolve(null)).once('error', resolve);
  });
  const bytes = await joinPieces(chunks);
  const error = findFramedError(bytes, answerTag) ?? failure;
  if (error !== null) throw error;
  return bytes;
}

/** Returns the error in the frame at the end of the bytes, or null. */
function findFramedError(bytes: Buffer, tag: string): EngineError | null {
  const closing = Buffer.from(` ${tag}${EXCEPTION_MARKER}`);
  const closingStart = bytes.length - closing.length;
  if (closingStart < 0 || !bytes.subarray(closingStart).equals(closing)) return null;
  const lengthStart = bytes.lastIndexOf('\n', closingStart) + 1;
  const lengthText = bytes.toString('latin1', lengthStart, closingStart);
  if (!/^\d{1,9}$/.test(lengthText)) return null;
  const textStart = lengthStart - Number(lengthText);
  const opening = Buffer.from(`${EXCEPTION_MARKER}${tag}\r\n`);
  const openingStart = textStart - opening.length;
  if (openingStart < 0 || !bytes.subarray(openingStart, textStart).equals(opening)) return null;
  return toEngineError(bytes.toString('utf8', textStart, lengthStart));
}
