/** Compares portfolios with a plain recomputation from transfers and positions, in every state of the store. */
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import { transfersTable } from '../../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { portfolioAnswerShape, type Portfolio } from '../../../../src/wire/portfolio';
import { startApi } from '../../../support/server/apiServer';
import { decimalsOf, expectChange, expectClose, likeWithLike } from '../market/plainMarket';
import { plainPortfolio, type PlainPortfolio } from './plainPortfolio';
import { createRandom } from '../../../support/createRandom';
import {
  DEAD,
  HOLDERS,
  LOOSE,
  makeTransfers,
  movesOf,
  startWallets,
  wholeSnapshot,
  worldAt,
} from './transferWorld';
import { FIRST_BLOCK, hexOf, snapshotOf } from '../../../support/worlds/world';
import { plainPrice } from '../../../support/worlds/worldPrices';
import { makeMarketWorld, WALLETS_PLAN, type MarketServer } from '../../../support/server/marketServer';

const DAY = 86_400;
const WEIGHTED = hexOf('b4', 0, 40);
const STRANGER = hexOf('99', 7, 40);

const marketWorld = makeMarketWorld(WALLETS_PLAN);
const { world, finalTo: FINAL, storedTo: STORED, tip: TIP } = marketWorld;
addWeightedPool();
const moves = makeTransfers(world, world.seed);
addWeightedLp();
let market: MarketServer;
beforeAll(async () => {
  market = await startWallets(marketWorld, moves);
});

afterAll(() => market?.close());

/** A pool of three tokens whose balances change in many blocks. */
function addWeightedPool(): void {
  const random = createRandom(world.seed + 9);
  const tokens = [0, 1, 2].map((index) => hexOf('aa', index, 40));
  const [first] = world.blocks;
  const common = {
    dex: 'empty_dex',
    pool_type: 4,
    token0: tokens[0]!,
    token1: tokens[1]!,
    base_is_token0: true,
  };
  first!.pools.push({
    ...common,
    ord: toOrd(first!.number, 800),
    address: WEIGHTED,
    protocol: 'balancer_v2',
    factory: hexOf('fa', 8, 40),
    tokens,
    weights: [500_000_000_000_000_000n, 300_000_000_000_000_000n, 200_000_000_000_000_000n],
    doubts: 0,
    fee_pips: 3_000,
    tick_spacing: 0,
    scale_decimals: [],
    pool_id: null,
    hooks: null,
    hook_bits: null,
    created_block: first!.number,
    created_at: first!.timestamp,
    created_tx: hexOf('cc', 800, 64),
  });
  for (const block of world.blocks.filter(() => random() < 0.4)) {
    const balances = tokens.map(() => random.big(70));
    block.states.push({
      ...common,
      ord: toOrd(block.number, 810),
      timestamp: block.timestamp,
      kind: 'swap',
      pair: WEIGHTED,
      tx_hash: hexOf('dd', 810, 64),
      tx_index: 1,
      maker: null,
      doubts: 0,
      reserve0: balances[0]!,
      reserve1: balances[1]!,
      sqrt_price_x96: 0n,
      liquidity: 0n,
      tick: 0,
      price: 1,
      balances,
      params: [],
      unswapped: [],
      walked_liquidity: -1,
      near0: 0,
      near1: 0,
    });
  }
}

function addWeightedLp(): void {
  const random = createRandom(world.seed + 10);
  for (const { number, transfers } of moves.canonical.values()) {
    const { timestamp } = world.blocks[number - FIRST_BLOCK]!;
    if (random() < 0.6) continue;
    transfers.push({
      ord: toOrd(number, 820),
      timestamp,
      token: WEIGHTED,
      sender: ZERO_ADDRESS,
      recipient: random.pick(HOLDERS.slice(0, 10)),
      amount: random.big(60),
      kind: 'transfer',
      tx_index: 3,
    });
  }
}

async function ask(wallet: string): Promise<Portfolio> {
  const answer = await market.api.get(`/api/v1/portfolio/${wallet}`);
  expect(answer.status).toBe(200);
  return portfolioAnswerShape.strict().parse(answer.json).data;
}

const levelOf = (confidence: number): string =>
  confidence >= 0.9 ? 'high' : confidence >= 0.5 ? 'medium' : confidence > 0 ? 'low' : 'none';

function checkTokens(got: Portfolio, wanted: PlainPortfolio, of: HeadSnapshot): void {
  expect(got.tokens.map(({ address }) => address).sort()).toEqual(
    wanted.tokens.map(({ address }) => address).sort(),
  );
  for (const token of got.tokens) {
    const plain = wanted.tokens.find(({ address }) => address === token.address)!;
    const known = world.tokens.find(({ address }) => address === token.address);
    expect(token).toMatchObject({
      symbol: known?.symbol ?? null,
      name: known?.name ?? null,
      decimals: known?.decimals ?? null,
      balance: plain.balance,
      balance_raw: plain.raw.toString(),
      price_confidence: levelOf(plain.confidence),
    });
    expectClose(token.price_usd, plain.usd, 1e-15);
    expectClose(token.value_usd, plain.value, 1e-12);
    const then = plainPrice(worldAt(world, of).blocks, of.number, token.address, of.timestamp - DAY);
    expectChange(token.price_change_24h, plain.usd, likeWithLike(plain, then));
  }
}

function checkPositions(got: Portfolio, wanted: PlainPortfolio): void {
  const ids = wanted.positions.map(({ id }) => id);
  expect(got.positions.map(({ id }) => id).sort()).toEqual(ids.sort());
  for (const position of got.positions) {
    const plain = wanted.positions.find(({ id }) => id === position.id)!;
    expect(position.pair_address).toBe(plain.pair);
    expect(position.lp_balance_raw).toBe(plain.raw);
    expectClose(position.share_pct, plain.share);
    plain.amounts.forEach((amount, i) => {
      const token = position.tokens[i]!;
      if (amount === null) return expect(token.amount).toBeNull();
      const raw = Number(token.amount) * 10 ** decimalsOf(world, token.address);
      // The contracts round amounts down. Amounts of a narrow position near the price lose digits in the
      // float computation of the test.
      expect(Math.abs(raw - amount)).toBeLessThanOrEqual(2 + 1e-7 * amount);
      return undefined;
    });
    if (plain.value === null) expect(position.value_usd).toBeNull();
    if (plain.ticks === null) expect(position.position_id).toBeUndefined();
    else {
      expect([position.tick_lower, position.tick_upper]).toEqual(plain.ticks);
      expect(`${position.id}`.endsWith(`-${position.position_id}`)).toBe(true);
      expect(position.in_range).toBe(plain.inRange);
    }
  }
}

function checkTotals(got: Portfolio, wanted: PlainPortfolio): void {
  const sum = (values: readonly (number | null)[]): number =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const isCounted = (id: string): boolean => wanted.positions.find((plain) => plain.id === id)!.trusted;
  const isTrusted = (word: string): boolean => word === 'high' || word === 'medium';
  const counted = got.tokens.filter(({ price_confidence }) => isTrusted(price_confidence));
  const positions = got.positions.filter(({ id }) => isCounted(id));
  const [all, used] = [
    sum([...got.tokens, ...got.positions].map(({ value_usd }) => value_usd)),
    sum([...counted, ...positions].map(({ value_usd }) => value_usd)),
  ];
  expectClose(got.tokens_usd, sum(counted.map(({ value_usd }) => value_usd)));
  expectClose(got.positions_usd, sum(positions.map(({ value_usd }) => value_usd)));
  expectClose(got.total_usd, used);
  expect(Math.abs(got.excluded_usd - (all - used))).toBeLessThanOrEqual(1e-9 * all);
  const parts = sum([...got.tokens, ...got.positions].map(({ portfolio_pct }) => portfolio_pct));
  expect(parts).toBeCloseTo(used > 0 ? 100 : 0, 6);
  for (const list of [got.tokens, got.positions]) {
    const values = list.map(({ value_usd }) => value_usd ?? -1);
    expect(values).toEqual([...values].sort((a, b) => b - a));
  }
}

const heads = (): [string, HeadSnapshot][] => [
  ['a cursor and a head above it', wholeSnapshot(world, FINAL, TIP)],
  ['a reorg of three blocks', wholeSnapshot(world, FINAL, FINAL + 20, [FINAL + 18, FINAL + 19, FINAL + 20])],
  ['nothing above the cursor', wholeSnapshot(world, STORED, STORED)],
  ['the cursor in the midst of a promotion', wholeSnapshot(world, STORED, TIP)],
];

describe.each(['before the parts are merged', 'after the parts are merged'])('portfolios %s', (state) => {
  test('portfolios equal a plain recomputation in every state of the store', async () => {
    if (state === 'after the parts are merged')
      for (const table of ['token_balances', 'holder_balances', 'owner_positions'])
        await market.db.command('merge', `OPTIMIZE TABLE ${table} FINAL`);
    const met = {
      tokens: 0,
      shares: 0,
      diluted: 0,
      ranges: new Set<boolean | null>(),
      negative: 0,
      weighted: 0,
    };
    for (const [turn, [, of]] of heads().entries()) {
      // The number of parts has little effect, so one head is enough after the merge.
      if (state === 'after the parts are merged' && turn > 0) continue;
      // A new version of the head, because the cache would return the answers of the previous state.
      market.head = { ...of, version: `${of.version} ${state}` };
      const at = { world: worldAt(world, of), head: market.head, moves: movesOf(moves, of) };
      // The busiest wallets hold most tokens. Each other wallet is checked at one head.
      const others = HOLDERS.slice(4, 14).filter((_, index) => index % 4 === turn);
      for (const wallet of [...HOLDERS.slice(0, 4), ...others, DEAD, STRANGER]) {
        const [got, wanted] = [await ask(wallet), plainPortfolio(at, wallet)];
        expect(got).toMatchObject({ address: wallet, block_number: of.number });
        expect(got.flags).toEqual([...(wanted.negative ? ['unbalanced_transfers'] : []), 'node_away']);
        expect(got.warnings.map(({ code }) => code)).toEqual(got.flags);
        checkTokens(got, wanted, of);
        checkPositions(got, wanted);
        checkTotals(got, wanted);
        met.tokens += got.tokens.length;
        for (const { pool_type, in_range, dex_name } of got.positions) {
          if (pool_type === 3) met.ranges.add(in_range ?? null);
          if (pool_type === 2) met.shares += 1;
          if (pool_type === 4) met.weighted += 1;
          if (dex_name === 'pulsex_v2') met.diluted += 1;
        }
        if (wanted.negative) met.negative += 1;
      }
    }
    expect(met.ranges).toEqual(new Set([true, false, null]));
    for (const count of [met.tokens, met.shares, met.weighted, met.diluted, met.negative])
      expect(count).toBeGreaterThan(state === 'before the parts are merged' ? 10 : 0);
  });
});

describe('/portfolio/{address} answers for every address', () => {
  beforeEach(() => {
    market.head = wholeSnapshot(world, FINAL, TIP);
  });

  test('the portfolio of an unknown wallet and of the zero address has empty lists and zeros', async () => {
    for (const address of [STRANGER, ZERO_ADDRESS])
      expect(await ask(address)).toMatchObject({
        address,
        total_usd: 0,
        net_worth_usd: 0,
        // Only the node knows the balance of the native coin.
        native_usd: null,
        tokens_usd: 0,
        positions_usd: 0,
        unclaimed_usd: 0,
        excluded_usd: 0,
        block_number: TIP,
        native: null,
        tokens: [],
        positions: [],
        flags: address === STRANGER ? ['node_away'] : [],
      });
  });

  test('a portfolio lists tokens without a pool, and never lists LP tokens as tokens', async () => {
    let loose = 0;
    for (const wallet of HOLDERS.slice(0, 5)) {
      const { tokens } = await ask(wallet);
      loose += tokens.filter(({ address }) => (LOOSE as readonly string[]).includes(address)).length;
      expect(tokens.filter(({ address }) => address.startsWith('0xb'))).toEqual([]);
    }
    expect(loose).toBeGreaterThan(0);
  });

  test('a portfolio flags partial balances, and then gives no share of pools older than the history', async () => {
    market.head = { ...snapshotOf(world, FINAL, TIP), version: 'partial' };
    const old = new Set(
      world.blocks.flatMap(({ pools }) => pools.filter(({ created_block }) => created_block === null)),
    );
    let unknown = 0;
    for (const wallet of HOLDERS.slice(0, 5)) {
      const got = await ask(wallet);
      expect(got.flags).toContain('partial_history');
      for (const { pair_address, pool_type, share_pct, value_usd } of got.positions) {
        if (pool_type === 3) continue;
        const isOld = [...old].some(({ address }) => address === pair_address);
        expect(share_pct === null).toBe(isOld);
        if (isOld) expect(value_usd).toBeNull();
        if (isOld) unknown += 1;
      }
    }
    expect(unknown).toBeGreaterThan(0);
  });

  const CHECKSUMMED = '0xA1077a294dDE1B09bB078844df40758a5D0f9a27';
  const BAD: [string, string][] = [
    ['too few digits', '0x1234'],
    ['letters that are not hex digits', `0x${'g'.repeat(40)}`],
    ['a wrong checksum', CHECKSUMMED.replace('A', 'a')],
    ['no prefix', 'a'.repeat(40)],
  ];
  test.each(BAD)('the portfolio endpoint refuses an address with %s', async (_, address) => {
    const answer = await market.api.get(`/api/v1/portfolio/${address}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ success: false, code: 'bad_request' });
    expect(answer.text).toContain('address');
  });

  test('the portfolio endpoint accepts any letter case, ignores unknown parameters, and refuses other methods', async () => {
    const wallet = HOLDERS[0]!;
    const plain = await ask(wallet);
    expect(await ask(`0x${wallet.slice(2).toUpperCase()}`)).toEqual(plain);
    expect((await ask(CHECKSUMMED)).address).toBe(CHECKSUMMED.toLowerCase());
    expect((await market.api.get(`/api/v1/portfolio/${wallet}?page=0&x=1`)).json['data']).toEqual(plain);
    expect((await market.api.get(`/api/v1/portfolio/${wallet}`, {}, 'POST')).status).toBe(405);
    expect((await market.api.get('/api/v1/portfolio')).status).toBe(404);
  });
});

test('transfers from the zero address to itself are part of the supply, like the locked LP tokens of a V2 pair', async () => {
  const pair = world.blocks.flatMap(({ pools }) => pools).find(({ pool_type }) => pool_type === 2)!;
  const at = wholeSnapshot(world, FINAL, FINAL);
  market.head = { ...at, version: 'before' };
  const path = `/api/v1/pairs/${pair.address}`;
  const before = (await market.api.get(path)).json['data']!;
  const locked = 10n ** 18n * 1_000n;
  const common = { ord: toOrd(FINAL, 1_000), timestamp: at.timestamp, token: pair.address, tx_index: 9 };
  await insertRows(market.db, transfersTable, [
    { ...common, sender: ZERO_ADDRESS, recipient: ZERO_ADDRESS, amount: locked, kind: 'transfer' },
  ]);
  // A second API answers, because the first one remembers its counts of final blocks and would not see the added
  // transfer.
  const other = await startApi(market.runner, () => ({ ...at, version: 'after' }));
  const after = (await other.get(path)).json['data']!;
  expect(Number(after['total_supply']) - Number(before['total_supply'])).toBeCloseTo(1_000, 6);
  expect(after['lp_holders']).toBe(before['lp_holders']);
  await other.close();
});
