/**
 * SELECTs and inserts over keep-alive connections. Rows are parsed by the piece and an insert's bytes go out in one
 * write: a client library that makes a stream and a parse of each row takes several times as long.
 */
import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

import { readBytes, readRows } from './engineAnswer';
import { errorText } from '../errors';
import { EngineError, systemCode } from './engineError';

export type SelectParams = Readonly<
  Record<string, string | number | boolean | bigint | readonly (string | number | bigint | null)[]>
>;

type Settings = Readonly<Record<string, string | number>>;

export interface DirectOptions {
  /** `http(s)://user:pass@host:port/database?ch_<setting>=<value>`. */
  readonly url: string;
  readonly requestTimeoutMs: number;
  /** Unused connections are closed after this long, before the server does it. */
  readonly idleMs: number;
  readonly maxConnections: number;
}

export interface DirectClient {
  /** Rows of a SELECT. */
  select<Row>(sql: string, params: SelectParams): Promise<Row[]>;
  /** The answer in an output format, in one piece. */
  selectBinary(sql: string, params: SelectParams, format: string): Promise<Buffer>;
  /** `mayRepeat`: whether the server recognises the same bytes when they arrive twice. */
  insert(sql: string, body: Buffer, settings: Settings, mayRepeat: boolean): Promise<void>;
  /** Gives running statements a moment to end: a server whose answers are cut off must cancel what it asked of others. */
  close(): Promise<void>;
}

/** Before the name of a setting in an address, as @clickhouse/client has it. */
const SETTING_PREFIX = 'ch_';

/** Servers and proxies take addresses of at least this length. Longer parameters go into the body. */
const PATH_LENGTH_MAX = 7_000;
const CLOSE_GRACE_MS = 500;

export function createDirectClient(options: DirectOptions): DirectClient {
  const url = new URL(options.url);
  const target = targetOf(url, options);
  let underWay = 0;
  let onIdle = (): void => undefined;
  const watched = async <T>(answer: Promise<T>): Promise<T> => {
    underWay += 1;
    try {
      return await answer;
    } finally {
      underWay -= 1;
      if (underWay === 0) onIdle();
    }
  };
  const fixed = { database: url.pathname.slice(1) || 'default', ...settingsOf(url) };
  const ask = <T>(
    sql: string,
    params: SelectParams,
    take: (answer: IncomingMessage) => Promise<T>,
  ): Promise<T> => {
    const path = pathOf(fixed, params);
    if (path.length <= PATH_LENGTH_MAX) return watched(read(target, path, sql, take, true));
    const form = formOf(sql, params);
    const typed = { ...target, contentType: form.contentType };
    return watched(read(typed, pathOf(fixed, {}), form.body, take, true));
  };
  return {
    select: <Row>(sql: string, params: SelectParams) =>
      ask(`${sql}\nFORMAT JSONEachRow`, params, readRows<Row>),
    selectBinary: (sql, params, format) => ask(`${sql}\nFORMAT ${format}`, params, readBytes),
    async insert(sql, body, settings, mayRepeat) {
      const path = pathOf({ ...fixed, ...settings, query: sql }, {});
      await watched(read(target, path, body, readBytes, mayRepeat));
    },
    async close() {
      const idle = new Promise<void>((resolve) => (onIdle = resolve));
      if (underWay > 0) await Promise.race([idle, delay(CLOSE_GRACE_MS, undefined, { ref: false })]);
      target.agent.destroy();
    },
  };
}

interface Target {
  readonly host: string;
  readonly port: string;
  readonly agent: HttpAgent;
  readonly timeout: number;
  readonly request: typeof httpRequest;
  readonly authorization: string;
  /** Of the body; absent: the statement alone. */
  readonly contentType?: string;
}

function targetOf(url: URL, options: DirectOptions): Target {
  const settings = { keepAlive: true, maxSockets: options.maxConnections, timeout: options.idleMs };
  const secure = url.protocol === 'https:';
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    agent: secure ? new HttpsAgent(settings) : new HttpAgent(settings),
    timeout: options.requestTimeoutMs,
    request: secure ? httpsRequest : httpRequest,
    authorization: `Basic ${Buffer.from(user).toString('base64')}`,
  };
}

/** A statement with its parameters as a form: a body has no bound on their length. */
function formOf(sql: string, params: SelectParams): { readonly body: string; readonly contentType: string } {
  const boundary = randomUUID();
  const parts: [string, string][] = [['query', sql]];
  for (const [name, value] of Object.entries(params)) parts.push([`param_${name}`, formatParam(value)]);
  const body = parts.map(
    ([name, text]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
  );
  return {
    body: `${body.join('')}--${boundary}--\r\n`,
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

/** `mayRepeat`: whether to ask once more when the server closed the connection while it lay idle. */
function read<T>(
  target: Target,
  path: string,
  body: string | Buffer,
  take: (answer: IncomingMessage) => Promise<T>,
  mayRepeat: boolean,
): Promise<T> {
  const { request, authorization, contentType, ...where } = target;
  const headers = {
    Authorization: authorization,
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'candlehouse',
    ...(contentType === undefined ? {} : { 'Content-Type': contentType }),
  };
  return new Promise((resolve, reject) => {
    const call = request({ ...where, method: 'POST', path, headers }, (answer) => {
      take(answer).then(resolve, (error: unknown) => reject(withCode(error)));
    });
    call.on('timeout', () =>
      call.destroy(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })),
    );
    call.on('error', (error: NodeJS.ErrnoException) => {
      const stale = call.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      if (mayRepeat && stale) resolve(read(target, path, body, take, false));
      else reject(withCode(error));
    });
    call.end(body);
  });
}

/** A failed or broken connection as an error whose code and text say why; any other error as it is. */
function withCode(error: unknown): unknown {
  if (error instanceof EngineError) return error;
  const code = systemCode(error);
  if (code === null) return error;
  const text = errorText(error);
  const message = text.includes(code) ? text : `${code} ${text}`.trim();
  return Object.assign(new Error(message, { cause: error }), { code });
}

function settingsOf(url: URL): Settings {
  const settings = [...url.searchParams].filter(([name]) => name.startsWith(SETTING_PREFIX));
  return Object.fromEntries(settings.map(([name, value]) => [name.slice(SETTING_PREFIX.length), value]));
}

function pathOf(fixed: Settings, params: SelectParams): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fixed)) query.set(name, String(value));
  for (const [name, value] of Object.entries(params)) query.set(`param_${name}`, formatParam(value));
  return `/?${query.toString()}`;
}

/** A value as `{name:Type}` reads it: escaped as in TSV, and in arrays quoted. */
export function formatParam(value: SelectParams[string]): string {
  if (typeof value === 'string') return escapeText(value);
  if (typeof value !== 'object') return String(value);
  return `[${value.map(formatItem).join(',')}]`;
}

function formatItem(item: string | number | bigint | null): string {
  if (item === null) return 'NULL';
  return typeof item === 'string' ? `'${escapeText(item)}'` : String(item);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
};

function escapeText(text: string): string {
  return text.replace(/[\\'\t\n\r\0]/g, (sign) => ESCAPES[sign] ?? sign);
}
