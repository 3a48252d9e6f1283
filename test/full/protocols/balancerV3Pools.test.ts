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
let head: number;

beforeAll(async () => {
  world = await openPoolWorld('balancer-v3', describeMarket, ...V3_NODE);
  market = await deployV3(world.anvil.rpc, [6, 18, 8]);
  const [usd, native, third] = market.tokens as [MarketToken, MarketToken, MarketToken];
  const fee = ONE / 1_000n;
  weighted = await create([usd, native], [8n, 1n], [(4n * ONE) / 5n, ONE / 5n], fee);
  stable = await create([usd, third], [9n, 11n], 200, fee);
  rated = await create([usd, market.wrappers[0]!], [5n, 5n], 100, fee);
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

/** Swaps this part of a billion of each balance in both directions, in two blocks. */
async function tradeAll(part: bigint, pools = [weighted, stable, rated]): Promise<void> {
  for (const indexIn of [0, 1]) {
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
  await expectFromLate(world, head - 1, 3, market.mine, expectAll);
  await program.end('SIGTERM');
  program = await world.start(0);
  market.setFee(stable, ONE / 500n);
  market.donate(market.wrappers[0]!, 900);
  await tradeAll(50n);
  await waitForBlock(program.url, await market.mine());
  await expectTruth(program, weighted, 4, 100);
  await expectTruth(program, stable, 5, 20);
  await expectTruth(program, rated, 5, 10);
});
