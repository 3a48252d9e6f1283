/** Compares bars of tokens with a plain recomputation from the swaps, in every state of the store. */
import type { QueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import { TIMEFRAMES, type Timeframe } from '../../../../src/domain/timeframes';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { Directory } from '../../../../src/query/tokens/directory';
import {
  createTokenSeries,
  type TokenSeries,
  type TokenSeriesRequest,
} from '../../../../src/query/bars/tokenSeries';
import { TOKEN_CURRENCIES, tokenTicksAnswerShape, type TokenTicksAnswer } from '../../../../src/wire/tokens';
import type { Bar } from '../../../../src/wire/ticks';
import { CHAIN, startApi, type ApiServer } from '../../../support/server/apiServer';
import { expectTokenBars, nativelessToken, priceSwaps, untrackedToken } from './tokenTicksWorld';
import {
  FIRST_BLOCK,
  hexOf,
  makeWorld,
  snapshotOf,
  storeWorld,
  type World,
} from '../../../support/worlds/world';
import { runsOf } from '../../../support/run/runs';
import { SEED } from '../../../support/run/seed';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';

const BLOCKS = 180;
const FINAL = FIRST_BLOCK + 130;
const STORED = FIRST_BLOCK + 145;
const TIP = FIRST_BLOCK + BLOCKS - 1;

/** The views build the bars of all timeframes alike, so the shortest and a long one prove the others. */
const COMPARED: readonly Timeframe[] = ['1m', '4h'];
const TOKENS = Array.from({ length: 6 }, (_, index) => hexOf('aa', index, 40));

/** Seed and block spacing: a sparse chain from the seed of the run, and in a thorough search also a fixed dense one. */
const WORLDS = (
  [
    [SEED + 1, 600],
    [20_261_121, 120],
  ] as const
).slice(0, runsOf(2));

describe.each(WORLDS)('bars of a token (seed %i, a block every %i seconds)', (seed, spacing) => {
  let store: TestStore;
  let runner: QueryRunner;
  let world: World;
  let snapshots: Record<string, HeadSnapshot>;
  let ticks: TokenSeries;
  let api: ApiServer;
  let apiHead: HeadSnapshot;
  const runs = new Map<string, number>();

  beforeAll(async () => {
    world = priceSwaps(makeWorld({ seed, blocks: BLOCKS, pools: 14, spacing, events: 8 }));
    const early = findCrowded(world, FIRST_BLOCK + 85);
    store = await openTestStore(async ({ db }) => {
      // Keeps one part per insert, so that readers must merge parts.
      await db.command('stop merges', 'SYSTEM STOP MERGES token_bars');
      await storeWorld(db, world, { storedTo: STORED, headFrom: early - 9, inserts: 30 });
    });
    const checked = store.runner;
    const count = (name: string): void => void runs.set(name, (runs.get(name) ?? 0) + 1);
    runner = {
      ...checked,
      run: (name, params, shape) => {
        count(name);
        return checked.run(name, params, shape);
      },
    };
    const { wrappedNative } = CHAIN;
    ticks = createTokenSeries({ runner, wrappedNative, directory: new Directory(runner) });
    snapshots = {
      'a head half promoted': snapshotOf(world, FINAL, TIP),
      'a cursor behind what is stored, as in a backfill': snapshotOf(world, FINAL, FINAL),
      'a cursor in the middle of what is stored': snapshotOf(world, early, early),
      'a head that a stored batch is ahead of': snapshotOf(world, early - 10, early),
      'a head without promotions': snapshotOf(world, STORED, TIP),
      'everything final': snapshotOf(world, STORED, STORED),
      'the very first blocks': snapshotOf(world, FIRST_BLOCK + 3, FIRST_BLOCK + 3),
    };
    apiHead = snapshots['a head half promoted']!;
    api = await startApi(runner, () => apiHead);
  });

  afterAll(async () => {
    await api?.close();
    await store?.close();
  });

  function request(
    given: Partial<TokenSeriesRequest> & Pick<TokenSeriesRequest, 'token'>,
  ): TokenSeriesRequest {
    return { timeframe: '1h', limit: 1_000, to: null, currency: 'usd', fill: false, ...given };
  }

  function get(head: HeadSnapshot, asked: TokenSeriesRequest): Promise<TokenTicksAnswer> {
    return ticks.get(head, asked);
  }

  const refOf = (address: string) => {
    const { symbol, decimals } = world.tokens.find((token) => token.address === address)!;
    return { address, symbol, decimals };
  };

  /** The reason why a token has no bars. */
  const reasonOf = (token: string, currency: TokenSeriesRequest['currency']): string =>
    refOf(token).decimals === null ? 'unknown_decimals' : `no_${currency}_price`;

  /** Compares the bars, and returns the number of bars. */
  async function check(head: HeadSnapshot, asked: TokenSeriesRequest): Promise<number> {
    const { data, meta } = tokenTicksAnswerShape.parse(JSON.parse(JSON.stringify(await get(head, asked))));
    const wanted = expectTokenBars(world, STORED, head, asked);
    expectClose(data, wanted.bars);
    const reason = reasonOf(asked.token, asked.currency);
    expect(meta).toEqual({
      timeframe: asked.timeframe,
      currency: asked.currency,
      base_token: refOf(asked.token),
      quote_token: asked.currency === 'usd' ? null : refOf(hexOf('aa', 0, 40)),
      next_to: wanted.nextTo,
      no_data: wanted.bars.length === 0,
      ...(wanted.neverPriced ? { reason } : {}),
      as_of_block: head.number,
      as_of_timestamp: head.timestamp,
    });
    return data.length;
  }

  test.each(COMPARED)(
    '%s bars of a token equal a plain recomputation in both currencies and every state of the store',
    async (timeframe: Timeframe) => {
      let bars = 0;
      for (const [index, head] of Object.values(snapshots).entries()) {
        // Checks every token at the first head, and one token at each other head, a different one for each
        // timeframe.
        const turn = (index + TIMEFRAMES.indexOf(timeframe)) % TOKENS.length;
        const tokens = index === 0 ? TOKENS : [TOKENS[turn]!];
        const asked = tokens.flatMap((token) =>
          TOKEN_CURRENCIES.map((currency) => request({ token, timeframe, currency })),
        );
        const counts = await Promise.all(asked.map((each) => check(head, each)));
        bars += counts.reduce((sum, count) => sum + count);
      }
      expect(bars).toBeGreaterThan(10);
    },
  );

  test('bars of a token with the parameters fill and limit equal a plain recomputation', async () => {
    const heads = Object.values(snapshots);
    let turn = 0;
    for (const currency of TOKEN_CURRENCIES) {
      for (const fill of [false, true]) {
        for (const limit of [1, 7, 300]) {
          // Each combination of these parameters gets two timeframes, heads and values of `to`.
          for (const _ of [1, 2]) {
            const timeframe = TIMEFRAMES[turn % TIMEFRAMES.length]!;
            const head = heads[turn % heads.length]!;
            const token = TOKENS[Math.floor(turn / 4) % TOKENS.length]!;
            turn += 1;
            const bounds = [null, head.timestamp, head.timestamp - 86_400, head.timestamp + 1e6, 5];
            const to = bounds[turn % bounds.length] ?? null;
            await check(head, { token, timeframe, currency, fill, limit, to });
          }
        }
      }
    }
  });

  test("paging back through a token's bars with next_to gives every bar once", async () => {
    for (const name of ['a head half promoted', 'a cursor in the middle of what is stored']) {
      const head = snapshots[name]!;
      for (const currency of TOKEN_CURRENCIES) {
        for (const [fill, timeframe, limit] of [
          [false, '1m', 17],
          [true, '1h', 90],
        ] as const) {
          const asked = request({ token: hexOf('aa', (seed + 1) % 6, 40), timeframe, currency, fill, limit });
          const pages: Bar[][] = [];
          for (let to: number | null = null; pages.length < 1_000;) {
            const { data, meta } = await get(head, { ...asked, to });
            pages.unshift(data);
            to = meta.next_to;
            if (to === null) break;
          }
          expectClose(
            pages.flat(),
            expectTokenBars(world, STORED, head, { ...asked, limit: 1_000_000 }).bars,
          );
        }
      }
    }
  });

  test('bars with a native price are found before a long time of bars without a native price', async () => {
    const head = snapshots['a head half promoted']!;
    const reads = runs.get('bars/list_token_bars') ?? 0;
    let asks = 0;
    for (const token of TOKENS) {
      const asked = request({ token, timeframe: '1m', currency: 'native' });
      const times = expectTokenBars(world, STORED, head, { ...asked, limit: 1_000_000 }).bars.map(
        ({ time }) => time,
      );
      const gaps = times.slice(1).map((time, index) => time - times[index]!);
      const later = times[gaps.indexOf(Math.max(...gaps)) + 1];
      if (later === undefined) continue;
      for (const to of [later + 60, times[0]!]) {
        await check(head, { ...asked, limit: 1, to });
        asks += 1;
      }
    }
    expect((runs.get('bars/list_token_bars') ?? 0) - reads).toBeGreaterThan(asks);
  });

  test('bars of a token are complete when a page of stored rows ends within a bar', async () => {
    const head = snapshots['everything final']!;
    for (const [index, timeframe] of (['1d', '4h', '1h'] as const).entries()) {
      for (const token of TOKENS.slice(2 * index, 2 * index + 2)) {
        for (const limit of [1, 2, 5]) await check(head, request({ token, timeframe, limit }));
      }
    }
  });

  test("filling a token's bars after years without trades stops at the limit", async () => {
    const head = snapshots['a head half promoted']!;
    const late = { ...head, timestamp: head.timestamp + 400_000_000, version: 'late' };
    const asked = request({ token: hexOf('aa', (seed + 1) % 6, 40), timeframe: '1m', fill: true, limit: 5 });
    const { data, meta } = await get(late, asked);
    expect(data).toHaveLength(5);
    expect(data.every((bar) => bar.trades === 0 && bar.close === data[0]!.close)).toBe(true);
    expect(meta.next_to).toBe(data[0]!.time);
  });

  test('a request for bars of a token already in memory runs one query for bars and one for head blocks', async () => {
    const asked = request({ token: hexOf('aa', (seed + 1) % 6, 40), limit: 10, currency: 'usd' });
    await get(snapshots['a head half promoted']!, asked);
    runs.clear();
    await get(snapshots['a head half promoted']!, { ...asked, timeframe: '15m' });
    expect(Object.fromEntries(runs)).toEqual({
      'bars/list_token_bars': 1,
      'bars/list_head_blocks': 1,
    });
  });

  const pathOf = (token: string, query = ''): string => `/api/v1/tokens/${token}/ticks?${query}`;

  test('an answer without bars of a token names the missing price, and an unknown token is not found', async () => {
    const [noUsd, noNative] = [untrackedToken(seed), nativelessToken(seed)];
    const untracked = await api.get(pathOf(noUsd));
    expect(untracked.json).toMatchObject({
      data: [],
      meta: { no_data: true, reason: reasonOf(noUsd, 'usd') },
    });
    const nativeless = await api.get(pathOf(noNative, 'currency=native&fill=true'));
    expect(nativeless.json).toMatchObject({
      data: [],
      meta: { no_data: true, reason: reasonOf(noNative, 'native') },
    });
    const early = await api.get(pathOf(hexOf('aa', (seed + 1) % 6, 40), 'to=5'));
    expect(early.json).toMatchObject({ data: [], meta: { no_data: true, next_to: null } });
    expect(early.json['meta']!['reason']).toBeUndefined();
    const unknown = await api.get(pathOf(hexOf('99', 1, 40)));
    expect([unknown.status, unknown.json['code']]).toEqual([404, 'not_found']);
  });

  test('bars of a token over HTTP equal a plain recomputation, with `to` in seconds or milliseconds', async () => {
    const token = hexOf('aa', (seed + 1) % 6, 40);
    const to = apiHead.timestamp - 100_000;
    const asked = request({ token, timeframe: '15m', limit: 50, to: to + 1, fill: true, currency: 'native' });
    const query = 'timeframe=15m&limit=50&fill=true&currency=native';
    for (const bound of [to + 1, to * 1_000 + 1]) {
      const { status, json } = await api.get(pathOf(token, `${query}&to=${bound}`));
      expect(status).toBe(200);
      expectClose(
        tokenTicksAnswerShape.parse(json).data,
        expectTokenBars(world, STORED, apiHead, asked).bars,
      );
    }
  });
});

/** The first block from `from` on that trades in the same minute as the next block; `from` if there is no
 * such block. */
function findCrowded(world: World, from: number): number {
  const found = world.blocks.find((block, index) => {
    const next = world.blocks[index + 1];
    const trades = (swaps: readonly { tracked: boolean }[]): boolean =>
      swaps.filter((swap) => swap.tracked).length > 2;
    if (next === undefined || block.number < from || next.number > STORED) return false;
    const together = Math.floor(block.timestamp / 60) === Math.floor(next.timestamp / 60);
    return together && trades(block.swaps) && trades(next.swaps);
  });
  return found?.number ?? from;
}

/** Prices must be equal, because they are not scaled. Volumes may differ by float rounding. */
function expectClose(got: readonly Bar[], wanted: readonly Bar[]): void {
  const exact = (bars: readonly Bar[]): unknown[] =>
    bars.map(({ volume: _volume, volume_usd: _volumeUsd, ...rest }) => rest);
  expect(exact(got)).toEqual(exact(wanted));
  got.forEach((bar, index) => {
    for (const field of ['volume', 'volume_usd'] as const) {
      const [have, want] = [bar[field] ?? NaN, wanted[index]![field] ?? NaN];
      expect(Math.abs(have - want)).toBeLessThanOrEqual(1e-15 * 4 * Math.abs(want));
    }
  });
}
