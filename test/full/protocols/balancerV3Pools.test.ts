/**
 * Balancer V3 pools through the whole program: the published contracts on a node, ingest, API. Answers must equal what the
 * vault says, for pools seen from their creation and for older ones.
 */
import {
  deployV3,
  quotedV3Price,
  V3_NODE,
  V3_SWAP,
  type V3Market,
  type V3Pool,
} from '../../support/balancerV3/v3Vault';
import { openBuffers, type V3Buffers } from '../../support/balancerV3/v3Buffers';
import type { MarketToken } from '../../support/protocols/poolMarket';
import {
  expectBarsClose,
  expectFromLate,
  getData,
  listSwaps,
  off,
  openPoolWorld,
  type PairAnswer,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import { waitForBlock, type Program } from '../../support/server/program';

const ONE = 10n ** 18n;
/** Enough units that whole units of the vault do not hide its price. */
const MILLIONS = 10n ** 12n;

interface V3Pair extends PairAnswer {
  readonly balances: readonly {
    readonly address: string;
    readonly balance: string;
    readonly balance_raw: string;
    readonly value_usd: number;
  }[];
}

let world: PoolWorld;
let market: V3Market;
let program: Program;
let weighted: V3Pool;
let stable: V3Pool;
/** A stable pool of a token and its wrapper, whose rate moves. */
let rated: V3Pool;
/** A pool of both wrappers, of which one trades only here and in its buffer. */
let boosted: V3Pool;
let buffers: V3Buffers;
let head: number;

beforeAll(async () => {
  world = await openPoolWorld('balancer-v3', describeMarket, ...V3_NODE);
  market = await deployV3(world.anvil.rpc, [6, 18, 8]);
  const [usd, native, third] = market.tokens as [MarketToken, MarketToken, MarketToken];
  const fee = ONE / 1_000n;
  weighted = await create([usd, native], [8n, 1n], [(4n * ONE) / 5n, ONE / 5n], fee);
  stable = await create([usd, third], [9n, 11n], 200, fee);
  rated = await create([usd, market.wrappers[0]!], [5n, 5n], 100, fee);
  boosted = await create(market.wrappers, [2n, 1n], [ONE / 2n, ONE / 2n], fee);
  buffers = openBuffers(world.anvil.rpc, market);
  buffers.initialize(market.wrappers[1]!.address, 9n * MILLIONS * ONE, 9n * MILLIONS * ONE);
  market.setFee(weighted, ONE / 100n);
  await market.mine();
  await tradeAll(1_000n);
  await world.grow();
  market.donate(market.wrappers[0]!, 7_000);
  await tradeAll(30n);
  head = await market.mine();
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

function describeMarket() {
  const [usd, native] = market.tokens;
  const dexes = [{ name: 'balancer', protocol: 'balancer_v3', factory: market.vault }];
  return { usd: usd!, native: native!, dexes };
}

async function create(
  tokens: readonly MarketToken[],
  millions: readonly bigint[],
  weights: readonly bigint[] | number,
  fee: bigint,
): Promise<V3Pool> {
  const amounts = tokens.map(({ decimals }, index) => millions[index]! * MILLIONS * 10n ** BigInt(decimals));
  const rates = tokens.map((token) =>
    market.wrappers.includes(token) ? { provider: token.address, paysYieldFees: true } : null,
  );
  const pool = await market.createPool({ tokens, amounts, weights, fee, rates });
  await market.mine();
  return pool;
}

/** Swaps this part of a billion of each balance in both directions, in two blocks. Wraps the same part of the buffer. */
async function tradeAll(part: bigint, pools = [weighted, stable, rated, boosted]): Promise<void> {
  for (const indexIn of [0, 1] as const) {
    market.sendAs(indexIn);
    const amount = (MILLIONS * ONE * part) / 10n ** 9n;
    buffers.exchange(market.wrappers[1]!.address, indexIn === 0 ? 'unwrap' : 'wrap', 'exactIn', amount);
    for (const pool of pools) {
      const balances = await market.balancesOf(pool);
      market.swap(pool, V3_SWAP.exactIn, indexIn, 1 - indexIn, (balances[indexIn]! * part) / 10n ** 9n);
    }
    await market.mine();
  }
}

const getPair = (from: Program, { address }: V3Pool): Promise<V3Pair> => getData(from, `/pairs/${address}`);

async function expectTruth(from: Program, pool: V3Pool, type: number, feeBps: number): Promise<V3Pair> {
  const pair = await getPair(from, pool);
  expect(pair).toMatchObject({ pool_type: type, fee_bps: feeBps });
  const base = pool.tokens.findIndex(({ address }) => address === pair.base_token.address);
  const perRaw = await quotedV3Price(market, pool, [base, 1 - base], (BigInt(feeBps) * ONE) / 10_000n);
  const price = perRaw * 10 ** (pool.tokens[base]!.decimals - pool.tokens[1 - base]!.decimals);
  expect(off(pair.price, price)).toBeLessThan(1e-9);
  await expectBalances(pair, pool);
  return pair;
}

async function expectBalances(pair: V3Pair, pool: V3Pool): Promise<void> {
  const balances = await market.balancesOf(pool);
  const own = pool.tokens.map(
    ({ address }) => pair.balances.find((one) => one.address === address)!.balance_raw,
  );
  expect(own).toEqual(balances.map(String));
}

async function expectAll(from: Program): Promise<void> {
  await expectTruth(from, weighted, 4, 100);
  await expectTruth(from, stable, 5, 10);
  const pair = await expectTruth(from, rated, 5, 10);
  // The pool gives the wrapper its price in USD.
  const [wrapper] = market.wrappers;
  const { balance, value_usd } = pair.balances.find(({ address }) => address === wrapper!.address)!;
  const price = pair.base_token.address === wrapper!.address ? Number(pair.price) : 1 / Number(pair.price);
  expect(off(value_usd, Number(balance) * price)).toBeLessThan(1e-9);
}

test('pools have the price, balances and newest fee of the vault', () => expectAll(program));

interface TokenAnswer {
  readonly price_usd: string;
}

interface AuditAnswer {
  readonly confidence_score: number;
  readonly hops: readonly {
    readonly to_token: string;
    readonly pools: readonly { readonly address: string }[];
  }[];
}

/** The wrapper of the native token has the USD price of its asset times the rate that the vault quotes, by its buffer. */
async function expectWrapper(): Promise<void> {
  const [native, wrapper] = [market.tokens[1]!.address, market.wrappers[1]!.address];
  const buffer = `0x${(2n ** 160n - 1n - BigInt(wrapper)).toString(16).padStart(40, '0')}`;
  const unit = MILLIONS * ONE;
  const rate = Number(await buffers.quote(wrapper, 'unwrap', unit)) / Number(unit);
  const [{ price_usd: nativeUsd }, { price_usd: wrapperUsd }] = await Promise.all(
    [native, wrapper].map((token) => getData<TokenAnswer>(program, `/tokens/${token}`)) as [
      Promise<TokenAnswer>,
      Promise<TokenAnswer>,
    ],
  );
  expect(off(wrapperUsd, Number(nativeUsd) * rate)).toBeLessThan(1e-9);
  const { hops, confidence_score } = await getData<AuditAnswer>(program, `/tokens/${wrapper}/audit`);
  expect(confidence_score).toBeGreaterThan(0.9);
  expect(hops[0]).toMatchObject({ to_token: native, pools: [{ address: buffer }] });
  const pair = await getData<V3Pair>(program, `/pairs/${buffer}`);
  expect(pair).toMatchObject({ pool_type: 5, fee_bps: 0, volume_24h_usd: 0 });
  const balances = (await buffers.balancesOf(wrapper)).map(String);
  expect(pair.balances.map(({ balance_raw }) => balance_raw)).toEqual(balances);
  // The pool of both wrappers has liquidity in USD, and volume since both have a price that is trusted.
  const swaps = await listSwaps(program, boosted);
  const values = swaps.map(({ amount_usd }) => amount_usd ?? 0);
  const { volume_24h_usd, liquidity_usd, balances: held } = await getPair(program, boosted);
  expect(Math.min(...values.slice(0, 2))).toBeGreaterThan(0);
  expect(
    off(
      volume_24h_usd,
      values.reduce((sum, value) => sum + value),
    ),
  ).toBeLessThan(1e-6);
  expect(
    off(
      liquidity_usd,
      held.reduce((sum, { value_usd }) => sum + value_usd, 0),
    ),
  ).toBeLessThan(1e-6);
}

test('a buffer gives its wrapper a price, and the pool of two wrappers has volume in USD', () =>
  expectWrapper());

test('each swap has the fee that was charged, and bars close at the price', async () => {
  for (const [pool, fee] of [
    [weighted, 0.01],
    [stable, 0.001],
    [rated, 0.001],
  ] as const) {
    const swaps = await listSwaps(program, pool);
    expect(swaps).toHaveLength(4);
    for (const swap of swaps.slice(0, 2))
      expect(off(swap.fee_usd, swap.amount_usd! * fee)).toBeLessThan(1e-6);
    await expectBarsClose(program, pool);
  }
});

test('older pools have the same facts, and a restart keeps them', async () => {
  await expectFromLate(world, head - 1, 5, market.mine, expectAll);
  await program.end('SIGTERM');
  program = await world.start(0);
  market.setFee(stable, ONE / 500n);
  market.donate(market.wrappers[0]!, 900);
  await tradeAll(50n);
  await waitForBlock(program.url, await market.mine());
  await expectTruth(program, weighted, 4, 100);
  await expectTruth(program, stable, 5, 20);
  await expectTruth(program, rated, 5, 10);
  await expectWrapper();
});
