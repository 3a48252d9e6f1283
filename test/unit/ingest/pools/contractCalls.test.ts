import { RpcError } from '../../../../src/node/rpc/rpcError';
import type { Hex } from '../../../../src/domain/hex';
import {
  callContracts,
  callContractsOfOld,
  type TaggedCall,
} from '../../../../src/ingest/pools/contractCalls';
import { answeringCalls, type Asked } from '../../../support/node/vaultSetup';

const TO: Hex = `0x${'1'.repeat(40)}`;
const call = (at: TaggedCall['at'], data: Hex = '0x01'): TaggedCall => ({ to: TO, data, at });
const pruned = new RpcError('unknown_block', 'missing trie node');
/** The node has pruned states below block 16. Call 0x02 reverts. */
const node = answeringCalls(({ at, data }: Asked) => {
  if (at !== 'latest' && Number(at) < 16) return pruned;
  return data === '0x02' ? null : '0xaa';
});

describe('contract calls return null only if the contract gives no answer', () => {
  it('a contract call that reverts returns null', async () => {
    expect(await callContracts(node, [call('latest'), call('latest', '0x02')])).toEqual(['0xaa', null]);
  });

  it('contract calls fail when the node does not have the block', async () => {
    await expect(callContracts(node, [call('0x1')])).rejects.toBe(pruned);
  });

  it('contract calls at old blocks return null only for blocks whose state the node has pruned', async () => {
    const calls = [call('0x1'), call('0x20'), call('0x2'), call('0x20', '0x02'), call('0x30')];
    expect(await callContractsOfOld(node, calls)).toEqual([null, '0xaa', null, null, '0xaa']);
    expect(await callContractsOfOld(node, [])).toEqual([]);
  });

  it.each(['network', 'timeout', 'rate_limited', 'refused', 'bad_answer'] as const)(
    'contract calls at old blocks fail when the node fails with %s',
    async (kind) => {
      const failing = answeringCalls(() => new RpcError(kind, 'fails'));
      await expect(callContractsOfOld(failing, [call('0x1')])).rejects.toThrow('fails');
    },
  );
});
