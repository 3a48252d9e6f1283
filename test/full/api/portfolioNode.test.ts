/**
 * Tests portfolios with a node. The API shows the node's answers and adds each value once. Values are marked
 * as missing when the node does not answer.
 */
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { balanceChecksTable } from '../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { formatUnits } from '../../../src/domain/amounts';
import type { AccountState, StateQuestion } from '../../../src/domain/accountState';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { portfolioAnswerShape, type Portfolio } from '../../../src/wire/portfolio';
import { NO_CHECK } from '../../../src/ingest/balances/balanceBook';
import type { TokenDetail, TokenItem } from '../../../src/wire/tokens';
import { CHAIN, startApi, type ApiServer } from '../../support/server/apiServer';
import { eventually } from '../../support/eventually';
import { decimalsOf, expectClose, priceNow, upTo } from '../../integration/api/market/plainMarket';
import { plainPortfolio } from '../../integration/api/portfolio/plainPortfolio';
import {
  DEAD,
  HOLDERS,
  LOOSE,
  makeTransfers,
  movesOf,
  plainBalances,
  sentToZero,
  storeWallets,
  wholeSnapshot,
  worldAt,
} from '../../integration/api/portfolio/transferWorld';
import { FIRST_BLOCK, hexOf } from '../../support/worlds/world';
import { makeMarketWorld, WALLETS_PLAN } from '../../support/server/marketServer';
import type { TestStore } from '../../support/engine/testStore';

const STRANGER = hexOf('99', 7, 40);
const COIN = 3_210_000_000_000_000_000n;
const REBASING = hexOf('aa', 2, 40);

const marketWorld = makeMarketWorld(WALLETS_PLAN);
const { world, finalTo: FINAL, tip: TIP } = marketWorld;
const moves = makeTransfers(world, world.seed);
let store: TestStore;
let head: HeadSnapshot;
let api: ApiServer;
let version = 0;
let asked: { hash: Hex; questions: readonly StateQuestion[] }[] = [];
/** Balances that the node reports but the logs do not show. */
let earlier: (token: string, holder: string) => bigint = () => 0n;
let away = false;

const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');
/** The amounts that the contract owes to this position. */
const owedOf = (id: bigint): [bigint, bigint] => [(id % 1_000n) * 10n ** 12n, (id % 77n) * 10n ** 9n];

function truth(token: string, holder: string): bigint {
  if (holder === ZERO_ADDRESS) return sentToZero(movesOf(moves, head), token);
  const logs = plainBalances(movesOf(moves, head)).get(token)?.get(holder) ?? 0n;
  return BigInt.asUintN(256, logs + earlier(token, holder));
}

function answerOne(question: StateQuestion): Hex | null {
  if (question.kind === 'coin') return `0x${COIN.toString(16)}`;
  const { to, data, from } = question;
  if (data.startsWith('0x70a08231')) return `0x${word(truth(to, `0x${data.slice(-40)}`))}`;
  if (data.startsWith('0x18160ddd')) return `0x${word(supplyOf(to))}`;
  const id = BigInt(`0x${data.slice(10, 74)}`);
  // Only the owner may collect. The contract never answers for some positions.
  if (from !== `0x${data.slice(98, 138)}` || id % 5n === 4n) return null;
  const [amount0, amount1] = owedOf(id);
  return `0x${word(amount0)}${word(amount1)}`;
}

function supplyOf(token: string): bigint {
  const all = movesOf(moves, head);
  const isPair = upTo(world, head, (block) => block.pools).some(
    ({ address, pool_type }) => address === token && pool_type === 2,
  );
  const sent = isPair ? sentToZero(all, token) : 0n;
  return sent - (plainBalances(all).get(token)?.get(ZERO_ADDRESS) ?? 0n);
}

const node: AccountState = {
  ask(hash, questions) {
    asked.push({ hash, questions });
    return Promise.resolve(away ? null : questions.map(answerOne));
  },
  lacks: () => false,
};

beforeAll(async () => {
  store = await storeWallets(marketWorld, moves);
});

beforeEach(async () => {
  [asked, earlier, away] = [[], () => 0n, false];
  head = wholeSnapshot(world, FINAL, TIP);
  api = await startApi(store.runner, () => head, { node });
});

afterEach(() => api.close());

afterAll(() => store?.close());

/** Queries the same block under a new version, so that the cache does not return an earlier answer. */
async function ask(wallet: string): Promise<Portfolio> {
  version += 1;
  head = { ...head, version: `${version}` };
  const answer = await api.get(`/api/v1/portfolio/${wallet}`);
  expect(answer.status).toBe(200);
  return portfolioAnswerShape.strict().parse(answer.json).data;
}

const sum = (values: readonly (number | null | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

test('the native coin has the price of its wrapped token and is added to the net worth once', async () => {
  const { usd, confidence } = priceNow(world, head, CHAIN.wrappedNative!);
  for (const wallet of [STRANGER, ...HOLDERS.slice(0, 4)]) {
    const got = await ask(wallet);
    expect(got.native).toMatchObject({
      symbol: CHAIN.nativeSymbol,
      decimals: 18,
      balance: formatUnits(COIN, 18),
      balance_raw: COIN.toString(),
    });
    expectClose(got.native!.price_usd, usd, 1e-15);
    const worth = usd === null ? null : Number(formatUnits(COIN, 18)) * usd;
    expectClose(got.native!.value_usd, worth, 1e-12);
    expectClose(got.native_usd, confidence >= 0.5 ? worth : 0);
    if (got.unclaimed_usd !== null)
      expectClose(got.net_worth_usd, got.native_usd! + got.total_usd + got.unclaimed_usd);
    expectClose(got.total_usd, got.tokens_usd + got.positions_usd);
    // If some positions are unknown, the sum is unknown too.
    expect(got.unclaimed_usd === null).toBe(got.positions.some((position) => position.unclaimed === null));
    const parts = [...got.tokens, ...got.positions].map(({ portfolio_pct }) => portfolio_pct);
    expect(sum(parts)).toBeCloseTo(got.total_usd > 0 ? 100 : 0, 6);
    expect(got.flags).not.toContain('node_away');
  }
  expect(new Set(asked.map(({ hash }) => hash))).toEqual(new Set([head.hash]));
});

test('pool shares are the same whether LP holders were counted before or not', async () => {
  let lp = 0;
  for (const wallet of HOLDERS.slice(0, 2)) {
    const cold = await ask(wallet);
    version += 1;
    head = { ...head, version: `${version}` };
    await api.get('/api/v1/tokens');
    const warm = (await api.get(`/api/v1/portfolio/${wallet}`)).json['data'];
    expect(warm).toEqual(cold);
    lp += cold.positions.filter(({ pool_type }) => pool_type === 2).length;
  }
  expect(lp).toBeGreaterThan(0);
});

test('positions show the unclaimed amounts that collect would pay, besides their tokens', async () => {
  const met = { owed: 0, silent: 0 };
  for (const wallet of HOLDERS.slice(0, 6)) {
    const got = await ask(wallet);
    const plain = plainPortfolio({ world: worldAt(world, head), head, moves: movesOf(moves, head) }, wallet);
    let counted = 0;
    for (const position of got.positions) {
      if (position.pool_type !== 3) {
        expect([position.unclaimed, position.unclaimed_usd]).toEqual([undefined, undefined]);
        continue;
      }
      const id = BigInt(position.position_id!);
      if (id % 5n === 4n) {
        expect([position.unclaimed, position.unclaimed_usd]).toEqual([null, null]);
        met.silent += 1;
        continue;
      }
      const amounts = position.tokens.map(({ address }, i) =>
        formatUnits(owedOf(id)[i]!, decimalsOf(world, address)),
      );
      expect(position.unclaimed!.map(({ amount }) => amount)).toEqual(amounts);
      const worth = position.tokens.map(({ address }, i) => {
        const { usd } = priceNow(world, head, address);
        return usd === null ? null : Number(amounts[i]) * usd;
      });
      if (worth.includes(null)) expect(position.unclaimed_usd).toBeNull();
      else expectClose(position.unclaimed_usd ?? null, sum(worth));
      if (plain.positions.find((one) => one.id === position.id)!.trusted)
        counted += position.unclaimed_usd ?? 0;
      met.owed += 1;
    }
    const isSilent = got.positions.some((position) => position.unclaimed === null);
    if (isSilent) expect(got.unclaimed_usd).toBeNull();
    else expectClose(got.unclaimed_usd, counted);
    expectClose(got.net_worth_usd, (got.native_usd ?? 0) + got.total_usd + counted);
  }
  expect(met.owed).toBeGreaterThan(2);
  expect(met.silent).toBeGreaterThan(0);
});

describe('balances are right in a history that begins late', () => {
  beforeEach(() => {
    head = { ...head, startBlock: FIRST_BLOCK };
    earlier = (token, holder) =>
      (BigInt(token) + BigInt(holder)) % 3n === 0n ? 10n ** 9n + (BigInt(token) % 1_000n) : 0n;
  });

  /** Raw balances from the portfolio's answer, including LP tokens. */
  const shown = ({ tokens, positions }: Portfolio): Map<string, string> =>
    new Map([
      ...tokens.map(({ address, balance_raw }) => [address, balance_raw] as const),
      ...positions
        .filter(({ pool_type }) => pool_type !== 3)
        .map(({ pair_address, lp_balance_raw }) => [pair_address, lp_balance_raw] as const),
    ]);

  function expectTrue(got: Portfolio, wallet: string): number {
    const pools = upTo(world, head, (block) => block.pools).filter(({ pool_type }) => pool_type !== 3);
    const tokens = new Set([
      ...pools.flatMap(({ address, token0, token1 }) => [address, token0, token1]),
      ...LOOSE.filter(
        (token) =>
          plainBalances(movesOf(moves, head))
            .get(token)
            ?.has(wallet as Hex) === true,
      ),
    ]);
    const balances = shown(got);
    for (const token of tokens) {
      const held = BigInt.asIntN(256, truth(token, wallet));
      // The logs of one token are false, so a negative sum is not shown as a balance.
      if (held < 0n) continue;
      expect([token, balances.get(token) ?? '0']).toEqual([token, held.toString()]);
    }
    return tokens.size;
  }

  test('balances include the balance before the history, also for tokens without a later transfer', async () => {
    for (const wallet of [STRANGER, ...HOLDERS.slice(0, 5)]) {
      const got = await ask(wallet);
      expect(expectTrue(got, wallet)).toBeGreaterThan(8);
      expect(got.flags).toContain('partial_history');
      for (const { address, flags } of got.tokens)
        expect(flags).toEqual(earlier(address, wallet) === 0n ? [] : ['seeded']);
    }
    expect((await ask(STRANGER)).tokens.length).toBeGreaterThan(0);
  });

  test('a balance from before the history is read from the node once, and used at other blocks with or without the node', async () => {
    const wallet = HOLDERS[1]!;
    await ask(wallet);
    const calls = (): number => asked.flatMap(({ questions }) => questions).length;
    const first = calls();
    expectTrue(await ask(wallet), wallet);
    expect(calls() - first).toBeLessThan(first / 2);
    away = true;
    head = { ...wholeSnapshot(world, FINAL, TIP - 12), startBlock: FIRST_BLOCK };
    const got = await ask(wallet);
    expectTrue(got, wallet);
    expect(got.flags).toEqual(expect.arrayContaining(['seeded', 'node_away', 'partial_history']));
  });

  test('the supply of pools older than the history comes from their contracts', async () => {
    earlier = () => 0n;
    let old = 0;
    for (const wallet of HOLDERS.slice(0, 6)) {
      const plain = plainPortfolio({ world, head, moves: movesOf(moves, head) }, wallet);
      for (const position of (await ask(wallet)).positions) {
        const pool = upTo(world, head, (block) => block.pools).find(
          ({ address }) => address === position.pair_address,
        )!;
        if (pool.pool_type === 3 || pool.created_block !== null) continue;
        expectClose(position.share_pct, plain.positions.find(({ id }) => id === position.id)!.share);
        old += 1;
      }
    }
    expect(old).toBeGreaterThan(0);
    const pool = upTo(world, head, (block) => block.pools).find(
      ({ pool_type, created_block }) => pool_type === 2 && created_block === null,
    )!;
    const readPair = async () => (await api.get(`/api/v1/pairs/${pool.address}`)).json['data'];
    const total_supply = formatUnits(supplyOf(pool.address), 18);
    away = true;
    expect(await readPair()).toMatchObject({ total_supply: null, lp_locked_pct: null });
    expect((await readPair())!['flags']).toContain('supply_unknown');
    away = false;
    await eventually(readPair, (pair) => pair!['total_supply'] !== null);
    const locked = truth(pool.address, ZERO_ADDRESS) + truth(pool.address, DEAD);
    const lp_locked_pct = Number((locked * 10_000_000n) / supplyOf(pool.address)) / 100_000;
    expect(lp_locked_pct).toBeGreaterThan(0);
    expect(await readPair()).toMatchObject({ total_supply, lp_locked_pct, lp_holders: null });
  });
});

describe('a rebasing token has the balances of its contract', () => {
  beforeAll(async () => {
    const check = {
      ...NO_CHECK,
      token: REBASING,
      checked_block: FINAL,
      held_checked: 8,
      sampled_holders: 1_000,
    };
    await insertRows(store.db, balanceChecksTable, [
      { ...check, rebasing: false, version: 1 },
      { ...check, rebasing: true, version: 2 },
    ]);
  });

  test('a rebasing token is flagged in lists, in its details and in portfolios', async () => {
    const { json } = await api.get('/api/v1/tokens?limit=100');
    const items = json['data'] as unknown as TokenItem[];
    expect(items.filter(({ flags }) => flags.includes('rebasing')).map(({ address }) => address)).toEqual([
      REBASING,
    ]);
    const detail = (await api.get(`/api/v1/tokens/${REBASING}`)).json['data'] as unknown as TokenDetail;
    expect(detail).toMatchObject({ total_supply: null, fdv_usd: null, holder_distribution: null });
    expect(detail.warnings.map(({ code }) => code)).toContain('rebasing');
    expect(detail.holders).toBeGreaterThan(0);
  });

  test('the balance of a rebasing token comes from the node, or from the logs with a warning if the node is away', async () => {
    earlier = (token) => (token === REBASING ? 12_345n : 0n);
    let met = 0;
    for (const wallet of HOLDERS.slice(0, 10)) {
      if (met > 2) break;
      away = false;
      const held = BigInt.asIntN(256, truth(REBASING, wallet));
      const moved = plainBalances(movesOf(moves, head)).get(REBASING)?.has(wallet) === true;
      if (!moved || held <= 12_345n) continue;
      const got = await ask(wallet);
      const entry = got.tokens.find(({ address }) => address === REBASING)!;
      expect([entry.balance_raw, entry.flags]).toEqual([held.toString(), ['rebasing']]);
      expect(got.flags).not.toContain('rebasing_guessed');
      away = true;
      const alone = await ask(wallet);
      const guess = alone.tokens.find(({ address }) => address === REBASING)!;
      expect([guess.balance_raw, guess.flags]).toEqual([(held - 12_345n).toString(), ['rebasing']]);
      expect(alone.flags).toEqual(expect.arrayContaining(['node_away', 'rebasing_guessed']));
      met += 1;
    }
    expect(met).toBeGreaterThan(2);
  });
});

test("a portfolio without the node's answer expires soon, and one with the node's answer lasts until the next head", async () => {
  const path = `/api/v1/portfolio/${HOLDERS[3]!}`;
  version += 1;
  head = { ...head, version: `${version}` };
  away = true;
  expect((await api.get(path)).json['data']!['native']).toBeNull();
  away = false;
  const native = await eventually(
    async (): Promise<unknown> => (await api.get(path)).json['data']!['native'],
    (value) => value !== null,
  );
  expect(native).toMatchObject({ balance_raw: COIN.toString() });
  const asks = asked.length;
  await api.get(path);
  expect(asked).toHaveLength(asks);
});
