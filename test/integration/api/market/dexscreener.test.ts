/** Compares the DEX Screener adapter with the raw logs of a simulated chain of V2, V3 and weighted pools. */
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { listScreenerEvents } from '../../../../src/query/activity/screenerEvents';
import { readHead } from '../../../../src/query/head/headState';
import {
  latestBlockShape,
  screenerAssetShape,
  screenerEventsShape,
  screenerPairShape,
  type ScreenerEvent,
} from '../../../../src/wire/dialects/dexscreener';
import { storeChain } from '../../../simulation/harness';
import { askRows } from '../../../support/engine/askRows';
import { oracleSwaps, type OracleSwap } from '../../../support/oracle/oracle';
import { VaultOracle } from '../../../support/oracle/oracleVault';
import { parsePlain } from '../../../support/oracle/plainEvents';
import {
  SIM_CHAIN_ID,
  SIM_RANKED,
  SimChain,
  V2_FACTORY,
  V3_FACTORY,
} from '../../../simulation/chain/simChain';
import { listingOf, VAULT, type SimVaultPool } from '../../../simulation/chain/simVault';
import type { Json } from '../../../support/server/apiServer';
import { createRandom } from '../../../support/createRandom';
import { serveMarket, type MarketServer } from '../../../support/server/marketServer';
import { openTestStore } from '../../../support/engine/testStore';

const SEED = 23;
const BLOCKS = 260;

let market: MarketServer;
let chain: SimChain;
let head: HeadSnapshot;
let decimals: ReadonlyMap<string, number>;
let pools: ReadonlyMap<string, SimVaultPool>;

beforeAll(async () => {
  chain = new SimChain(SEED);
  chain.mine(BLOCKS);
  const store = await openTestStore(async ({ db }) => void (await storeChain(chain, db)));
  head = (await readHead(store.runner, SIM_CHAIN_ID))!;
  pools = new Map(chain.vaultPoolsAt(chain.head.hash)!.map((pool) => [pool.address, pool]));
  const rows = await askRows<{ address: string; decimals: number | null }>(
    store.db,
    "SELECT concat('0x', lower(hex(address))) AS address, argMax(decimals, version) AS decimals FROM tokens GROUP BY address",
  );
  decimals = new Map(rows.map((row) => [row.address, row.decimals ?? 0]));
  market = await serveMarket(store, head);
});

afterAll(() => market?.close());

async function getJson<T>(path: string): Promise<T> {
  const answer = await market.api.get(path);
  expect([path, answer.status, answer.text.slice(0, 200)]).toEqual([path, 200, expect.any(String)]);
  return JSON.parse(answer.text) as T;
}

const listEvents = async (from: number, to: number): Promise<ScreenerEvent[]> =>
  screenerEventsShape.parse(await getJson(`/dexscreener/events?fromBlock=${from}&toBlock=${to}`)).events;

/** The decimal text of raw / 10^decimals, made by moving the decimal point. */
function plain(raw: bigint, token: string): string {
  const places = decimals.get(token) ?? 0;
  const digits = raw.toString().padStart(places + 1, '0');
  const text = `${digits.slice(0, digits.length - places)}.${digits.slice(digits.length - places)}`;
  return text.replace(/0+$/, '').replace(/\.$/, '');
}

const size = (amount: bigint): bigint => (amount < 0n ? -amount : amount);

interface Expected {
  readonly at: readonly [number, number];
  readonly event: Record<string, unknown>;
  /** The price as asset1 per asset0; only for swaps. */
  readonly price?: number;
}

function pairIdOf(pair: string, leg: number): string {
  const tokens = pools.get(pair)?.tokens ?? [];
  return tokens.length <= 2 ? pair : `${pair}-${leg >> 8}-${leg % 256}`;
}

function expectSwap(swap: OracleSwap): Expected | null {
  const { amount0, amount1, token0, token1 } = swap;
  if (amount0 === 0n || amount1 === 0n || amount0 > 0n === amount1 > 0n) return null;
  const [size0, size1] = [plain(size(amount0), token0), plain(size(amount1), token1)];
  const scale = 10 ** (decimals.get(token0)! - decimals.get(token1)!);
  const paid = (Number(size(amount1)) / Number(size(amount0))) * scale;
  return {
    at: [swap.block, swap.logIndex],
    price: swap.price === null || swap.price === 0 ? paid : swap.price * scale,
    event: {
      eventType: 'swap',
      block: { blockNumber: swap.block, blockTimestamp: swap.timestamp },
      eventIndex: swap.logIndex,
      pairId: pairIdOf(swap.pair, swap.leg),
      ...(amount0 > 0n ? { asset0In: size0, asset1Out: size1 } : { asset1In: size1, asset0Out: size0 }),
      ...(swap.maker === null ? {} : { maker: swap.maker }),
      ...(swap.reserves === null
        ? {}
        : { reserves: { asset0: plain(swap.reserves[0], token0), asset1: plain(swap.reserves[1], token1) } }),
    },
  };
}

/** The tokens that an event of a vault moves as a join or an exit. A swap of the pool's own share is one of both. */
function vaultMoves(name: string, args: readonly unknown[], share: string) {
  if (name !== 'Swap') return { changed: args[2] as readonly string[], deltas: args[3] as readonly bigint[] };
  if (!args.slice(1, 3).includes(share)) return null;
  return args[2] === share
    ? { changed: [String(args[1])], deltas: [args[3] as bigint] }
    : { changed: [String(args[2])], deltas: [-(args[4] as bigint)] };
}

/** Mints and burns, read from the raw logs. The reserves of a V2 pair come from the preceding Sync. */
function expectLiquidity(): Expected[] {
  const made = new Map<string, { v3: boolean; token0: string; token1: string }>();
  const expected: Expected[] = [];
  for (const block of chain.canonical().slice(1)) {
    const syncs = new Map<string, readonly [bigint, bigint]>();
    for (const log of block.logs) {
      const parsed = parsePlain(log);
      if (parsed === null) continue;
      const { name, args } = parsed;
      const key = `${log.transactionHash} ${log.address}`;
      if ([V2_FACTORY, V3_FACTORY].includes(log.address) && name.endsWith('Created'))
        made.set(String(args[name === 'PairCreated' ? 2 : 4]), {
          v3: name === 'PoolCreated',
          token0: String(args[0]),
          token1: String(args[1]),
        });
      const pool = made.get(log.address);
      if (pool !== undefined && name === 'Sync') syncs.set(key, [args[0] as bigint, args[1] as bigint]);
      const place = (
        pair: string,
        amounts: readonly [bigint, bigint],
        joined: boolean,
        tokens: readonly string[],
      ) => {
        if (amounts[0] === 0n && amounts[1] === 0n) return;
        const sync = pool?.v3 === false ? syncs.get(key) : undefined;
        expected.push({
          at: [block.number, log.logIndex],
          event: {
            eventType: joined ? 'join' : 'exit',
            block: { blockNumber: block.number, blockTimestamp: block.timestamp },
            txnId: log.transactionHash,
            txnIndex: log.transactionIndex,
            eventIndex: log.logIndex,
            pairId: pair,
            amount0: plain(amounts[0], tokens[0]!),
            amount1: plain(amounts[1], tokens[1]!),
            ...(sync === undefined
              ? {}
              : { reserves: { asset0: plain(sync[0], tokens[0]!), asset1: plain(sync[1], tokens[1]!) } }),
          },
        });
      };
      if (pool !== undefined && (name === 'Mint' || name === 'Burn')) {
        const v3 = args.length > 4;
        if (v3 !== pool.v3) continue;
        const at = v3 ? args.length - 2 : 1;
        place(log.address, [args[at] as bigint, args[at + 1] as bigint], name === 'Mint', [
          pool.token0,
          pool.token1,
        ]);
      }
      if (log.address === VAULT && ['PoolBalanceChanged', 'Swap'].includes(name)) {
        const vaultPool = pools.get(String(args[0]).slice(0, 42));
        if (vaultPool === undefined || listingOf(vaultPool) === null || vaultPool.poolId !== args[0])
          continue;
        const moved = vaultMoves(name, args, vaultPool.address);
        if (moved === null) continue;
        const { changed, deltas } = moved;
        const shown = shownLeg(vaultPool);
        const amounts = shown.map((token) => size(deltas[changed.indexOf(token)] ?? 0n));
        const id = pairIdOf(
          vaultPool.address,
          256 * vaultPool.tokens.indexOf(shown[0]!) + vaultPool.tokens.indexOf(shown[1]!),
        );
        place(
          id,
          [amounts[0]!, amounts[1]!],
          deltas.every((delta) => delta >= 0n),
          shown,
        );
      }
    }
  }
  return expected;
}

let legs: ReadonlyMap<string, readonly `0x${string}`[]>;

/** The two tokens that /pairs shows for a pool of several tokens. */
function shownLeg({ address, tokens }: SimVaultPool): readonly `0x${string}`[] {
  const shown = legs.get(address) ?? [];
  return tokens.filter((token) => shown.includes(token));
}

test('/dexscreener/events returns the events of the raw logs, each once and in order, for any requested ranges', async () => {
  const pairs = await getJson<{ data: Json[] }>('/api/v1/pairs?limit=100');
  legs = new Map(
    pairs.data.map((pair) => [
      String(pair['address']),
      [pair['base_token']!['address'], pair['quote_token']!['address']] as unknown as `0x${string}`[],
    ]),
  );
  const listings = new Map([...pools].map(([address, pool]) => [address, listingOf(pool)]));
  const truth = {
    vault: VAULT,
    ranked: SIM_RANKED,
    listingOf: (pool: string) => listings.get(pool as `0x${string}`) ?? null,
  };
  const vault = new VaultOracle(truth, 1);
  const swaps = oracleSwaps(chain.canonical(), new Set([V2_FACTORY, V3_FACTORY]), { vault, firstBlock: 1 });
  const expected = [...swaps.flatMap((swap) => expectSwap(swap) ?? []), ...expectLiquidity()].sort(
    (a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1],
  );
  const events = await listEvents(0, head.number);
  expect(events.map(({ block, eventIndex }) => [block.blockNumber, eventIndex])).toEqual(
    expected.map(({ at }) => at),
  );
  events.forEach((event, i) => {
    expect(event).toMatchObject(expected[i]!.event);
    if (event.eventType !== 'swap') return;
    expect(event.priceNative).not.toBe('0');
    const price = expected[i]!.price!;
    expect([event.pairId, Math.abs(Number(event.priceNative) / price - 1) < 1e-12]).toEqual([
      event.pairId,
      true,
    ]);
    const given = Object.keys(event)
      .filter((name) => /^asset[01](In|Out)$/.test(name))
      .sort();
    expect([
      ['asset0In', 'asset1Out'],
      ['asset0Out', 'asset1In'],
    ]).toContainEqual(given);
  });
  expect(new Set(events.map(({ eventType }) => eventType))).toEqual(new Set(['swap', 'join', 'exit']));
  expect(events.some(({ pairId }) => /-\d+-\d+$/.test(pairId))).toBe(true);
  const random = createRandom(SEED);
  const paged: ScreenerEvent[] = [];
  for (let from = 0; from <= head.number;) {
    const to = Math.min(head.number, from + random.int(40));
    paged.push(...(await listEvents(from, to)));
    from = to + 1;
  }
  expect(paged).toEqual(events);
});

test('every pair and asset of an event can be looked up and agrees with /pairs and /tokens', async () => {
  const events = await listEvents(0, head.number);
  for (const id of new Set(events.map(({ pairId }) => pairId))) {
    const { pair } = screenerPairShape.parse(await getJson(`/dexscreener/pair?id=${id}`));
    const { data } = await getJson<{ data: Json }>(`/api/v1/pairs/${id.slice(0, 42)}`);
    const tokens = data['tokens']!.map((token) => token['address']);
    const [first, second] = (/-(\d+)-(\d+)$/.exec(id)?.slice(1) ?? ['0', '1']).map(Number);
    expect(pair).toMatchObject({
      id,
      dexKey: data['dex_name'],
      asset0Id: tokens[first!],
      asset1Id: tokens[second!],
      feeBps: data['fee_bps'],
    });
    expect(pair.createdAtBlockNumber ?? null).toBe(data['created_block']);
    expect(pair.createdAtTxnId ?? null).toBe(data['created_tx']);
    if (tokens.length > 2) {
      expect(pair.pool).toMatchObject({ id: data['address'], assetIds: tokens });
      expect(pair.pool!.pairIds).toHaveLength((tokens.length * (tokens.length - 1)) / 2);
      expect(pair.pool!.pairIds).toContain(id);
    } else expect(pair.pool).toBeUndefined();
    for (const assetId of [pair.asset0Id, pair.asset1Id]) {
      const { asset } = screenerAssetShape.parse(await getJson(`/dexscreener/asset?id=${assetId}`));
      const { data: token } = await getJson<{ data: Json }>(`/api/v1/tokens/${assetId}`);
      expect(asset).toMatchObject({
        id: assetId,
        ...(token['decimals'] === null ? {} : { metadata: { decimals: String(token['decimals']) } }),
      });
      expect(asset.totalSupply ?? null).toBe(token['total_supply']);
    }
  }
});

test('latest-block is the newest final block, and its events are available', async () => {
  const { block } = latestBlockShape.parse(await getJson('/dexscreener/latest-block'));
  expect(block).toEqual({
    blockNumber: head.finalNumber,
    blockTimestamp: chain.at(head.finalNumber)!.timestamp,
  });
  expect(head.finalNumber).toBeLessThan(head.number);
  await listEvents(block.blockNumber, block.blockNumber);
});

test('a range with too many events names the last block that fits, and that range has all its events', async () => {
  const pairs = await market.api.market.pairs.at(head);
  const list = (to: number, limit: number) =>
    listScreenerEvents(market.runner, head, pairs, { from: 0, to }, limit);
  const { events } = await list(head.number, 50_000);
  expect(events.length).toBeGreaterThan(200);
  const { fitsTo, events: none } = await list(head.number, 100);
  expect(none).toEqual([]);
  expect(fitsTo).toBeGreaterThan(0);
  const fitting = await list(fitsTo!, 100);
  expect(fitting.fitsTo).toBeNull();
  expect(fitting.events).toEqual(events.filter(({ block }) => block.blockNumber <= fitsTo!));
  expect((await list(fitsTo! + 1, 100)).fitsTo).toBe(fitsTo);
});

test.each([
  ['/dexscreener/events', 400, 'fromBlock'],
  ['/dexscreener/events?fromBlock=1', 400, 'toBlock'],
  ['/dexscreener/events?fromBlock=5&toBlock=4', 400, 'toBlock'],
  [`/dexscreener/events?fromBlock=0&toBlock=${BLOCKS + 5_000}`, 400, 'the newest indexed block'],
  ['/dexscreener/events?fromBlock=-1&toBlock=4', 400, 'fromBlock'],
  ['/dexscreener/events?fromBlock=1&toBlock=4294967296', 400, 'toBlock'],
  [`/dexscreener/events?fromBlock=${BLOCKS}&toBlock=${BLOCKS + 1}`, 400, 'at most'],
  ['/dexscreener/asset', 400, 'id'],
  ['/dexscreener/asset?id=WPLS', 400, 'id'],
  [`/dexscreener/asset?id=0x${'9'.repeat(40)}`, 404, 'no pool'],
  ['/dexscreener/pair?id=1', 400, 'id'],
  [`/dexscreener/pair?id=0x${'9'.repeat(40)}`, 404, 'no pair'],
])('the request %s is a %i whose error contains %s', async (path, status, text) => {
  const answer = await market.api.get(path);
  expect([answer.status, answer.json['error']]).toEqual([status, expect.stringContaining(text)]);
});

test('a request for two tokens that a pool does not hold is a 404', async () => {
  const [address] = [...pools].find(([, pool]) => pool.tokens.length === 3 && listingOf(pool) !== null)!;
  for (const leg of ['0-0', '1-0', '0-3', '999-999', '0-256'])
    expect([leg, (await market.api.get(`/dexscreener/pair?id=${address}-${leg}`)).status]).toEqual([
      leg,
      404,
    ]);
  const two = [...legs.keys()].find((pair) => (pools.get(pair)?.tokens.length ?? 2) === 2);
  expect((await market.api.get(`/dexscreener/pair?id=${two}`)).status).toBe(200);
  expect((await market.api.get(`/dexscreener/pair?id=${two}-0-1`)).status).toBe(404);
});
