/** Compares `price_reason` of tokens, pairs and audits, on a chain with tokens that have no price for every reason. */
import type { Hex } from '../../../../src/domain/hex';
import { readHead } from '../../../../src/query/head/headState';
import type { IngestSession } from '../../../../src/ingest/session/session';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import type { AuditAnswer } from '../../../../src/wire/audit';
import type { PairAnswer, PairsAnswer } from '../../../../src/wire/pairs';
import type { PriceReason } from '../../../../src/wire/priceReason';
import type { TokenAnswer, TokensAnswer } from '../../../../src/wire/tokens';
import { headerOf } from '../../../simulation/chain/simNode';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';
import { startApi, type ApiServer } from '../../../support/server/apiServer';
import { AuditChain, data, named, TOKENS, TOPIC, V2_FACTORY, type Draft, type SimToken } from './auditChain';
import { AUDIT_CHAIN, openAuditSession } from './auditWorld';

const { DAI } = TOKENS;
/** The contract of ODD does not answer decimals(). EMPTY has a pool that nobody filled. */
const [ODD, EMPTY, MOVED, DRAINED] = [50, 51, 52, 53].map((n) => ({ address: named(n), decimals: 18 })) as [
  SimToken,
  SimToken,
  SimToken,
  SimToken,
];
const POOLS = { odd: named(60), empty: named(61), old: named(62), new: named(63), drained: named(64) };
const WEI = 10n ** 18n;

const create = (pair: Hex, token: SimToken): Draft => ({
  address: V2_FACTORY,
  topics: [TOPIC.pairCreated, data(DAI.address), data(token.address)],
  data: data(pair, 1n),
});
const sync = (pair: Hex, dai: bigint, tokens: bigint): Draft => ({
  address: pair,
  topics: [TOPIC.v2Sync],
  data: data(dai, tokens),
});

/** In block 130 MOVED leaves the pool of its route for a new pool, and DRAINED loses all but 0.5 DAI. */
function act(number: number): readonly Draft[] {
  const thousand = 1_000n * WEI;
  if (number === 5)
    return [
      ...[create(POOLS.odd, ODD), sync(POOLS.odd, thousand, thousand), create(POOLS.empty, EMPTY)],
      ...[create(POOLS.old, MOVED), sync(POOLS.old, thousand, thousand)],
      ...[create(POOLS.drained, DRAINED), sync(POOLS.drained, thousand, thousand)],
    ];
  if (number !== 130) return [];
  return [
    ...[sync(POOLS.old, 0n, 0n), create(POOLS.new, MOVED), sync(POOLS.new, thousand, thousand)],
    sync(POOLS.drained, 0n, 0n),
    sync(POOLS.drained, WEI / 2n, WEI / 2n),
  ];
}

let store: TestStore;
let chain: AuditChain;
let session: IngestSession;
let head: HeadSnapshot;
let api: ApiServer;

beforeAll(async () => {
  store = await openTestStore();
  chain = new AuditChain(11, act, 2);
  chain.mine(140);
  session = await openAuditSession(chain, store.db, 20, [EMPTY, MOVED, DRAINED]);
  api = await startApi(store.runner, () => head, { chain: AUDIT_CHAIN });
  await catchUp();
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

async function get<Answer>(path: string): Promise<Answer> {
  const { status, text } = await api.get(`/api/v1${path}`);
  expect([path, status]).toEqual([path, 200]);
  return JSON.parse(text) as Answer;
}

const reasonOf = async ({ address }: SimToken): Promise<PriceReason> =>
  (await get<TokenAnswer>(`/tokens/${address}`)).data.price_reason!;

test('a token without a price has the same reason in its item and its audit, and a pair that of its quote token', async () => {
  const reasons = new Map<string, PriceReason | null>();
  for (const { address, price_usd, price_reason } of (await get<TokensAnswer>('/tokens?limit=100')).data) {
    const audit = (await get<AuditAnswer>(`/tokens/${address}/audit`)).data;
    expect([address, price_usd === null]).toEqual([address, audit.price_usd === null]);
    expect([address, price_reason]).toEqual([address, audit.price_reason]);
    expect(price_reason === null).toBe(price_usd !== null);
    reasons.set(address, price_reason);
    if (price_reason === null) continue;
    const { warnings } = (await get<TokenAnswer>(`/tokens/${address}`)).data;
    expect(warnings.find(({ code }) => code === 'no_route')?.message).toBe(price_reason.text);
  }
  expect([...reasons.values()].filter((reason) => reason !== null)).toHaveLength(7);
  const pairs = (await get<PairsAnswer>('/pairs?limit=100')).data;
  const ofQuotes = pairs.filter(({ price, price_usd: usd }) => price !== null && usd === null);
  expect(ofQuotes.length).toBeGreaterThan(0);
  for (const { price_reason, quote_token } of ofQuotes)
    expect(price_reason).toEqual(reasons.get(quote_token.address));
  for (const { price_usd, price_reason } of pairs) expect(price_reason === null).toBe(price_usd !== null);
});

test('a reason names the rule that left the price out, and what is missing', async () => {
  expect(await reasonOf(TOKENS.LOST)).toMatchObject({ code: 'no_route', have_usd: null, need_usd: null });
  expect((await reasonOf(TOKENS.LOST)).text).toContain('no pool with liquidity');
  expect((await reasonOf(TOKENS.FIVE)).text).toContain('more than 4 hops');
  expect(await reasonOf(ODD)).toMatchObject({ code: 'unknown_decimals', have_usd: null });
  expect((await reasonOf(TOKENS.DUST)).text).toMatch(
    /has \$\d+\.\d\d on the side with a known price, \$50 needed$/,
  );
  const pairReason = async (pair: Hex): Promise<PriceReason | null> =>
    (await get<PairAnswer>(`/pairs/${pair}`)).data.price_reason;
  expect(await pairReason(POOLS.odd)).toMatchObject({ code: 'unknown_decimals' });
  expect(await pairReason(POOLS.empty)).toMatchObject({ code: 'low_liquidity', have_usd: 0, need_usd: null });
});

test('the next epoch gives a route to a new pool, and drops a pool without enough liquidity, as the reasons say', async () => {
  expect(await reasonOf(MOVED)).toMatchObject({ code: 'no_route', have_usd: null });
  expect((await reasonOf(MOVED)).text).toContain('gets a route with the next epoch or trade');
  chain.mine(20);
  await catchUp();
  expect((await get<TokenAnswer>(`/tokens/${MOVED.address}`)).data).toMatchObject({ price_reason: null });
  expect(await reasonOf(DRAINED)).toMatchObject({ code: 'low_liquidity', have_usd: 0.5, need_usd: 50 });
});
