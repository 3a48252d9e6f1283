/**
 * Compares audits with the rows that the real ingest session stored for a small chain. Covers the price of every token
 * at every block, before and after promotion and through a reorg. Recomputes each sum from the printed figures.
 */
import { createHash } from 'node:crypto';

import type { QueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import type { Hex } from '../../../../src/domain/hex';
import { lastOrdOfBlock } from '../../../../src/domain/ord';
import type { IngestSession } from '../../../../src/ingest/session/session';
import { createAuditTables } from '../../../../src/query/audit/auditTables';
import { readAuditInputs, type AuditInputs } from '../../../../src/query/audit/auditInputs';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { readHead } from '../../../../src/query/head/headState';
import { derivePrice, toAudit } from '../../../../src/query/audit/tokenAudit';
import { auditAnswerShape, type Audit } from '../../../../src/wire/audit';
import { askRows } from '../../../support/engine/askRows';
import { AuditChain, TOKENS } from './auditChain';
import { AUDIT_CHAIN, directoryAt, openAuditSession } from './auditWorld';
import { checkScore } from './checkScore';
import { storedPrice, type StoredHop } from './storedPrice';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';
import { startApi, type ApiServer } from '../../../support/server/apiServer';
import { headerOf } from '../../../simulation/chain/simNode';

const SEED = 4_242;
const DEPTH = 20;
const CHAIN_ID = AUDIT_CHAIN.chainId;
const NAMES = Object.keys(TOKENS) as (keyof typeof TOKENS)[];
/** Set by test/full/api/audits.test.ts, which checks every token at every block. */
const ARE_ALL_CHECKED = process.env['AUDITS'] === 'all';

let store: TestStore;
let runner: QueryRunner;
let chain: AuditChain;
let session: IngestSession;
let head: HeadSnapshot;
let api: ApiServer;
let statements = 0;
/** Answers that the test has already read, by path. */
const given = new Map<string, Audit>();

beforeAll(async () => {
  store = await openTestStore();
  const counted = store.runner;
  runner = {
    ...counted,
    run: (name, params, shape) => {
      if (name.startsWith('audit/')) statements += 1;
      return counted.run(name, params, shape);
    },
  };
  chain = new AuditChain(SEED);
  chain.mine(75);
  session = await openAuditSession(chain, store.db, DEPTH);
  api = await startApi(runner, () => head, { chain: AUDIT_CHAIN });
  await catchUp();
});

afterAll(async () => {
  await api?.close();
  await store?.close();
});

async function catchUp(): Promise<void> {
  await session.advanceTo(headerOf(chain.head));
  await session.promoted();
  head = (await readHead(runner, CHAIN_ID))!;
  expect([head.number, head.hash]).toEqual([chain.head.number, chain.head.hash]);
}

async function get(token: Hex, block?: number): Promise<{ status: number; audit: Audit }> {
  const query = block === undefined ? '' : `?block=${block}`;
  const { status, text } = await api.get(`/api/v1/tokens/${token}/audit${query}`);
  const json = JSON.parse(text) as { data: Audit };
  if (status === 200) auditAnswerShape.parse(json);
  return { status, audit: json.data };
}

async function inputsOf(token: Hex, block: number): Promise<AuditInputs> {
  const directory = await directoryAt(api, head);
  const deps = { runner, chainId: CHAIN_ID, sources: AUDIT_CHAIN, directory, table: null };
  return readAuditInputs(deps, head, { token, block, candidates: [], neighbours: [] });
}

/** Every stored hop of the snapshot's chain, oldest first. */
async function storedHops(): Promise<StoredHop[]> {
  const columns = `ord, concat('0x', lower(hex(p.token))) AS token, concat('0x', lower(hex(p.next_token))) AS next,
    hop_price AS hop, hop_confidence AS trust, hop_cap AS cap`;
  return askRows<StoredHop>(
    store.db,
    `SELECT * FROM (
       SELECT ${columns} FROM token_prices AS p WHERE ord <= {final_ord:UInt64}
       UNION ALL SELECT ${columns} FROM token_prices_head AS p WHERE has({commits:Array(UInt64)}, commit)
     ) AS every ORDER BY every.ord`,
    { final_ord: lastOrdOfBlock(head.finalTo), commits: head.blocks.map(({ commit }) => commit) },
  );
}

/** Parses a decimal string exactly, as a numerator over 10^scale. */
function exact(text: string): { n: bigint; scale: number } {
  const [whole, fraction = ''] = text.split('.');
  return { n: BigInt(`${whole}${fraction}`), scale: fraction.length };
}

const SCALE = 80;
const scaled = (text: string): bigint => exact(text).n * 10n ** BigInt(SCALE - exact(text).scale);
const times = (a: bigint, b: bigint): bigint => (a * b) / 10n ** BigInt(SCALE);
const near = (a: bigint, b: bigint): boolean => {
  const difference = a > b ? a - b : b - a;
  return difference * 10n ** 15n <= (a > b ? a : b);
};

function checkSums(audit: Audit, stored: number | null): void {
  checkScore(audit);
  if (stored === null || audit.price_usd === null || audit.anchor === null) {
    expect([audit.price_usd, audit.anchor, stored]).toEqual([null, null, null]);
    const unknown = { manipulation_cost_usd: null, price_age_blocks: null };
    expect(audit).toMatchObject({ ...unknown, method: 'none', confidence: 'none', confidence_score: 0 });
    expect([audit.hops, audit.warnings[0]!.code]).toEqual([[], 'no_route']);
    expect(audit.price_reason!.text).toMatch(/^No price/);
    return;
  }
  checkCost(audit);
  let product = scaled(audit.anchor.price_usd);
  const seen = new Set<string>([audit.token.address]);
  let at: string = audit.token.address;
  audit.hops.forEach(({ step, from_token, to_token, hop_price, pools }, i) => {
    expect([step, from_token]).toEqual([i + 1, at]);
    expect(seen.has(to_token)).toBe(false);
    seen.add(to_token);
    at = to_token;
    expect(pools.reduce((sum, { weight }) => sum + scaled(weight), 0n)).toBe(10n ** BigInt(SCALE));
    const mean = pools.reduce(
      (sum, { weight, implied_price }) => sum + times(scaled(weight), scaled(implied_price)),
      0n,
    );
    expect(near(mean, scaled(hop_price))).toBe(true);
    product = times(product, scaled(hop_price));
  });
  expect([at, audit.price_reason]).toEqual([audit.anchor.address, null]);
  expect(audit.hops.length).toBeLessThanOrEqual(4);
  expect(near(product, scaled(audit.price_usd))).toBe(true);
  expect(Math.abs(Number(audit.price_usd) / stored - 1)).toBeLessThan(1e-9);
}

/** An anchor has a configured price and no published cost of moving it. For other tokens a larger move costs more. */
function checkCost({ hops, manipulation_cost_usd: cost, price_age_blocks: age }: Audit): void {
  if (hops.length === 0) expect([cost, age]).toEqual([null, null]);
  else expect(age).toBeGreaterThanOrEqual(0);
  for (const { p2, p10, p50 } of cost === null ? [] : [cost.up, cost.down]) {
    expect(p10).toBeGreaterThanOrEqual(p2);
    expect(p50).toBeGreaterThanOrEqual(p10);
    expect(p50).toBeGreaterThan(0);
  }
}

/** Computes the hash of an audit as the OpenAPI document describes it, from the answer alone. */
function hashOf(audit: Audit): string {
  const lines = ['candlehouse-audit 1', `chain ${CHAIN_ID}`, `block ${audit.derived_at_block}`];
  lines.push(`token ${audit.token.address}`);
  lines.push(`anchor ${audit.anchor?.address ?? '-'} ${audit.anchor?.price_usd ?? '-'}`);
  for (const hop of audit.hops) {
    lines.push(`hop ${hop.step} ${hop.from_token} ${hop.to_token}`);
    for (const pool of hop.pools)
      lines.push(
        `pool ${pool.address} ${pool.reserve0} ${pool.reserve1} ${pool.weight} ${pool.implied_price}`,
      );
  }
  for (const pool of audit.excluded_pools)
    lines.push(`excluded ${pool.address} ${pool.reason} ${pool.implied_price ?? '-'}`);
  return `0x${createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')}`;
}

/** Blocks with events: new pools, first blocks of epochs, a price push, and the last final block. */
function interestingBlocks(): number[] {
  const blocks = [4, 33, 64, 78, 90, 96, 99, 121];
  const around = [head.finalTo, head.finalTo + 1, head.number];
  return [...new Set([...blocks, ...around])].filter((number) => number <= head.number);
}

/**
 * Compares three prices of a token at a block: the stored one, the one derived by the audit, and the printed
 * one. Checks every `sampled`-th combination of token and block, so that every token and every block is
 * checked. With `edges`, checks every token at the first block after the final ones or at the head.
 */
async function checkAll(sampled: number, edges = false): Promise<void> {
  const share = ARE_ALL_CHECKED ? Math.ceil(sampled / 4) : sampled;
  const rows = await storedHops();
  for (const [nth, name] of NAMES.entries()) {
    const { address } = TOKENS[name];
    const edge = nth % 2 === 0 ? head.finalTo + 1 : head.number;
    for (const [at, number] of interestingBlocks().entries()) {
      if ((nth + at) % share !== 0 && !(edges && number === edge)) continue;
      const { status, audit } = await get(address, number);
      if (status === 404) continue;
      expect(status).toBe(200);
      const stored = storedPrice(rows, address, number);
      checkSums(audit, stored.usd);
      expect(audit.inputs_hash).toBe(hashOf(audit));
      expect(audit).toMatchObject({
        derived_at_block: number,
        derived_at_timestamp: chain.at(number)!.timestamp,
      });
      const inputs = await inputsOf(address, number);
      // The prices must have equal bits, not be nearly equal.
      const derived = derivePrice(inputs);
      expect([derived.usd, derived.capUsd]).toEqual([stored.usd, stored.cap]);
      // A cap is at most a pool's balance, and a move by 2 % pays out about 1 % of a balance. So the depth is at least
      // about 1 % of the cap; in a concentrated pool it may be more.
      expect(audit.depth_usd).toBe(audit.hops.length === 0 ? null : derived.depthUsd);
      if (audit.depth_usd !== null) expect(audit.depth_usd).toBeGreaterThan(stored.cap * 0.009_9);
      if (number <= head.finalTo) rememberOrCompare(`${name} ${number}`, audit);
    }
  }
}

function rememberOrCompare(key: string, audit: Audit): void {
  const before = given.get(key);
  if (before !== undefined) expect(audit).toEqual(before);
  given.set(key, audit);
}

interface SwapRow {
  readonly ord: string;
  readonly token0: Hex;
  readonly token1: Hex;
  readonly base_is_token0: boolean;
  readonly price: number;
  readonly price_usd: number;
}

test('audits of tokens at final and other blocks give exactly the stored price', async () => {
  expect(head.finalTo).toBeLessThan(head.number - 5);
  await checkAll(4);
});

test('audits show the prices of the new branch after a reorg', async () => {
  chain.reorg(9, 12);
  await catchUp();
  await checkAll(8, true);
});

test('audits of final blocks do not change while the chain grows and blocks are promoted', async () => {
  const before = head.finalTo;
  const known = given.size;
  for (const [count, share] of [
    [40, 16],
    [45, 8],
  ] as const) {
    chain.mine(count);
    await catchUp();
    await checkAll(share);
  }
  expect(head.finalTo).toBeGreaterThan(before + 64);
  expect(given.size).toBeGreaterThan(known);
});

test('the USD price of a swap is its price in the quote token times the audited USD price of the quote token at its block', async () => {
  const swaps = await askRows<SwapRow>(
    store.db,
    `SELECT ord, concat('0x', lower(hex(s.token0))) AS token0, concat('0x', lower(hex(s.token1))) AS token1,
       base_is_token0, price, price_usd
     FROM swaps AS s WHERE price_usd > 0 ORDER BY cityHash64(s.ord) LIMIT 10`,
  );
  expect(swaps).toHaveLength(10);
  const byAddress = new Map(Object.values(TOKENS).map((token) => [token.address, token]));
  for (const { ord, token0, token1, base_is_token0: isBase0, price, price_usd } of swaps) {
    const { audit } = await get(isBase0 ? token1 : token0, Math.floor(Number(ord) / 2 ** 20));
    const scaled = price * 10 ** (byAddress.get(token0)!.decimals - byAddress.get(token1)!.decimals);
    const marginal = isBase0 ? scaled : 1 / scaled;
    expect(Math.abs(price_usd / marginal / Number(audit.price_usd) - 1)).toBeLessThan(1e-9);
  }
});

test('price_age_blocks is the number of blocks since the newest state of the pools behind the price', async () => {
  const number = head.finalTo;
  for (const name of ['WPLS', 'HEX', 'THIN', 'FOUR'] as const) {
    const { audit } = await get(TOKENS[name].address, number);
    const pools = audit.hops.flatMap((hop) => hop.pools.map(({ address }) => address.slice(2)));
    const [newest] = await askRows<{ readonly ord: string }>(
      store.db,
      `SELECT max(s.ord) AS ord FROM pool_states AS s
       WHERE has({pools:Array(String)}, lower(hex(s.pair))) AND s.ord <= {tip:UInt64}`,
      { pools, tip: lastOrdOfBlock(number) },
    );
    expect(audit.price_age_blocks).toBe(number - Math.floor(Number(newest!.ord) / 2 ** 20));
  }
});

test('a pool whose price is far from the other pools is shown as excluded, with its price and reason', async () => {
  const { audit } = await get(TOKENS.HEX.address);
  expect(audit.hops.map(({ to_token }) => to_token)[0]).toBe(TOKENS.WPLS.address);
  const fake = audit.excluded_pools.find(({ step }) => step === 1)!;
  expect(fake).toMatchObject({ reason: 'outlier', to_token: TOKENS.WPLS.address });
  expect(Number(fake.implied_price)).toBeGreaterThan(500 * Number(audit.hops[0]!.hop_price));
  expect(audit.warnings.map(({ code }) => code)).toContain('outlier_pools_excluded');
});

test('the prices of pools with another anchor are converted by the configured prices of the two anchors', async () => {
  const { audit } = await get(TOKENS.WPLS.address, 40);
  const pools = audit.hops[0]!.pools;
  const others = pools.filter(({ token0, token1 }) => ![token0, token1].includes(audit.hops[0]!.to_token));
  expect(others.length).toBeGreaterThan(0);
  for (const pool of pools)
    expect(Math.abs(Number(pool.implied_price) / Number(audit.hops[0]!.hop_price) - 1)).toBeLessThan(0.05);
  expect(audit.price_native).toBe('1');
});

test('after a price push without trades, the audit uses the mean price and has a warning', async () => {
  const before = (await get(TOKENS.THIN.address, 89)).audit;
  const during = (await get(TOKENS.THIN.address, 90)).audit;
  expect(during.warnings.map(({ code }) => code)).toContain('spot_held_to_mean');
  const [pool] = during.hops[0]!.pools;
  expect(Number(pool!.reserve1) / Number(pool!.reserve0)).not.toBe(Number(pool!.implied_price));
  expect(Math.abs(Number(during.price_usd) / Number(before.price_usd) - 1)).toBeLessThan(1e-9);
});

test('a pool created inside an epoch prices its token in the same epoch, with a warning', async () => {
  const created = await get(TOKENS.LATE.address, 77);
  expect(created.audit).toMatchObject({ confidence: 'low', method: 'lp_weighted_multi_hop' });
  expect(created.audit.warnings.map(({ code }) => code)).toEqual(
    expect.arrayContaining(['recent_pool', 'low_liquidity', 'single_pool']),
  );
  const later = await get(TOKENS.LATE.address);
  expect(later.audit.warnings.map(({ code }) => code)).toContain('young_pool');
});

test('an audit explains a missing price: unpriced neighbours, too little liquidity or too many hops', async () => {
  const lost = (await get(TOKENS.LOST.address)).audit;
  expect(lost).toMatchObject({ price_usd: null, price_native: null, method: 'none', hops: [], anchor: null });
  expect(lost.excluded_pools.map(({ reason }) => reason)).toEqual(['no_price']);
  expect(lost.warnings[0]!.message).toContain('1 no_price');
  const dust = (await get(TOKENS.DUST.address)).audit;
  expect(dust.excluded_pools).toMatchObject([{ reason: 'low_liquidity', to_token: TOKENS.DAI.address }]);
  const four = (await get(TOKENS.FOUR.address)).audit;
  expect(four.hops).toHaveLength(4);
  const five = (await get(TOKENS.FIVE.address)).audit;
  expect(five.warnings.map(({ code }) => code)).toEqual(['no_route', 'max_hops_reached', 'not_finalized']);
});

test('an anchor has its configured price, and its pools are listed as not on the route', async () => {
  const anchor = (await get(TOKENS.USDC.address)).audit;
  expect(anchor).toMatchObject({
    price_usd: '1.001',
    method: 'stable_anchor',
    confidence: 'high',
    confidence_score: 0.99,
    depth_usd: null,
    hops: [],
  });
  const reasons = anchor.excluded_pools.map(({ reason, step }) => [reason, step]);
  expect(reasons).toEqual([
    ['not_on_route', null],
    ['not_on_route', null],
  ]);
});

test("an audit above the head is a 400, and an audit before the token's first pool is a 404", async () => {
  expect((await get(TOKENS.DAI.address, head.number + 1)).status).toBe(400);
  expect((await get(TOKENS.LATE.address, 76)).status).toBe(404);
  expect((await get(TOKENS.LATE.address, 77)).status).toBe(200);
});

test('an audit needs at most 16 statements, even for the longest route', async () => {
  for (const name of ['FOUR', 'FIVE', 'HEX', 'LATE'] as const) {
    statements = 0;
    await inputsOf(TOKENS[name].address, head.number - 3);
    expect(statements).toBeLessThanOrEqual(16);
  }
});

test('audits of the newest block are equal whether read from memory or from the database, also after reorgs', async () => {
  const tables = createAuditTables(runner, CHAIN_ID, api.market.pairs);
  // Builds the audit's in-memory tables once before the rounds, so that each round updates the tables of the round
  // before.
  await tables.at(head);
  for (const [turn, round] of ['fork', 'promotion', 'growth'].entries()) {
    chain.mine(round === 'promotion' ? 40 : 5);
    if (round === 'fork') chain.reorg(3, 4);
    await catchUp();
    const directory = await directoryAt(api, head);
    const table = await tables.at(head);
    // Checks other tokens in each round, and those with the longest routes in all rounds.
    const tokens = NAMES.filter((name, at) => at % 3 === turn || ['FOUR', 'LATE'].includes(name));
    for (const { address } of tokens.map((name) => TOKENS[name])) {
      const question = { token: address, block: head.number, candidates: [], neighbours: [] };
      const deps = { runner, chainId: CHAIN_ID, sources: AUDIT_CHAIN, directory };
      const [remembered, read] = await Promise.all([
        readAuditInputs({ ...deps, table }, head, question),
        readAuditInputs({ ...deps, table: null }, head, question),
      ]);
      const audit = (inputs: AuditInputs): Audit =>
        toAudit(address, CHAIN_ID, AUDIT_CHAIN.wrappedNative, inputs);
      expect(audit(remembered)).toEqual(audit(read));
    }
  }
});
