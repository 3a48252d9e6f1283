/** Texts, requests and bodies that an attacker would send. */
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';

/** Values for a parameter: SQL, paths, scripts, templates, headers, numbers, Unicode and expressions. */
export const PAYLOADS: readonly string[] = [
  "' OR 1=1 --",
  "'; DrOp TaBlE swaps; --",
  '1) UnIoN AlL SeLeCt * FrOm system.users --',
  '{pair:String}',
  "\\' OR sleep(3) --",
  "unhex('00') FoRmAt JSON",
  "file('/etc/passwd')",
  '\0',
  'a\0b',
  '%00',
  '\r\nX-Injected: yes',
  '%0d%0aX-Injected:%20yes',
  '../../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '....//....//etc/passwd',
  'C:\\windows\\win.ini',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '${7*7}',
  '{{7*7}}',
  '$(id)',
  '`id`',
  '; cat /etc/passwd',
  '1e999',
  '-1',
  '0',
  'NaN',
  'Infinity',
  '99999999999999999999999999999999',
  '-9223372036854775808',
  '18446744073709551616',
  '0x1p1023',
  '٣٤',
  '１',
  '\u202eabc',
  '\ufeff',
  '\ud83d\ude00'.repeat(20),
  'Ａ'.repeat(70),
  'a\u0300'.repeat(300),
  'x'.repeat(3_000),
  ','.repeat(200),
  '0x' + 'f'.repeat(40),
  '0X' + 'F'.repeat(40),
  '0x' + 'g'.repeat(40),
  '0xa1077a294dDE1B09bB078844df40758a5D0f9a27',
  '%',
  '_',
  '%25%25',
  '\\',
  '(.*)*$',
  '[',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '{"$gt":""}',
  '__proto__',
  'constructor',
  'toString',
  ' ',
  '\t',
  '',
];

/** JSON values that are no text. */
export const WRONG_TYPES: readonly unknown[] = [
  null,
  true,
  -1,
  1e300,
  [],
  ['x', ['y']],
  {},
  { $gte: '' },
  { constructor: { prototype: {} } },
  JSON.parse('{"__proto__":{"x":1}}'),
];

/** Targets of requests that name files of the server, or names that every object of the language has. */
export const ODD_PATHS: readonly string[] = [
  '/.env',
  '/.env.example',
  '/.git/config',
  '/.git/HEAD',
  '/.npmrc',
  '/package.json',
  '/dist/main.js',
  '/main.js.map',
  '/.data/engine.log',
  '/web/../../.env',
  '/assets/..%2f..%2f.env',
  '/%2e%2e/%2e%2e/.env',
  '/%2eenv',
  '/..%5c.env',
  '//.env',
  '/.env%00.js',
  '/api/v1/.env',
  '/api/v1/../../.env',
  '/preview/token/..%2f..%2f.env.png',
  '/#/__proto__',
  '/#/constructor',
  '/%23/__proto__',
  '/__proto__',
  '/__proto__/__proto__',
  '/constructor',
  '/toString',
  '/hasOwnProperty',
  '/api/v1/__proto__',
  '/v2/contract/__proto__/0x0',
  '/__proto__/api/v2/smart-contracts',
  '/preview/__proto__/0x0.png',
  '/token/__proto__',
  '/dex/__proto__',
  '/block/constructor',
];

/**
 * Signs of internal details in an answer. Payloads contain none of these words, so an echoed payload is not
 * reported as a leak.
 */
export const LEAKS =
  /DB::Exception|Code: \d+|clickhouse|candlehouse_test|SELECT\b|\bFROM\s|node_modules|\.[cm]?[jt]s:\d|\n\s+at |\/work\/|\/home\/|\/root\/|ECONNREFUSED|ZodError|TypeError|password|__proto__/;

const HEAD = 'Host: x\r\n';
const getRequest = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\n${HEAD}${headers}\r\n`;
const post = (headers: string, body: string): string => `POST /api HTTP/1.1\r\n${HEAD}${headers}\r\n${body}`;
/** A request hidden behind other bytes (request smuggling). The server must never answer it as a separate request. */
const SMUGGLED = `GET /smuggled HTTP/1.1\r\n${HEAD}\r\n`;

/** Requests that are not valid HTTP, and requests at the limits of HTTP. */
export const MALFORMED: Readonly<Record<string, string | Buffer>> = {
  'no target': 'GET\r\n\r\n',
  'no method': ' / HTTP/1.1\r\nHost: x\r\n\r\n',
  'an unknown version': `GET /healthz HTTP/9.9\r\n${HEAD}\r\n`,
  'a version without a number': `GET /healthz HTTP/x\r\n${HEAD}\r\n`,
  'version 0.9': 'GET /healthz\r\n\r\n',
  'the preface of version 2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a TLS hello': Buffer.from('16030100c8010000c40303', 'hex'),
  'zero bytes': '\0\0\0\0\0\0\0\0',
  'random bytes': Buffer.from('f0288cbc90289f92a9ff00fe', 'hex'),
  'no host': 'GET /healthz HTTP/1.1\r\n\r\n',
  'two hosts': 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'a header without a colon': getRequest('/healthz', 'Broken\r\n'),
  'a header without a name': getRequest('/healthz', ': x\r\n'),
  'a blank before the colon': getRequest('/healthz', 'X-A : b\r\n'),
  'a folded header': getRequest('/healthz', 'X-A: b\r\n c\r\n'),
  'a zero byte in a header': getRequest('/healthz', 'X-A: b\0c\r\n'),
  'a bare CR in a header': getRequest('/healthz', 'X-A: b\rc\r\n'),
  'lines that end with LF': 'GET /healthz HTTP/1.1\nHost: x\n\n',
  'lines that end with CR': 'GET /healthz HTTP/1.1\rHost: x\r\r',
  'a lower-case method': `get /healthz http/1.1\r\n${HEAD}\r\n`,
  'an unknown method': `BREW / HTTP/1.1\r\n${HEAD}\r\n`,
  CONNECT: 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n',
  'OPTIONS of everything': `OPTIONS * HTTP/1.1\r\n${HEAD}\r\n`,
  'a URL of another host': getRequest('http://169.254.169.254/latest/meta-data/'),
  'a target of another scheme': getRequest('file:///etc/passwd'),
  'a blank in the target': getRequest('/a b'),
  'raw bytes in the target': Buffer.from(`GET /\xff\xfe HTTP/1.1\r\n${HEAD}\r\n`, 'latin1'),
  'a target of 100 KB': getRequest(`/${'a'.repeat(100_000)}`),
  'a header of 100 KB': getRequest('/healthz', `X-A: ${'a'.repeat(100_000)}\r\n`),
  '2,000 headers': getRequest('/healthz', 'X-A: b\r\n'.repeat(2_000)),
  'a negative length': post('Content-Length: -5\r\n', SMUGGLED),
  'a length that is no number': post('Content-Length: 0x10\r\n', SMUGGLED),
  'two lengths': post('Content-Length: 5\r\nContent-Length: 0\r\n', `a=1&b${SMUGGLED}`),
  'a length and chunks': post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${SMUGGLED}`),
  'an unknown transfer encoding': post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${SMUGGLED}`),
  'a chunk without a size': post('Transfer-Encoding: chunked\r\n', `zz\r\nabc\r\n0\r\n\r\n${SMUGGLED}`),
  'a chunk of 2^64 bytes': post('Transfer-Encoding: chunked\r\n', `10000000000000000\r\nabc`),
};

/** Expressions that make a backtracking matcher run without end, or that need many states. */
export const EXPRESSIONS: readonly string[] = [
  '(a+)+$',
  '(a|aa)+$',
  '(a|a?)+$',
  '(.*a){25}',
  '(x+x+)+yy+z',
  '([a-zA-Z]+)*$',
  '(.*)*contract',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(?:.{0,300}){3}zzz',
  '(a{1,100}){100}',
  '((((((((((x{9}){9}){9}){9}){9}){9}){9}){9}){9}){9})',
  '(\\pL{1,100}){5}qq9',
  '(a)\\1back',
  '(?=look)ahead',
  '(?<!a)b',
  `${'('.repeat(500)}a${')'.repeat(500)}`,
  '[',
  '\\',
  '(?P<n>a)(?P<n>b)',
  'a{1001}',
];

/** Imports that a compiler must not follow. */
export const IMPORTS: readonly string[] = [
  '/etc/passwd',
  '/proc/self/environ',
  'file:///etc/passwd',
  '../../../../../../etc/passwd',
  './package.json',
  '../package.json',
  'package.json',
  'solc/package.json',
  'node_modules/solc/package.json',
  'http://127.0.0.1:1/a.sol',
  'https://example.org/a.sol',
  'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
  'github.com/a/b.sol',
  '//127.0.0.1/a.sol',
  'C:/windows/win.ini',
  '/dev/stdin',
  '/dev/zero',
];

const BOMB_BYTES = 64 * 2 ** 20;

/**
 * A zstd frame of BOMB_BYTES equal bytes, by https://www.rfc-editor.org/rfc/rfc8878: its size and a window of 128 KiB,
 * then blocks that repeat one byte. Node 20 has no compressor for zstd.
 */
function zstdBomb(): Buffer {
  const window = 2 ** 17;
  const count = BOMB_BYTES / window;
  const blocks = Array.from({ length: count }, (_, index) => {
    const block = Buffer.alloc(4, 'a');
    // The header of a block: its size, its type (1: one repeated byte), and whether it is the last one.
    block.writeUIntLE((window << 3) | (1 << 1) | Number(index === count - 1), 0, 3);
    return block;
  });
  return Buffer.concat([Buffer.from('28b52ffd0038', 'hex'), ...blocks]);
}

/** Small bodies that become 64 MB. */
export function makeBombs(): readonly (readonly [encoding: string, body: Buffer])[] {
  const plainBody = Buffer.alloc(BOMB_BYTES, 'a');
  const gzip = gzipSync(plainBody);
  return [
    ['gzip', gzip],
    ['deflate', deflateSync(plainBody)],
    ['br', brotliCompressSync(plainBody, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['gzip, gzip', gzipSync(gzip)],
    ['zstd', zstdBomb()],
    ['zstd', gzip],
    ['nonsense', gzip],
  ];
}
