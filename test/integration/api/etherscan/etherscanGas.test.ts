/** Compares gas price suggestions and the price of the native coin with plain sums over the blocks. */
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import { blocksTable } from '../../../../src/clickhouse/schema/tables';
import type { DialectDeps } from '../../../../src/api/etherscan/action';
import { formatUnits } from '../../../../src/domain/amounts';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { startDialect, type DialectServer } from './etherscanServer';
import { notOk } from './etherscanWorld';
import { explorerDeps } from '../explorer/explorerServer';
import { createRandom } from '../../../support/createRandom';
import { hexOf } from '../../../support/worlds/worldEvents';
import { UNCACHED } from '../../../support/server/uncached';
import { SEED } from '../../../support/run/seed';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';

const CHAIN_ID = 369;
const BLOCKS = 60;
const FINAL = 50;
const REFUSED = notOk('Error! Missing Or invalid Action name');

interface Block {
  readonly number: number;
  readonly timestamp: number;
  readonly fee: bigint;
  readonly prices: bigint[];
}

let store: TestStore;
let blocks: Block[];
let head: HeadSnapshot;
let deps: DialectDeps;
let api: DialectServer;

const commitOf = (number: number): number => 7_000 + number;

async function insertBlocks(some: readonly Block[], commit?: number): Promise<void> {
  const rows = some.map(({ number, timestamp, fee, prices }) => ({
    chain_id: CHAIN_ID,
    number,
    hash: hexOf('1b', number, 64),
    parent_hash: hexOf('1b', number - 1, 64),
    timestamp,
    base_fee: fee,
    transaction_count: prices.length,
    log_count: 0,
    gas_prices: prices,
  }));
  await insertRows(store.db, blocksTable, rows, commit === undefined ? {} : { commit });
}

function snapshot(finalTo: number, tip: number): HeadSnapshot {
  const at = (number: number): Block => blocks[number - 1]!;
  return {
    version: `${finalTo}.${tip}`,
    startBlock: 1,
    number: tip,
    hash: hexOf('1b', tip, 64),
    timestamp: at(tip).timestamp,
    finalTo,
    finalNumber: finalTo,
    blocks: Array.from({ length: tip - finalTo }, (_, index) => finalTo + 1 + index).map((number) => ({
      number,
      hash: hexOf('1b', number, 64),
      parentHash: hexOf('1b', number - 1, 64),
      timestamp: at(number).timestamp,
      commit: commitOf(number),
    })),
  };
}

beforeAll(async () => {
  process.stdout.write(`seed ${SEED}\n`);
  store = await openTestStore();
  const random = createRandom(SEED);
  let timestamp = 1_700_000_000;
  blocks = Array.from({ length: BLOCKS }, (_, index) => {
    timestamp += 1 + random.int(15);
    const fee = 1_000_000_000n + BigInt(random.int(1_000_000_000));
    const prices = Array.from({ length: random.int(6) }, () => fee + BigInt(random.int(3_000_000_000)));
    return { number: index + 1, timestamp, fee, prices };
  });
  await insertBlocks(blocks.slice(0, FINAL));
  for (const block of blocks.slice(FINAL - 5)) await insertBlocks([block], commitOf(block.number));
  // An orphaned block with a very high gas price.
  await insertBlocks([{ ...blocks[FINAL]!, prices: [10n ** 18n] }], 99_999);
  const { runner, database } = store;
  deps = explorerDeps([{ chainId: CHAIN_ID, runner, head: () => head }], database);
  head = snapshot(FINAL, BLOCKS);
  api = await startDialect(deps, () => head);
});

afterAll(async () => {
  await api?.close();
  await store?.close();
});

const newest = (): Block[] => blocks.slice(head.number - 20, head.number);
const sorted = (values: bigint[]): bigint[] => [...values].sort((a, b) => Number(a - b));

test.each([
  [FINAL, BLOCKS],
  [FINAL - 5, FINAL + 1],
  [FINAL, FINAL],
])(
  'gasoracle shows the 10 %, 50 % and 90 % quantiles of recent gas prices: cursor %d, head %d',
  async (finalTo, tip) => {
    head = snapshot(finalTo, tip);
    const paid = sorted(newest().flatMap(({ prices }) => prices));
    expect(paid.length).toBeGreaterThan(10);
    const at = (share: number): string => formatUnits(paid[Math.floor(share * paid.length)]!, 9);
    expect((await api.ask('/api?module=gastracker&action=gasoracle')).json).toEqual({
      status: '1',
      message: 'OK',
      result: {
        LastBlock: String(tip),
        SafeGasPrice: at(0.1),
        ProposeGasPrice: at(0.5),
        FastGasPrice: at(0.9),
        suggestBaseFee: formatUnits(blocks[tip - 1]!.fee, 9),
        gasUsedRatio: '',
      },
    });
  },
);

test('gasestimate is the mean wait for a block that accepts the gas price', async () => {
  head = snapshot(FINAL, BLOCKS);
  const seconds = (blocks[BLOCKS - 1]!.timestamp - blocks[BLOCKS - 21]!.timestamp) / 20;
  const random = createRandom(SEED + 1);
  for (let round = 0; round < 20; round += 1) {
    const price = round === 0 ? 0n : 1_000_000_000n + BigInt(random.int(2_500_000_000));
    const taking = newest().filter(({ prices, fee }) => price >= (sorted(prices)[0] ?? fee)).length;
    const wanted = Math.ceil((taking === 0 ? 21 : 20 / taking) * seconds);
    const { json } = await api.ask(`/api?module=gastracker&action=gasestimate&gasprice=${price}`);
    expect([price, json]).toEqual([price, { status: '1', message: 'OK', result: String(wanted) }]);
  }
  const bad = await api.ask('/api?module=gastracker&action=gasestimate&gasprice=x');
  expect(bad.json).toEqual(notOk('Error! Invalid gasprice format'));
});

test('ethprice is the native price of our pools, or an error without one, and ethsupply is refused', async () => {
  const path = '/api?module=stats&action=ethprice';
  expect((await api.ask(path)).json).toEqual(REFUSED);
  expect((await api.ask('/api?module=stats&action=ethsupply')).json).toEqual(REFUSED);
  const priced = (usd: number | null): DialectDeps => ({
    ...deps,
    cache: UNCACHED,
    nativeUsdOf: () => Promise.resolve(usd),
  });
  for (const [usd, text] of [
    [0.000_000_05, '0.00000005'],
    [12.5, '12.5'],
    [null, null],
  ] as const) {
    const one = await startDialect(priced(usd), () => head);
    const { json } = await one.ask(path);
    await one.close();
    const result = {
      ethbtc: '',
      ethbtc_timestamp: '',
      ethusd: text,
      ethusd_timestamp: String(head.timestamp),
    };
    expect(json).toEqual(text === null ? REFUSED : { status: '1', message: 'OK', result });
  }
});
