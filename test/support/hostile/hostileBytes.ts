/**
 * Bytes that some layer between the chain and a client treats specially, and chain identities (addresses, hashes) that
 * contain them.
 */
import { createHash } from 'node:crypto';

import type { Hex } from '../../../src/domain/hex';

export interface HostilePattern {
  readonly name: string;
  readonly bytes: Buffer;
}

const MEMORY = 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.7.2.1)';
const TAG = 'abcdefghijklmnop';

const PATTERNS: Readonly<Record<string, string | Buffer>> = {
  'exception marker': '\r\n__exception__',
  'exception marker and line': '\r\n__exception__\r\n',
  'exception frame': `\r\n__exception__\r\n${TAG}\r\n${MEMORY}\n${MEMORY.length + 1} ${TAG}\r\n__exception__\r\n`,
  'engine error': MEMORY,
  'engine error of another kind': 'Code: 159. DB::Exception: Timeout exceeded (TIMEOUT_EXCEEDED)',
  'system error': 'ECONNREFUSED ECONNRESET socket hang up Timeout error',
  'TSV escapes': 'a\tb\nc\\N\\t\\0\\x41\\',
  'CSV quotes': 'a","b""\r\n,c;\'d',
  'CSV formula': "=cmd|'/C calc'!A0",
  'CSV formula of a sum': '@SUM(1+1)*cmd',
  'CSV formula of a number': '-2+3+cmd',
  'SSE data': '\n\ndata: {"id":"1-1"}\n\n',
  'SSE id': '\nid: 9-9-00000000\n\n',
  'SSE event': '\r\n\r\nevent: reorg\r\ndata: {}\r\n\r\n',
  'SSE comment and retry': '\n: still\nretry: 1\n',
  'JSON end': '"}],"data":[{"a":"',
  'JSON escapes': '\\u0000\\"\\/\\n\\ud800',
  'JSON keys': '{"__proto__":{"$gt":""},"constructor":1}',
  'HTML script': '<script>alert(1)</script>',
  'HTML attribute': '"><img src=x onerror=alert(1)>',
  'HTML entities': '&lt;&#x27;&amp;-->]]>',
  NUL: '\0\0\0a\0b',
  'control characters': '\x01\x08\x0b\x0c\x1b[2J\x1b]0;x\x07\x7f\x85',
  bidi: '\u202e\u2066abc\u200f\u061c',
  'line separators': '\u2028\u2029\ufeffx',
  'lone surrogate': Buffer.from('edA080EDBFBF61EDA0BD', 'hex'),
  'invalid UTF-8': Buffer.from('fffe80c0afc1bff5808080e28261', 'hex'),
  'RowBinary length': Buffer.from('ffffffffffffffffff01', 'hex'),
  'bytes of ones': Buffer.alloc(15, 0xff),
  'query parameter': '{name:String}{pair:FixedString(20)}',
  'our template': '\n-- if topics1\n-- end\n',
  'SQL string': "'; DROP TABLE swaps; --\\'",
  path: '../../../../etc/passwd\0.sol',
  'HTTP header': '\r\nX-Injected: yes\r\n\r\n',
  'HTTP chunk': '\r\n0\r\n\r\nHTTP/1.1 200 OK',
  placeholders: '%s%n${7*7}{{7*7}}$(id)`id`',
  'Parquet magic': 'PAR1\x15\x04PAR1',
  'Arrow continuation': Buffer.from('ffffffff1000000000000a00', 'hex'),
  'gzip magic': Buffer.from('1f8b0800000000000003', 'hex'),
};

export const HOSTILE_PATTERNS: readonly HostilePattern[] = Object.entries(PATTERNS).map(([name, value]) => ({
  name,
  bytes: typeof value === 'string' ? Buffer.from(value) : value,
}));

/** Number of bytes, besides the pattern, that make each address or hash unique. */
const OWN_BYTES = 4;

/** The first bytes of a pattern, cut so that the pattern and the unique bytes together fit `size` bytes. */
export function patternPart({ bytes }: HostilePattern, size: number): Buffer {
  return bytes.subarray(0, size - OWN_BYTES);
}

/**
 * Address (`size` 20) or hash (`size` 32) number `index` of a role, which is any text such as `token`. In some
 * identities the hostile pattern comes first, in others last.
 */
export function hostileIdentity(role: string, index: number, size: number): Hex {
  const pattern = HOSTILE_PATTERNS[index % HOSTILE_PATTERNS.length]!;
  const part = patternPart(pattern, size);
  const ownHash = createHash('sha256')
    .update(`${role} ${index}`)
    .digest()
    .subarray(0, size - part.length);
  const isFirst = Math.floor(index / HOSTILE_PATTERNS.length) % 2 === 0;
  return `0x${Buffer.concat(isFirst ? [part, ownHash] : [ownHash, part]).toString('hex')}`;
}

/** Roles whose addresses and hashes are never looked up again, so each use gets a new one. */
const PASSING_ROLES: ReadonlySet<string> = new Set([
  'maker',
  'trader',
  'holder',
  'stranger',
  'payee',
  'sender',
]);
const identityByKey = new Map<string, Hex>();
const counts = new Map<string, number>();

/** Replaces `digest` of the simulated chain. Addresses and hashes contain the hostile patterns in rotation. */
export function hostileDigest(text: string, bytes: number): Hex {
  const role = text.startsWith('0x') ? 'hash' : text.split(' ')[0]!;
  const key = `${bytes} ${text}`;
  const isPassingRole = PASSING_ROLES.has(role);
  const knownIdentity = isPassingRole ? undefined : identityByKey.get(key);
  if (knownIdentity !== undefined) return knownIdentity;
  const count = counts.get(`${role} ${bytes}`) ?? 0;
  counts.set(`${role} ${bytes}`, count + 1);
  const identity = hostileIdentity(role, isPassingRole ? count % HOSTILE_PATTERNS.length : count, bytes);
  identityByKey.set(key, identity);
  return identity;
}
