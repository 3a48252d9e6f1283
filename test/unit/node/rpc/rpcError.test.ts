import {
  kindOfRpcError,
  parseRetryAfter,
  RpcError,
  type RpcErrorKind,
} from '../../../../src/node/rpc/rpcError';

/** Error texts of nodes that the simulation does not use. simulation/fleet/wordings.test.ts checks the texts
 * of simulated nodes. */
const WORDINGS: [number, string, RpcErrorKind][] = [
  [3, 'execution reverted: TransferHelper: TRANSFER_FROM_FAILED', 'revert'],
  [-32000, 'execution reverted', 'revert'],
  [-32015, 'VM execution error.', 'revert'],
  [-32603, 'EVM error OutOfGas', 'revert'],
  [-32603, 'EVM error MemoryOOG', 'revert'],
  [-32000, 'out of gas', 'revert'],
  [-32000, 'invalid opcode: INVALID', 'revert'],
  [-32000, 'return data out of bounds', 'revert'],
  [-32000, 'gas uint64 overflow', 'revert'],
  [-32000, 'stack limit reached 1024 (1023)', 'revert'],
  [-32601, 'the method eth_getBlockReceipts does not exist/is not available', 'method_missing'],
  [-32601, 'Method not found', 'method_missing'],
  [-32000, 'Unsupported method: eth_getBlockReceipts', 'method_missing'],
  [-32600, 'method eth_getBlockReceipts is not whitelisted', 'method_missing'],
  [-32004, 'The method eth_getBlockReceipts is not supported', 'method_missing'],
  [-32000, 'block range is too wide', 'too_large'],
  [-32005, 'limit exceeded', 'too_large'],
  [-32000, 'logs matched by query exceeds limit of 10000', 'too_large'],
  [-32000, 'exceed maximum block range: 5000', 'too_large'],
  [-32600, 'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range', 'too_large'],
  [-32000, 'requested too many blocks from 1 to 5000, maximum is set to 2048', 'too_large'],
  [-32008, 'Response is too big', 'too_large'],
  [-32005, 'rate limit exceeded', 'rate_limited'],
  [-32000, 'Too Many Requests', 'rate_limited'],
  [-32000, 'finalized block not found', 'unknown_block'],
  [-32602, 'BlockOutOfRangeError: block height is 12 but requested was 99', 'unknown_block'],
  [-32000, 'missing trie node 0x429d (path ) state 0x0 is not available', 'unknown_block'],
  [-32602, 'invalid argument 0: hex string without 0x prefix', 'invalid'],
  [-32603, 'internal error', 'other'],
];

test.each(WORDINGS)('the node error %i %j is of kind %s', (code, message, kind) => {
  expect(kindOfRpcError(code, message)).toBe(kind);
});

test('errors that the same node would repeat are not retryable', () => {
  const retryable = (kind: RpcErrorKind): boolean => new RpcError(kind, '').retryable;
  expect((['revert', 'method_missing', 'too_large', 'invalid'] as const).map(retryable)).toEqual(
    Array(4).fill(false),
  );
  expect((['rate_limited', 'timeout', 'network', 'unknown_block'] as const).map(retryable)).toEqual(
    Array(4).fill(true),
  );
});

test('Retry-After is parsed as seconds or as a date, from 0 to one minute', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(parseRetryAfter('3', now)).toBe(3_000);
  expect(parseRetryAfter('0.5', now)).toBe(500);
  expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:07 GMT', now)).toBe(7_000);
  expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  expect(parseRetryAfter('86400', now)).toBe(60_000);
  expect(parseRetryAfter('soon', now)).toBeNull();
  expect(parseRetryAfter(undefined, now)).toBeNull();
});
