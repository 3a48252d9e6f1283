/**
 * An attacker issues the token RICH and gives it a trusted price with a pool of 12,000 DAI. The attacker then
 * puts 1e12 RICH into a pool, a swap and a wallet. The real ingest session and the API must value them at
 * 12,000 USD at most.
 */
import type { z } from 'zod';

import type { Hex } from '../../../../src/domain/hex';
import type { IngestSession } from '../../../../src/ingest/session/session';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { readHead } from '../../../../src/query/head/headState';
import { auditAnswerShape } from '../../../../src/wire/audit';
import { overviewAnswerShape } from '../../../../src/wire/overview';
import { pairAnswerShape, pairsAnswerShape } from '../../../../src/wire/pairs';
import { portfolioAnswerShape } from '../../../../src/wire/portfolio';
import { tokenAnswerShape } from '../../../../src/wire/tokens';
import { headerOf } from '../../../simulation/chain/simNode';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';
import { startApi, type ApiServer } from '../../../support/server/apiServer';
import { AuditChain, data, named, TOKENS, TOPIC, V2_FACTORY, type Draft, type SimToken } from './auditChain';
import { AUDIT_CHAIN, openAuditSession } from './auditWorld';

const { DAI } = TOKENS;
const RICH: SimToken = { address: named(50), decimals: 18 };
const SCAM: SimToken = { address: named(51), decimals: 18 };
const [BACKED, INVENTED, WALLET] = [named(60), named(61), named(70)];
const HELD = 12_000;
/** Published caps are rounded down, to at least this part of the exact cap. */
const STEP = 2 ** (-1 / 16);
const ISSUED = 10n ** 12n;
const WEI = 10n ** 18n;
const NOBODY: Hex = `0x${'0'.repeat(40)}`;

const pairCreated = (pair: Hex, a: SimToken, b: SimToken): Draft => ({
  address: V2_FACTORY,
  topics: [TOPIC.pairCreated, data(a.address), data(b.address)],
  data: data(pair, 1n),
});
const sync = (pair: Hex, reserve0: bigint, reserve1: bigint): Draft => ({
  address: pair,
  topics: [TOPIC.v2Sync],
  data: data(reserve0 * WEI, reserve1 * WEI),
});

const swap = (pair: Hex, amount0In: bigint, amount1Out: bigint): Draft => ({
  address: pair,
  topics: [TOPIC.v2Swap, data(named(99)), data(named(99))],
  data: data(amount0In, 0n, 0n, amount1Out),
});

/**
 * Logs that the attacker causes in a block. A trusted price needs an old pool with two makers, so the pool of DAI and
 * RICH begins early and gets two trades. DAI has the lowest address, so it is token0.
 */
function attack(number: number): readonly Draft[] {
  if (number === 5) return [pairCreated(BACKED, DAI, RICH), sync(BACKED, 12_000n, 12_000n)];
  if (number === 6 || number === 7) return [sync(BACKED, 12_000n, 12_000n), swap(BACKED, 1_000n, 990n)];
  if (number === 140)
    return [
      pairCreated(INVENTED, RICH, SCAM),
      sync(INVENTED, ISSUED, ISSUED),
      {
        address: RICH.address,
        topics: [TOPIC.transfer, data(NOBODY), data(WALLET)],
        data: data(ISSUED * WEI),
      },
    ];
  if (number !== 141) return [];
  return [sync(INVENTED, 2n * ISSUED, ISSUED / 2n), swap(INVENTED, ISSUED * WEI, (ISSUED * WEI) / 2n)];
}

let store: TestStore;
let chain: AuditChain;
let session: IngestSession;
let head: HeadSnapshot;
let api: ApiServer;

beforeAll(async () => {
  store = await openTestStore();
  chain = new AuditChain(7, attack, 2);
  chain.mine(150);
  session = await openAuditSession(chain, store.db, 20, [RICH, SCAM]);
  api = await startApi(store.runner, () => head, { chain: AUDIT_CHAIN });
});

afterAll(async () => {
  await api?.close();
  await store?.close();
});

async function catchUp(): Promise<void> {
  await session.advanceTo(headerOf(chain.head));
  await session.promoted();
  head = (await readHead(store.runner, AUDIT_CHAIN.chainId))!;
}

async function get<T>(path: string, shape: z.ZodType<{ readonly data: T }>): Promise<T> {
  const { status, text } = await api.get(`/api/v1${path}`);
  expect([path, status]).toEqual([path, 200]);
  return shape.parse(JSON.parse(text)).data;
}

const isCapped = (usd: number): void => {
  expect(usd).toBeLessThanOrEqual(HELD);
  expect(usd).toBeGreaterThanOrEqual(HELD * STEP * 0.999_999);
};

test.each(['in the head', 'once final'])(
  'a self-issued token counts with at most the capital behind its price, %s',
  async (when) => {
    if (when === 'once final') chain.mine(90);
    await catchUp();
    expect(head.finalTo >= 141).toBe(when === 'once final');

    const audit = await get(`/tokens/${RICH.address}/audit`, auditAnswerShape);
    expect(audit).toMatchObject({ price_usd: '1', confidence: 'medium' });
    expect(audit.depth_usd).toBeCloseTo(HELD * (Math.sqrt(1.02) - 1), 6);
    expect(audit.warnings).toContainEqual(
      expect.objectContaining({ code: 'value_capped', severity: 'info' }),
    );

    const invented = await get(`/pairs/${INVENTED}`, pairAnswerShape);
    isCapped(invented.liquidity_usd / 2);
    isCapped(invented.volume_24h_usd);
    const backed = await get(`/pairs/${BACKED}`, pairAnswerShape);
    expect(backed.liquidity_usd).toBe(2 * HELD);
    const { liquidity_usd } = await get(`/tokens/${RICH.address}`, tokenAnswerShape);
    expect(liquidity_usd).toBe(2 * HELD + invented.liquidity_usd / 2);

    const overview = await get('/overview', overviewAnswerShape);
    const pairs = await get('/pairs?limit=100', pairsAnswerShape);
    const sum = (field: 'liquidity_usd' | 'volume_24h_usd'): number =>
      pairs.reduce((total, pair) => total + pair[field], 0);
    expect(overview.tvl_usd).toBeCloseTo(sum('liquidity_usd'), 3);
    expect(overview.volume_24h_usd).toBeCloseTo(sum('volume_24h_usd'), 3);
    expect(overview.tvl_usd).toBeLessThan(1e7);

    const wallet = await get(`/portfolio/${WALLET}`, portfolioAnswerShape);
    isCapped(wallet.total_usd);
    expect(wallet.flags).toContain('value_capped');
    expect(wallet.tokens).toMatchObject([{ balance: String(ISSUED), flags: ['value_capped'] }]);
  },
);

test('a token that trades only in the pools of its route has no warning value_capped', async () => {
  const { warnings } = await get(`/tokens/${TOKENS.HEX.address}/audit`, auditAnswerShape);
  expect(warnings.map(({ code }) => code)).not.toContain('value_capped');
});
