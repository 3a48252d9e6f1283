import { RpcError } from '../../../../src/node/rpc/rpcError';
import type { Hex } from '../../../../src/domain/hex';
import { askContracts, askSince } from '../../../../src/node/calls/askContracts';
import { answeringCalls, type Asked } from '../../../support/node/vaultSetup';

const TO: Hex = `0x${'1'.repeat(40)}`;
const call = (data: Hex = '0x01') => [{ to: TO, data }];
const pruned = new RpcError('unknown_block', 'missing trie node');
/** The node has pruned states below block 16. Call 0x02 reverts. */
const node = answeringCalls(({ at, data }: Asked) => {
  if (at !== 'latest' && Number(at) < 16) return pruned;
  return data === '0x02' ? null : '0xaa';
});

/** Asks call by call, as if each were of another contract. */
async function ask(calls: readonly (readonly [at: Hex | 'latest', data?: Hex])[], missing?: 'null') {
  const options = { at: (index: number) => calls[index]![0], ...(missing && { missing }) };
  const told = await askContracts(
    node,
    calls.map(([, data]) => call(data)),
    options,
  );
  return told.flatMap(({ answers }) => answers);
}

describe('contract calls return null only if the contract gives no answer', () => {
  it('a contract call that reverts returns null', async () => {
    expect(await ask([['latest'], ['latest', '0x02']])).toEqual(['0xaa', null]);
  });

  it('contract calls fail when the node does not have the block', async () => {
    await expect(ask([['0x1']])).rejects.toBe(pruned);
  });

  it('contract calls at old blocks return null only for blocks whose state the node has pruned', async () => {
    const calls = [['0x1'], ['0x20'], ['0x2'], ['0x20', '0x02'], ['0x30']] as const;
    expect(await ask(calls, 'null')).toEqual([null, '0xaa', null, null, '0xaa']);
    expect(await ask([], 'null')).toEqual([]);
  });

  it('a block that a reorg may remove has no state only if the node is at least 64 blocks above it', async () => {
    const head = 0xffffff;
    const askAt = (reversibleTo: number) =>
      askContracts(node, [call()], { at: '0x1', missing: 'null', reversibleTo });
    expect(await askAt(head - 64)).toEqual([{ answers: [null], isUnsure: false }]);
    await expect(askAt(head - 63)).rejects.toMatchObject({ kind: 'unknown_block' });
  });

  it('a value that never changes is read at the newest state if the state of a reversible block is deleted', async () => {
    const head = 0xffffff;
    const keeping = answeringCalls(({ at }) => (at === 'latest' ? '0xaa' : pruned));
    const askAt = (number: number) =>
      askSince({ number, hash: `0x${'2'.repeat(64)}` }, true, (place) =>
        askContracts(keeping, [call()], place),
      );
    expect(await askAt(head - 64)).toEqual([{ answers: ['0xaa'], isUnsure: false }]);
    // The node may not have this block yet, so the contract may be missing from its newest state.
    await expect(askAt(head - 63)).rejects.toMatchObject({ kind: 'unknown_block' });
  });

  it.each(['network', 'timeout', 'rate_limited', 'refused', 'bad_answer'] as const)(
    'contract calls at old blocks fail when the node fails with %s',
    async (kind) => {
      const failing = answeringCalls(() => new RpcError(kind, 'fails'));
      await expect(askContracts(failing, [call()], { at: '0x1', missing: 'null' })).rejects.toThrow('fails');
    },
  );
});
