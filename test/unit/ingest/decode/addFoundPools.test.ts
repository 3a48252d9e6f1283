import type { ChainBlock } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import { addFoundPools } from '../../../../src/ingest/decode/addFoundPools';
import { decodeBlock } from '../../../../src/ingest/decode/decodeBlock';
import { toFinding } from '../../../../src/ingest/pools/finding';
import { PoolRegistry } from '../../../../src/ingest/pools/poolRegistry';
import { dataOf as words, digest, type Draft } from '../../../support/plainLogs';
import { contextOf, FOUND_VAULT_POOL } from '../../../support/node/vaultSetup';

const { address: POOL, token0: TOKEN0 } = FOUND_VAULT_POOL;
const FEE_CHANGED: Hex = '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc';
const PIP = 10n ** 12n;

const changesFee = (pips: bigint, address = POOL): Draft => ({
  address,
  topics: [FEE_CHANGED],
  data: words(pips * PIP),
});

function blockOf(number: number, drafts: readonly Draft[]): ChainBlock {
  const transactionHash = digest(`tx ${number}`, 32);
  return {
    number,
    hash: digest(`block ${number}`, 32),
    parentHash: digest(`block ${number - 1}`, 32),
    timestamp: 1_700_000_000 + number,
    baseFeePerGas: null,
    transactionCount: 1,
    transactions: [],
    logs: drafts.map((draft, logIndex) => ({ ...draft, transactionHash, transactionIndex: 0, logIndex })),
  };
}

/** Reads blocks 101 to 103, each with these logs, and returns the row of the found pool. */
function feeOf(drafts: Readonly<Record<number, readonly Draft[]>>, registry = new PoolRegistry()) {
  const context = contextOf(registry);
  for (const number of [101, 102, 103]) {
    const block = blockOf(number, drafts[number] ?? []);
    const facts = decodeBlock(context, block, [], true);
    addFoundPools(context, facts, number === FOUND_VAULT_POOL.block ? [FOUND_VAULT_POOL] : []);
    if (number === FOUND_VAULT_POOL.block) return facts.pools.map(({ fee_pips: fee }) => fee);
  }
  return [];
}

describe('the fee of a vault pool that the pool search found', () => {
  it.each([
    ['the fee that the search read, without a fee event', {}, 1_000],
    [
      'the fee of an event between the read and the block that adds the pool',
      { 102: [changesFee(3_000n)] },
      3_000,
    ],
    [
      'the fee of the last event, in the block that adds the pool',
      { 102: [changesFee(3_000n)], 103: [changesFee(5_000n), changesFee(4_000n)] },
      4_000,
    ],
    ['no fee of another contract', { 102: [changesFee(3_000n, TOKEN0)] }, 1_000],
  ])('is %s', (_, drafts, pips) => {
    expect(feeOf(drafts)).toEqual([pips]);
  });

  it('is again the fee before an event that a reorg removed', () => {
    const registry = new PoolRegistry();
    expect(feeOf({ 102: [changesFee(3_000n)] }, registry)).toEqual([3_000]);
    registry.rewindTo(100);
    expect(feeOf({}, registry)).toEqual([1_000]);
  });
});

it('a found pool gets no second row if its first event is in a later block of the same batch', () => {
  const registry = new PoolRegistry();
  expect(feeOf({}, registry)).toHaveLength(1);
  // The ingester looks for the pools of a batch before it decodes the first block.
  const finding = { ...toFinding(FOUND_VAULT_POOL), fromBlock: 104, ord: toOrd(104, 0), createdTx: null };
  expect(decodeBlock(contextOf(registry), blockOf(104, []), [finding], true).pools).toEqual([]);
});
