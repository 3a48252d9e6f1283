/**
 * GET requests to servers that an operator names, such as import servers and compiler mirrors. Redirects stay on the
 * server's origin. Each host name is resolved once per connection, and the connection uses an address that was checked.
 * A name can therefore not lead to this machine or its network.
 */
import { lookup as resolveName } from 'node:dns';
import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { createGunzip } from 'node:zlib';

import { AppError } from '../errors';

const REDIRECTS_MAX = 5;
const REDIRECT_STATUSES: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

interface GuardedGetOptions {
  /** Limit of the body in bytes, after decompression. */
  readonly bytesMax: number;
  /** Whether a host name may resolve to a private address. */
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
}

interface GuardedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * @throws AppError `bad_config` for a redirect to another origin and for a private address; other errors mean that
 * the server did not answer
 */
export async function guardedGet(url: URL, options: GuardedGetOptions): Promise<GuardedAnswer> {
  const { origin } = url;
  let target = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    checkAddress(target, options.allowPrivate);
    const response = await send(target, options);
    const location = response.headers.location;
    if (location === undefined || !REDIRECT_STATUSES.has(response.statusCode)) {
      const body = await readBody(response, options);
      return { status: response.statusCode ?? 0, headers: response.headers, body };
    }
    response.destroy();
    if (!URL.canParse(location, target.href)) throw new Error('the server redirects to an invalid URL');
    target = new URL(location, target.href);
    if (target.origin !== origin)
      throw new AppError(
        'bad_config',
        `${origin} redirects to ${target.origin}; allowed: redirects to the same origin`,
      );
  }
  throw new Error(`the server redirects more than ${REDIRECTS_MAX} times`);
}

function send(url: URL, { allowPrivate, signal }: GuardedGetOptions): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = {
    accept: 'application/json, */*;q=0.5',
    'accept-encoding': 'gzip',
    'user-agent': 'candlehouse/0.1',
  };
  return new Promise((resolve, reject) => {
    const lookup = checkedLookup(allowPrivate);
    // After an abort, the error of the request says only that it was cut, so the reason of the signal is used.
    const fail = (error: unknown): void => reject(signal.aborted ? signal.reason : error);
    request(url, { headers, signal, lookup, agent: false }, resolve).on('error', fail).end();
  });
}

async function readBody(response: IncomingMessage, { bytesMax, signal }: GuardedGetOptions): Promise<Buffer> {
  const stream = response.headers['content-encoding'] === 'gzip' ? response.pipe(createGunzip()) : response;
  // `pipe` does not pass errors of the response to the unzipped stream.
  if (stream !== response) response.on('error', (error) => stream.destroy(error));
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream) {
      if (!Buffer.isBuffer(piece)) continue;
      bytes += piece.length;
      if (bytes > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } catch (error) {
    // After an abort, the error of the stream says only that it was cut, so the reason of the signal is thrown.
    signal.throwIfAborted();
    throw error;
  } finally {
    response.destroy();
  }
}

/** Addresses of this machine and of private networks. */
const PRIVATE = listOf([
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::1', 128],
  ['fc00::', 7],
]);

/** Addresses that no server on the internet has: link-local, multicast, reserved, and embedded IPv4 addresses. */
const SPECIAL = listOf([
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]);

function listOf(ranges: readonly (readonly [network: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, familyOf(network));
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** Whether an address belongs to this machine, a private network or a special range. IPv4 ranges include the
 * IPv4-mapped addresses of IPv6. */
export function isPrivateAddress(address: string): boolean {
  const family = familyOf(address);
  return PRIVATE.check(address, family) || SPECIAL.check(address, family);
}

/**
 * Checks a URL with an IP address, for which no name is resolved. An operator who types a private address means that
 * address. Link-local and other special addresses need `allowPrivate`.
 */
function checkAddress({ hostname }: URL, allowPrivate: boolean): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (allowPrivate || isIP(address) === 0) return;
  if (isPrivateAddress(address) && !PRIVATE.check(address, familyOf(address))) throw refused(hostname);
}

function isLocalName(hostname: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(hostname);
}

function checkedLookup(allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const isRefused = !isLocalName(hostname) && addresses.some(({ address }) => isPrivateAddress(address));
      if (isRefused && !allowPrivate) return callback(refused(hostname), []);
      const [first] = addresses;
      if (options.all === true || first === undefined) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function refused(hostname: string): AppError {
  return new AppError(
    'bad_config',
    `${hostname} is a private address; allowed: public addresses, or any address with --allow-private`,
  );
}
