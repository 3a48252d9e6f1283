import type { FoundPoolRow } from '../../../../src/clickhouse/schema/olderPoolTables';
import type { ChainBlock } from '../../../../src/domain/block';
import { ZERO_HASH, type Hex } from '../../../../src/domain/hex';
import { addFoundPools } from '../../../../src/ingest/decode/addFoundPools';
import { decodeBlock } from '../../../../src/ingest/decode/decodeBlock';
import { PoolRegistry } from '../../../../src/ingest/pools/poolRegistry';
import { data as words, digest, type Draft } from '../../../simulation/chain/simLogs';
import { contextOf } from '../../../support/node/vaultSetup';

const POOL = digest('pool', 20);
const [TOKEN0, TOKEN1] = [digest('token0', 20), digest('token1', 20)];
const FEE_CHANGED: Hex = '0xa9ba3ffe0b6c366b81232caab38605a0699ad5398d6cce76f91ee809e322dafc';
const PIP = 10n ** 12n;

const changesFee = (pips: bigint, address = POOL): Draft => ({
  address,
  topics: [FEE_CHANGED],
  data: words(pips * PIP),
});

/** The pool as the pool search found it, with a fee of 1,000 pips. Block 103 adds it. */
const FOUND: FoundPoolRow = {
  block: 103,
  block_hash: ZERO_HASH,
  address: POOL,
  dex: 'phux',
  protocol: 'balancer_v2',
  pool_type: 4,
  factory: digest('vault', 20),
  token0: TOKEN0,
  token1: TOKEN1,
  base_is_token0: true,
  tokens: [TOKEN0, TOKEN1],
  weights: [5n * 10n ** 17n, 5n * 10n ** 17n],
  doubts: 0,
  fee_pips: 1_000,
  tick_spacing: 0,
  pool_id: `${POOL}0002${'0'.repeat(20)}`,
  moved_at: 0,
  reserve0: 0n,
  reserve1: 0n,
  sqrt_price_x96: 0n,
  liquidity: 0n,
  tick: 0,
  balances: [10n ** 18n, 2n * 10n ** 18n],
};

/** Reads blocks 101 to 103, each with these logs, and returns the row of the found pool. */
function feeOf(drafts: Readonly<Record<number, readonly Draft[]>>, registry = new PoolRegistry()) {
  const context = contextOf(registry);
  for (const number of [101, 102, 103]) {
    const block: ChainBlock = {
      number,
      hash: digest(`block ${number}`, 32),
      parentHash: digest(`block ${number - 1}`, 32),
      timestamp: 1_700_000_000 + number,
      baseFeePerGas: null,
      transactionCount: 1,
      transactions: [],
      logs: (drafts[number] ?? []).map((draft, logIndex) => {
        return { ...draft, transactionHash: digest(`tx ${number}`, 32), transactionIndex: 0, logIndex };
      }),
    };
    const facts = decodeBlock(context, block, { pools: [], vaultPools: [] }, true);
    addFoundPools(context, facts, number === FOUND.block ? [FOUND] : []);
    if (number === FOUND.block) return facts.pools.map(({ fee_pips: fee }) => fee);
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
