/** A token whose calls always fail does not keep the ingester from measuring other tokens. */
import { RpcError, type RpcErrorKind } from '../../../src/node/rpc/rpcError';
import type { RpcCall } from '../../../src/node/rpc/rpcTransport';
import type { EthCalls } from '../../../src/node/calls/askContracts';
import type { Hex } from '../../../src/domain/hex';
import { readContractSupplies } from '../../../src/workers/tokenFacts';

const { signal } = new AbortController();
const [GOOD, BAD]: Hex[] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`];
const BLOCK: Hex = `0x${'1'.repeat(64)}`;
const WORD: Hex = `0x${'5'.padStart(64, '0')}`;

/** Fails a whole batch if a call to the bad token is in it, as EndpointPool does. */
function failing(kind: RpcErrorKind, isBad = (call: RpcCall) => JSON.stringify(call.params).includes(BAD!)) {
  let batches = 0;
  const rpc: EthCalls = {
    async batchOutcomes(calls, parse) {
      batches += 1;
      if (calls.some(isBad)) throw new RpcError(kind, 'failed');
      return calls.map((_, index) => ({ value: parse(WORD, index) }));
    },
  };
  return { rpc, batches: () => batches };
}

test('a call that always fails is unknown, and the calls of other tokens are answered', async () => {
  const told = await readContractSupplies(failing('other').rpc, [GOOD!, BAD!], BLOCK, signal);
  expect(told).toEqual([
    { supply: 5n, zeroBalance: 5n },
    { supply: null, zeroBalance: null },
  ]);
});

test('a failed connection, and a node that answers no call, are no facts about tokens', async () => {
  const away = failing('network');
  await expect(readContractSupplies(away.rpc, [GOOD!, BAD!], BLOCK, signal)).rejects.toThrow('failed');
  expect(away.batches()).toBe(1);
  const broken = failing('other', () => true);
  await expect(readContractSupplies(broken.rpc, [GOOD!, BAD!], BLOCK, signal)).rejects.toThrow('failed');
});
