/** Checks that the error classifier understands the error texts of the simulated nodes. */
import { kindOfRpcError } from '../../../src/node/rpc/rpcError';
import * as wordings from './wordings';

test.each([
  ['too_large', wordings.RANGE_WORDINGS.map((word) => word(1000, 5000))],
  ['too_large', wordings.RESULT_WORDINGS.map((word) => word(10_000))],
  ['rate_limited', wordings.RATE_WORDINGS],
  ['unknown_block', wordings.UNKNOWN_BLOCK_WORDINGS],
])('the vendors’ error texts for %s are recognised', (kind, refusals) => {
  const wrong = refusals
    .map(({ code, message }) => ({ code, message, kind: kindOfRpcError(code, message) }))
    .filter((found) => found.kind !== kind);
  expect(wrong).toEqual([]);
});

test('a missing method and an unknown block tag are not classified as failures of the node', () => {
  const kinds = [...wordings.NO_METHOD_WORDINGS, ...wordings.NO_TAG_WORDINGS].map(({ code, message }) =>
    kindOfRpcError(code, message),
  );
  const passing = new Set(['method_missing', 'invalid', 'unknown_block']);
  expect(kinds.filter((kind) => !passing.has(kind))).toEqual([]);
});
