/** Compares gas price suggestions and the price of the native coin with plain sums over the blocks. */
import type { DialectDeps } from '../../../../src/api/etherscan/action';
import { formatUnits } from '../../../../src/domain/amounts';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { notOk, HEAD_FROM, openDialectWorld, STORED_TO, TIP, type DialectWorld } from './etherscanWorld';
import { createRandom } from '../../../support/createRandom';
import { UNCACHED } from '../../../support/server/uncached';
import { SEED } from '../../../support/run/seed';
import { startExplorer, type ExplorerServer } from '../explorer/explorerServer';
import { FIRST_LOG_BLOCK, logSnapshot, type LogBlock } from '../explorer/logWorld';

const REFUSED = notOk('Error! Missing Or invalid Action name');

let world: DialectWorld;
let head: HeadSnapshot;
let deps: DialectDeps;
let api: ExplorerServer;

beforeAll(async () => {
  world = await openDialectWorld(SEED);
  head = world.head;
  const chain = { ...world.deps.findChain(369)!, head: () => head };
  deps = { ...world.deps, findChain: () => chain };
  api = await startExplorer(deps, () => head);
});

afterAll(async () => {
  await api?.close();
  await world?.close();
});

const blockAt = (number: number): LogBlock => world.blocks[number - FIRST_LOG_BLOCK]!;
const newest = (): readonly LogBlock[] =>
  world.blocks.filter(({ number }) => number <= head.number && number > head.number - 20);
const sorted = (values: readonly bigint[]): bigint[] => [...values].sort((a, b) => Number(a - b));

test.each([
  [STORED_TO, TIP],
  [HEAD_FROM - 1, STORED_TO + 1],
  [STORED_TO, STORED_TO],
])(
  'gasoracle shows the 10 %, 50 % and 90 % quantiles of recent gas prices, with final block %d and head %d',
  async (finalTo, tip) => {
    head = logSnapshot(world.blocks, finalTo, tip);
    const paid = sorted(newest().flatMap(({ gasPrices }) => gasPrices));
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
        suggestBaseFee: formatUnits(blockAt(tip).baseFee, 9),
        gasUsedRatio: '',
      },
    });
  },
);

test('gasestimate is the mean wait for a block that accepts the gas price', async () => {
  head = world.head;
  const seconds = (blockAt(TIP).timestamp - blockAt(TIP - 20).timestamp) / 20;
  const random = createRandom(SEED + 1);
  for (let round = 0; round < 20; round += 1) {
    const price = round === 0 ? 0n : 1_000_000_000n + BigInt(random.int(2_500_000_000));
    const taking = newest().filter(
      ({ gasPrices, baseFee }) => price >= (sorted(gasPrices)[0] ?? baseFee),
    ).length;
    const wanted = Math.ceil((taking === 0 ? 21 : 20 / taking) * seconds);
    const { json } = await api.ask(`/api?module=gastracker&action=gasestimate&gasprice=${price}`);
    expect([price, json]).toEqual([price, { status: '1', message: 'OK', result: String(wanted) }]);
  }
  const bad = await api.ask('/api?module=gastracker&action=gasestimate&gasprice=x');
  expect(bad.json).toEqual(notOk('Error! Invalid gasprice format'));
});

test('ethprice is the native price from the pools, or an error if there is no price, and ethsupply is refused', async () => {
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
    const one = await startExplorer(priced(usd), () => head);
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
