/** Each kind of difference between stored rows and a proven block is named with block, field and both values. */
import type { ChainBlock } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { compareBlocks } from '../../../src/query/verify/compareBlocks';
import type { StoredRows } from '../../../src/query/verify/storedRows';
import { SimChain } from '../../simulation/chain/simChain';
import { SIM_DESCRIPTION } from '../../simulation/chain/simDescription';
import { createWilderness } from '../../simulation/chain/simWild';
import { straightBlocks } from '../../simulation/compare/straightRun';
import { Random } from '../../support/random';

const word = (digit: string): Hex => `0x${digit.repeat(64)}`;
const POOL: Hex = `0x${'cc'.repeat(20)}`;
const MAKER: Hex = `0x${'dd'.repeat(20)}`;
const TX = word('7');
const NUMBER = 9;

const logOf = (logIndex: number, data: Hex): ChainBlock['logs'][number] => ({
  address: POOL,
  topics: [word('a'), word('b')],
  data,
  transactionHash: TX,
  transactionIndex: 0,
  logIndex,
});
const BLOCK: ChainBlock = {
  number: NUMBER,
  hash: word('1'),
  parentHash: word('2'),
  timestamp: 1_000,
  baseFeePerGas: 7n,
  transactionCount: 1,
  transactions: [
    { hash: TX, index: 0, from: MAKER, effectiveGasPrice: 9n, gasUsed: 21_000, contractAddress: null },
  ],
  logs: [logOf(0, '0x00'), logOf(1, '0x0102'), logOf(2, '0x')],
};

/** The rows of the block as they should be. */
const rightRows = (): StoredRows => ({
  blocks: [
    {
      chain_id: 1,
      number: NUMBER,
      hash: BLOCK.hash,
      parent_hash: BLOCK.parentHash,
      timestamp: 1_000,
      base_fee: 7n,
      transaction_count: 1,
      log_count: 3,
      gas_prices: [9n],
      gas_used: [21_000],
    },
  ],
  logs: BLOCK.logs.map(({ address, topics, data, logIndex }) => ({
    ord: toOrd(NUMBER, logIndex),
    timestamp: 1_000,
    address,
    topics,
    data,
    tx_hash: TX,
    tx_index: 0,
  })),
  swaps: [],
});
type Log = StoredRows['logs'][number];

const namesOf = (rows: StoredRows, logsFrom = 0): string[] =>
  compareBlocks([BLOCK], rows, { dexes: [], logsFrom }).map(
    ({ block, field, stored, proven }) => `${block} ${field}: ${stored} / ${proven}`,
  );

const describeLog = `log of ${POOL} in transaction ${TX}`;
/** Changes one log of the stored rows. */
const withLog = (index: number, change: Partial<Log>): StoredRows => {
  const rows = rightRows();
  return { ...rows, logs: rows.logs.map((log, at) => (at === index ? { ...log, ...change } : log)) };
};

test('right rows have no difference', () => {
  expect(namesOf(rightRows())).toEqual([]);
});

test.each<[string, StoredRows, string[]]>([
  ['a missing block', { ...rightRows(), blocks: [] }, ['9 rows: 0 / 1']],
  [
    'a block stored twice',
    { ...rightRows(), blocks: [...rightRows().blocks, ...rightRows().blocks] },
    ['9 rows: 2 / 1'],
  ],
  [
    'a dropped log at the end',
    { ...rightRows(), logs: rightRows().logs.slice(0, 2) },
    [`9 log 2: none / ${describeLog}`],
  ],
  [
    'a log that the block does not have',
    { ...rightRows(), logs: [...rightRows().logs, { ...rightRows().logs[0]!, ord: toOrd(NUMBER, 3) }] },
    [`9 log 3: ${describeLog} / none`],
  ],
  [
    'a log stored twice',
    { ...rightRows(), logs: [rightRows().logs[0]!, ...rightRows().logs] },
    ['9 log 0 rows: 2 / 1'],
  ],
  ['another address', withLog(1, { address: MAKER }), [`9 log 1 address: ${MAKER} / ${POOL}`]],
  ['a missing topic', withLog(1, { topics: [word('a')] }), [`9 log 1 topic1: none / ${word('b')}`]],
  [
    'a topic too many',
    withLog(1, { topics: [word('a'), word('b'), word('c')] }),
    [`9 log 1 topic2: ${word('c')} / none`],
  ],
  [
    'two logs in the wrong order',
    {
      ...rightRows(),
      logs: rightRows().logs.map((log, at) => ({ ...log, data: rightRows().logs[[1, 0, 2][at]!]!.data })),
    },
    ['9 log 0 data: 0x0102 / 0x00', '9 log 1 data: 0x00 / 0x0102'],
  ],
  ['another time of a log', withLog(0, { timestamp: 999 }), ['9 log 0 timestamp: 999 / 1000']],
])('the comparison names this difference: %s', (_, rows, names) => {
  expect(namesOf(rows)).toEqual(names);
});

test('pruned logs are not compared', () => {
  expect(namesOf({ ...rightRows(), logs: [] }, NUMBER + 1)).toEqual([]);
});

test('a swap without a log and a maker that is not the sender are named', () => {
  const swap: StoredRows['swaps'][number] = {
    ord: toOrd(NUMBER, 1),
    pair: POOL,
    dex: 'any',
    tx_hash: TX,
    tx_index: 0,
    maker: POOL,
    leg: 1,
    token0: POOL,
    token1: POOL,
    sender: POOL,
    recipient: POOL,
    amount0: 1n,
    amount1: -1n,
    sqrt_price_x96: 0n,
    liquidity: 0n,
    tick: 0,
    fee_pips: 0,
  };
  const swaps = [swap, { ...swap, ord: toOrd(NUMBER, 3), maker: MAKER }];
  expect(namesOf({ ...rightRows(), swaps })).toEqual([
    `9 swap 1 maker: ${POOL} / ${MAKER}`,
    `9 swap 3: swap of ${POOL} / none`,
  ]);
});

type Swap = StoredRows['swaps'][number];
/** A wrong value of each field that follows from the logs of these families. */
const DAMAGES: Readonly<Record<string, readonly (readonly [string, (swap: Swap) => Partial<Swap>])[]>> = {
  sim_v2: [['amount1', ({ amount1 }) => ({ amount1: amount1 + 1n })]],
  sim_v3: [['tick', ({ tick }) => ({ tick: tick + 1 })]],
  sim_vault: [
    ['amount0', ({ amount0 }) => ({ amount0: amount0 + 1n })],
    ['token1', () => ({ token1: POOL })],
    ['pair', () => ({ pair: POOL })],
  ],
  sim_solidly_1: [['amount0', ({ amount0 }) => ({ amount0: amount0 + 1n })]],
  sim_solidly_2: [['amount0', ({ amount0 }) => ({ amount0: amount0 + 1n })]],
  sim_slipstream: [['liquidity', ({ liquidity }) => ({ liquidity: liquidity + 1n })]],
  sim_algebra: [['sqrt_price_x96', ({ sqrt_price_x96: root }) => ({ sqrt_price_x96: root + 1n })]],
  sim_camelot: [['sender', () => ({ sender: POOL })]],
  sim_book: [
    ['tick', ({ tick }) => ({ tick: tick + 1 })],
    ['fee_pips', ({ fee_pips: fee }) => ({ fee_pips: fee + 1 })],
  ],
  sim_curve: [
    ['amount1', ({ amount1 }) => ({ amount1: amount1 - 1n })],
    ['leg', ({ leg }) => ({ leg: leg + 256 })],
    ['pair', () => ({ pair: POOL })],
  ],
  sim_crypto: [
    ['amount0', ({ amount0 }) => ({ amount0: amount0 + 1n })],
    ['leg', ({ leg }) => ({ leg: leg + 256 })],
    ['pair', () => ({ pair: POOL })],
  ],
  sim_v3_vault: [
    ['amount1', ({ amount1 }) => ({ amount1: amount1 - 1n })],
    ['token1', () => ({ token1: POOL })],
    ['pair', () => ({ pair: POOL })],
  ],
  sim_infinity_cl: [['fee_pips', ({ fee_pips: fee }) => ({ fee_pips: fee + 1 })]],
  sim_infinity_bin: [['tick', ({ tick }) => ({ tick: tick + 1 })]],
  sim_bonding: [['amount0', ({ amount0 }) => ({ amount0: amount0 + 1n })]],
  sim_v4: [
    ['pair', () => ({ pair: POOL })],
    ['fee_pips', ({ fee_pips: fee }) => ({ fee_pips: fee + 1 })],
    ['amount0', ({ amount0 }) => ({ amount0: amount0 + 1n })],
  ],
};
/** A seed has pools of some families. */
const SEEDS_MAX = 40;
const WILD = { emptyChance: 0.3, transactionsMax: 2, bigChance: 0, logsMax: 300 };

test('swaps of every family equal their logs, and a field that differs is named', async () => {
  const found = new Set<string>();
  for (let seed = 1; seed <= SEEDS_MAX && found.size < Object.keys(DAMAGES).length; seed += 1) {
    const chain = new SimChain(seed, createWilderness(new Random(seed), WILD));
    chain.mine(40);
    const blocks = chain.canonical().slice(1);
    const swaps = (await straightBlocks(chain, blocks, 1)).flatMap((rows) => rows.swaps);
    const differences = (stored: readonly Swap[]): string[] =>
      compareBlocks(
        blocks,
        { blocks: [], logs: [], swaps: stored },
        { dexes: SIM_DESCRIPTION.dexes, logsFrom: Infinity },
      )
        .map(({ block, field }) => `${block} ${field}`)
        .filter((text) => text.includes('swap'));
    expect(differences(swaps)).toEqual([]);
    for (const swap of swaps) {
      if (found.has(swap.dex)) continue;
      found.add(swap.dex);
      const place = `${Math.floor(swap.ord / 2 ** 20)} swap ${swap.ord % 2 ** 20}`;
      for (const [field, damage] of DAMAGES[swap.dex]!)
        expect(differences([{ ...swap, ...damage(swap) }])).toEqual([`${place} ${field}`]);
    }
  }
  expect([...found].sort()).toEqual(Object.keys(DAMAGES).sort());
});
