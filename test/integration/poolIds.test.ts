/**
 * Pools without a contract, as of Uniswap V4 and PancakeSwap Infinity: their logs become pools, swaps and prices, and every answer and parameter
 * names them by their ids of 32 bytes.
 */
import { Interface } from 'ethers';

import { insertRows } from '../../src/clickhouse/rows/inserter';
import { RowWriter } from '../../src/clickhouse/rows/rowWriter';
import { tokensTable } from '../../src/clickhouse/schema/tables';
import type { ChainBlock } from '../../src/domain/block';
import type { ChainDescription } from '../../src/domain/chainDescription';
import { addressOfWord, ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../src/domain/hex';
import { decodeBlock } from '../../src/ingest/decode/decodeBlock';
import { BlockPricer } from '../../src/ingest/price/blockPricer';
import { TABLE_ENCODERS } from '../../src/ingest/rows/encodeBlocks';
import { createDecodeContext } from '../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../src/ingest/session/status';
import { createLog } from '../../src/log';
import { ALL_ACTIVITY, listNewestEvents } from '../../src/query/activity/activity';
import { createPoolNames } from '../../src/query/pairs/poolNames';
import { encodeEvents } from '../../src/stream/chainChange';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { startApi, type ApiServer, type Json } from '../support/server/apiServer';
import { finalHead } from '../support/worlds/finalHead';

const ABI = new Interface([
  'event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)',
  'event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee, bytes32 parameters, uint160 sqrtPriceX96, int24 tick)',
  'event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)',
  'event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)',
]);
const INITIALIZE = 'Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)';
const INFINITY_INITIALIZE = 'Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)';
const addressOf = (digit: string): Hex => `0x${digit.repeat(40)}`;
const idOf = (digits: string): Hex => `0x${digits.repeat(32)}`;
const [TOKEN, USD, USER, MANAGER, FORK, WRAPPED, INFINITY] = ['2', '3', '4', '5', '6', '1', '7'].map(
  addressOf,
) as [Hex, Hex, Hex, Hex, Hex, Hex, Hex];
const DELTA_HOOK: Hex = `0x${'0'.repeat(36)}0088`;
/** Pools that have a price, one of them of the native coin, and one whose hook takes part in the amounts. */
const [PLAIN, NATIVE, HOOKED, WRAPPING] = [idOf('a1'), idOf('d4'), idOf('b2'), idOf('e5')];
/** A pool of PancakeSwap Infinity. Its parameters name the permissions after_swap and after_swap_returns_delta. */
const REGISTERED = idOf('f6');
const PLAIN_HOOK = addressOf('0').replace(/.$/, '1') as Hex;
const PARAMETERS: Hex = `0x${((60n << 16n) | (1n << 7n) | (1n << 11n)).toString(16).padStart(64, '0')}`;
const WHOLE = 10n ** 18n;
const ONE = 2n ** 96n;
const LIQUIDITY = 100_000n * WHOLE;
/** Selling 1,000 tokens lowers √price by 1 %. */
const SOLD_ROOT = (ONE * 99n) / 100n;
const CHAIN: ChainDescription = {
  ...{ chainId: 369, name: 'Example', nativeSymbol: 'EX', wrappedNative: WRAPPED, majors: [], burn: null },
  ...{ confirmations: 20, startBlock: null, rpcUrls: [] },
  anchors: [{ address: USD, symbol: 'USD', priceUsd: 1 }],
  dexes: [MANAGER, FORK, INFINITY].map((factory, i) => ({
    ...{ name: `v4_${i}`, displayName: `V4 ${i}`, factory },
    protocol: factory === INFINITY ? 'infinity_cl' : 'uniswap_v4',
  })),
};

const traded = (id: Hex): [string, unknown[]][] => [
  ['ModifyLiquidity', [id, USER, -887_220, 887_220, LIQUIDITY, ZERO_HASH]],
  ['Swap', [id, USER, -1_013n * WHOLE, 990n * WHOLE, SOLD_ROOT, LIQUIDITY, -202, 3_000]],
];
const LOGS: readonly (readonly [Hex, string, readonly unknown[]])[] = [
  [MANAGER, INITIALIZE, [PLAIN, TOKEN, USD, 3_000, 60, ZERO_ADDRESS, ONE, 0]],
  [MANAGER, INITIALIZE, [HOOKED, TOKEN, USD, 3_000, 60, DELTA_HOOK, ONE, 0]],
  [MANAGER, INITIALIZE, [NATIVE, ZERO_ADDRESS, USD, 3_000, 60, ZERO_ADDRESS, ONE, 0]],
  // A pool of the native coin and the wrapped coin.
  [MANAGER, INITIALIZE, [WRAPPING, ZERO_ADDRESS, WRAPPED, 100, 1, ZERO_ADDRESS, ONE, 0]],
  [INFINITY, INFINITY_INITIALIZE, [REGISTERED, TOKEN, USD, PLAIN_HOOK, 3_000, PARAMETERS, ONE, 0]],
  // A second manager has a pool with the same id.
  [FORK, INITIALIZE, [PLAIN, TOKEN, USD, 3_000, 60, ZERO_ADDRESS, 2n * ONE, 13_863]],
  ...[PLAIN, NATIVE, WRAPPING, HOOKED].flatMap((id) =>
    traded(id).map(([name, values]) => [MANAGER, name, values] as const),
  ),
  [FORK, 'Swap', [PLAIN, USER, -WHOLE, WHOLE, ONE, LIQUIDITY, 0, 3_000]],
];
const BLOCK: ChainBlock = {
  ...{ number: 100, hash: ZERO_HASH, parentHash: ZERO_HASH, timestamp: 1_699_999_990, baseFeePerGas: null },
  ...{ transactionCount: 1, transactions: [] },
  logs: LOGS.map(([emitter, name, values], logIndex) => {
    const { topics, data } = ABI.encodeEventLog(name, values);
    const place = { transactionHash: ZERO_HASH, transactionIndex: 0, logIndex };
    return { address: emitter, topics: topics as Hex[], data: data as Hex, ...place };
  }),
};
const HEAD = { ...finalHead(BLOCK.number), startBlock: BLOCK.number };
const status = newIngestStatus();

let store: TestStore;
let api: ApiServer;

beforeAll(async () => {
  const decode = createDecodeContext({ chain: CHAIN, status, log: createLog('silent', false) });
  const rows = new BlockPricer(CHAIN, () => 18).price(decodeBlock(decode, BLOCK, [], false), false);
  store = await openTestStore(async ({ db }) => {
    for (const encoder of TABLE_ENCODERS) {
      const writer = new RowWriter();
      encoder.write(writer, rows, null);
      if (rows[encoder.name].length > 0) await db.insert(encoder.name, encoder.columns, writer.view());
    }
    const token = (symbol: string, of: Hex) => ({
      ...{ address: of, symbol, name: symbol, decimals: 18, version: 1 },
    });
    const tokens = [token('TOY', TOKEN), token('USD', USD), token('WEX', WRAPPED), token('EX', ZERO_ADDRESS)];
    await insertRows(db, tokensTable, tokens);
  });
  api = await startApi(store.runner, () => HEAD, { chain: CHAIN });
});

afterAll(async () => {
  await api?.close();
  await store?.close();
});

async function get(path: string): Promise<Json> {
  const { status: code, json, text } = await api.get(path);
  if (code !== 200) throw new Error(`${path}: ${code} ${text}`);
  return json;
}

test('a pool has the price of its state, and a pool whose hook takes part in the amounts has none', async () => {
  const plain = (await get(`/api/v1/pairs/${PLAIN}`))['data']!;
  expect(plain).toMatchObject({ address: PLAIN, dex_name: 'v4_0', pool_type: 3, fee_bps: 30 });
  expect(Number(plain['price'])).toBeCloseTo(0.9801, 12);
  // Only the anchor has a trusted price yet.
  expect(plain['liquidity_usd']).toBe(99_010);
  const hooked = (await get(`/api/v1/pairs/${HOOKED}`))['data']!;
  expect(hooked).toMatchObject({
    ...{
      address: HOOKED,
      price: null,
      price_usd: null,
      token0_price: null,
      flags: expect.arrayContaining(['price_not_followed']),
    },
    ...{ price_reason: { code: 'price_not_followed' }, depth_2pct_usd: { up: null, down: null } },
    warnings: expect.arrayContaining([expect.objectContaining({ code: 'price_not_followed' })]),
  });
  const audit = (await get(`/api/v1/tokens/${TOKEN}/audit`))['data']!;
  expect(audit['warnings']).toContainEqual(
    expect.objectContaining({ code: 'price_not_followed', message: expect.stringContaining(HOOKED) }),
  );
  const bars = await get(`/api/v1/pairs/${HOOKED}/ticks?currency=quote`);
  expect(bars['data']).toEqual([]);
});

test('the native coin has the price of the wrapped coin, also where only pools of the native coin tell it', async () => {
  const pair = (await get(`/api/v1/pairs/${NATIVE}`))['data']!;
  expect(pair).toMatchObject({ token0: ZERO_ADDRESS, base_token: { address: ZERO_ADDRESS, symbol: 'EX' } });
  expect(Number(pair['price_usd'])).toBeCloseTo(0.9801, 12);
  const [coin, wrapped] = await Promise.all(
    [ZERO_ADDRESS, WRAPPED].map(async (token) => (await get(`/api/v1/tokens/${token}`))['data']!),
  );
  for (const token of [coin!, wrapped!]) expect(Number(token['price_usd'])).toBeCloseTo(0.9801, 12);
  expect(coin).toMatchObject({ symbol: 'EX', price_native: '1', total_supply: null, holders: null });
  expect([coin!['pool_count'], wrapped!['pool_count']]).toEqual([2, 1]);
  for (const token of [ZERO_ADDRESS, WRAPPED]) {
    const audit = (await get(`/api/v1/tokens/${token}/audit`))['data']!;
    expect(audit).toMatchObject({
      token: { address: token },
      hops: [{ from_token: WRAPPED, to_token: USD }],
    });
    expect(audit['hops']![0]!['pools']).toMatchObject([
      { address: NATIVE, token0: ZERO_ADDRESS, token1: USD },
    ]);
    for (const source of ['path', 'main_pool']) {
      const bars = (await get(`/api/v1/tokens/${token}/ticks?source=${source}`))['data']!;
      expect([token, source, bars.length]).toEqual([token, source, 1]);
      expect(Number(bars[0]!['close'])).toBeCloseTo(0.9801, 12);
    }
  }
  const own = (await get(`/api/v1/tokens/${ZERO_ADDRESS}/ticks`))['data']!;
  expect(Number(own[0]!['close'])).toBeCloseTo(0.9801, 12);
  const wrapping = (await get(`/api/v1/pairs/${WRAPPING}`))['data']!;
  expect(Number(wrapping['price'])).toBeCloseTo(0.9801, 12);
});

test('pools with the same id in two managers are not mixed up: the second is refused, with a problem', async () => {
  expect(status.refusedPools).toBe(1);
  const swaps = await get(`/api/v1/activity?pair=${PLAIN}&event_type=swap`);
  expect(swaps['data']).toMatchObject([
    { pair_address: PLAIN, dex_name: 'v4_0', side: 'sell', sender: USER },
  ]);
});

test.each([
  `/api/v1/pairs`,
  `/api/v1/pairs?q=${PLAIN}`,
  `/api/v1/pairs?addresses=${PLAIN},${HOOKED}`,
  `/api/v1/pairs/${PLAIN.toUpperCase().replace('X', 'x')}`,
  `/api/v1/pairs/${PLAIN}/ticks`,
  `/api/v1/tokens/${TOKEN}`,
  `/api/v1/tokens/${TOKEN}/pools`,
  `/api/v1/tokens/${TOKEN}/audit`,
  `/api/v1/tokens/${TOKEN}/ticks?source=main_pool`,
  `/api/v1/dexes/v4_0`,
  `/api/v1/activity`,
  `/api/v1/activity?pair=${PLAIN}`,
  `/udf/symbols?symbol=${PLAIN}`,
  `/udf/search?query=TOY`,
  `/dexscreener/pair?id=${PLAIN}`,
  `/dexscreener/events?fromBlock=100&toBlock=100`,
])('%s takes and shows ids, and never the address inside the program', async (path) => {
  const { status: code, text } = await api.get(path);
  expect([code, code === 200 ? '' : text]).toEqual([200, '']);
  for (const id of [PLAIN, HOOKED]) expect(text.replaceAll(id, '')).not.toContain(addressOfWord(id).slice(2));
  if (!path.includes('/ticks') || path.includes('main_pool')) expect(text).toContain(PLAIN);
});

test.each([
  ['any', [HOOKED, REGISTERED]],
  ['none', [PLAIN, NATIVE, WRAPPING]],
  ['before_swap_returns_delta', [HOOKED]],
  ['after_swap', [REGISTERED]],
])('the list of pairs with hooks=%s', async (filter, ids) => {
  const pairs = (await get(`/api/v1/pairs?hooks=${filter}`))['data']!;
  expect(pairs.map((pair) => pair['address']).sort()).toEqual([...ids].sort());
});

test('a pair shows its hook, and an unknown filter is a 400 that lists the permissions', async () => {
  const hookOf = async (id: Hex) => (await get(`/api/v1/pairs/${id}`))['data']!['hooks'];
  expect(await hookOf(PLAIN)).toBeNull();
  const permissions = ['before_swap', 'before_swap_returns_delta'];
  expect(await hookOf(HOOKED)).toEqual({ address: DELTA_HOOK, permissions });
  const registered = ['after_swap', 'after_swap_returns_delta'];
  expect(await hookOf(REGISTERED)).toEqual({ address: PLAIN_HOOK, permissions: registered });
  const wrong = await api.get('/api/v1/pairs?hooks=some');
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('before_swap_returns_delta')]);
});

test('a table names pools by their ids', async () => {
  expect((await api.get('/api/v1/pairs?format=csv')).text).toContain(PLAIN);
});

test('an id that is no pool is a 404, also if it ends like that of a pool, and a word is a 400', async () => {
  const similar = `0x${'7'.repeat(24)}${PLAIN.slice(-40)}`;
  for (const id of [similar, idOf('c3')]) {
    const unknown = await api.get(`/api/v1/pairs/${id}`);
    expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining(`there is no pair ${id}`)]);
  }
  expect((await get(`/api/v1/activity?pair=${idOf('c3')}`))['data']).toEqual([]);
  const wrong = await api.get('/api/v1/pairs/0x12');
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('40 hex digits')]);
});

test('an event of the stream names its pool by the id', async () => {
  const events = await listNewestEvents(store.runner, HEAD, ALL_ACTIVITY, {
    beforeOrd: null,
    skip: 0,
    limit: 9,
  });
  const poolNames = createPoolNames(store.runner, CHAIN.dexes);
  const query = { runner: store.runner, chainId: CHAIN.chainId, poolNames, head: HEAD };
  const texts = (await encodeEvents(query, events)).map(({ message }) => message.bytes.toString());
  expect(texts.filter((text) => text.includes(`"pair_address":"${PLAIN}"`))).toHaveLength(2);
});
