/** Tests that the cap of a token limits the values that its issuer could invent. */
import { countSides, inCapSteps } from '../../../src/pricing/cap';
import { TRUSTED_MIN, type UsdPrice } from '../../../src/pricing/confidence';
import type { HopChange, MarketBlock } from '../../../src/pricing/priceBlock';
import { Pricer } from '../../../src/pricing/pricer';
import { valueSides, valueTrade } from '../../../src/pricing/tradeValue';
import { createRandom } from '../../support/createRandom';
import { ANCHORS, DAI, NATIVE, token, USDC, v2, v3, type TestPool } from '../../support/worlds/pools';

const RICH = token(50);
const SCAM = token(51);
const MAKERS = [token(90), token(91)];
const ISSUED = 1e12;
/** From this block on, routes use pools that were created in block 40. */
const GROWN = 160;
/** DAI that the issuer of RICH puts into the pool of RICH, and withdraws later. */
const HELD = 12_000;
/** Largest relative rounding of a cap, which is rounded down. */
const STEP = 1 - 2 ** (-1 / 16);

/** Moves of pools by block. */
type Script = Readonly<Record<number, readonly TestPool[]>>;

/** Applies blocks 32 to `last`. The first move of a pool creates it. Two makers trade with every move. */
function run(last: number, script: Script): { readonly pricer: Pricer; readonly hops: readonly HopChange[] } {
  const pricer = new Pricer({ anchors: ANCHORS, wrappedNative: NATIVE });
  const made = new Set<string>();
  const hops: HopChange[] = [];
  for (let number = 32; number <= last; number += 1) {
    const moves = script[number] ?? [];
    const legs = moves.filter(({ leg }) => !made.has(leg.key)).map(({ leg }) => leg);
    for (const { key } of legs) made.add(key);
    const block: MarketBlock = {
      number,
      timestamp: 1_000_000 + number * 10,
      legs: legs.map((leg) => ({ leg, older: false })),
      moves: moves.map(({ leg, state }) => ({ key: leg.key, steps: [{ state, cause: 'swap' as const }] })),
      traded: moves.map(({ leg }) => ({ key: leg.key, amount: 1e-9, makers: MAKERS })),
    };
    hops.push(...pricer.apply(block, false).hops);
  }
  return { pricer, hops };
}

const priceAfter = (last: number, script: Script, of = RICH): UsdPrice | null =>
  run(last, script).pricer.priceOf(of);
const isCapOf = (capUsd: number, usd: number): void => {
  expect(capUsd).toBeLessThanOrEqual(usd);
  expect(capUsd).toBeGreaterThanOrEqual(usd * (1 - STEP) * (1 - 1e-9));
};

/** This pool gives RICH a trusted price of 1 USD. */
const BOUGHT: Script = { 40: [v2(1, RICH, HELD, DAI, HELD)] };

test('the cap of a token is the value of the next token in its pools, and an anchor has no cap', () => {
  const { pricer } = run(GROWN, BOUGHT);
  const price = pricer.priceOf(RICH)!;
  expect(price.confidence).toBeGreaterThanOrEqual(TRUSTED_MIN);
  isCapOf(price.capUsd, HELD);
  expect(pricer.priceOf(DAI)!.capUsd).toBe(Infinity);
});

test('the value of a swap of 1e12 self-issued tokens is at most the capital behind their price', () => {
  const { pricer } = run(GROWN, { ...BOUGHT, 150: [v2(2, RICH, ISSUED, SCAM, ISSUED)] });
  const [rich, scam] = [pricer.priceOf(RICH), pricer.priceOf(SCAM)];
  const value = valueTrade(rich, scam, ISSUED, ISSUED);
  expect(value.tracked).toBe(true);
  isCapOf(value.amountUsd, HELD);
});

test('a swap below the cap keeps its value to the last digit, and an untracked swap has no cap', () => {
  const trusted = { usd: 0.1, confidence: 0.6, capUsd: 5_000 };
  const low = { ...trusted, confidence: 0.4, capUsd: 1 };
  expect(valueTrade(trusted, null, 30_000.3, 7).amountUsd).toBe(30_000.3 * 0.1);
  expect(valueTrade(trusted, low, 30_000.3, 7).amountUsd).toBe(30_000.3 * 0.1);
  expect(valueTrade(low, null, 30_000.3, 7)).toMatchObject({ tracked: false, untrackedUsd: 30_000.3 * 0.1 });
});

test('a swap with two trusted sides is worth the mean of both sides, with the value of each side limited by its cap', () => {
  const dai = { usd: 1, confidence: 0.99, capUsd: Infinity };
  const rich = { usd: 1, confidence: 0.6, capUsd: 100 };
  expect(valueTrade(dai, rich, 300, 1e9).amountUsd).toBe(200);
});

test('the value of a mint of 1e12 self-issued tokens is the cap, and a mint beside an anchor keeps the value of both sides', () => {
  const dai = { usd: 1, confidence: 0.99, capUsd: Infinity };
  const rich = { usd: 1, confidence: 0.6, capUsd: 12_000 };
  const low = { usd: 2, confidence: 0.3, capUsd: 5 };
  expect(valueSides([rich, null], [ISSUED, ISSUED])).toEqual([12_000, null]);
  expect(valueSides([rich, low], [ISSUED, 100])).toEqual([12_000, 200]);
  expect(valueSides([rich, dai], [50_000, 50_000])).toEqual([50_000, 50_000]);
});

test('a concentrated pool pays out its real balance, not its virtual reserve', () => {
  // 12,000 DAI, all within 2 % of the price, give the liquidity of a reserve of 1.2 million.
  const narrow = v3(1, RICH, DAI, { price: 1, liquidity: 1_206_000, balanceA: HELD, balanceB: HELD });
  isCapOf(priceAfter(GROWN, { 40: [narrow] })!.capUsd, HELD);
});

test('the cap falls in the block in which the capital leaves, and rises with the mean liquidity from the next epoch on', () => {
  const script = { 40: [v2(1, RICH, 90_000, DAI, 90_000)], 170: [v2(1, RICH, 30_000, DAI, 30_000)] };
  isCapOf(priceAfter(GROWN, script)!.capUsd, 90_000);
  isCapOf(priceAfter(170, script)!.capUsd, 30_000);
  const back = { ...script, 200: [v2(1, RICH, 90_000, DAI, 90_000)] };
  isCapOf(priceAfter(223, back)!.capUsd, 30_000);
  // The cap follows the mean liquidity over 30 minutes.
  const later = priceAfter(224, back)!.capUsd;
  expect(later).toBeGreaterThan(30_000);
  expect(later).toBeLessThan(90_000);
});

test('the narrowest hop of a path sets the cap', () => {
  const pools = [
    v2(1, NATIVE, 20_000, DAI, 40_000),
    v2(2, RICH, 1e6, NATIVE, 1e5),
    v2(3, SCAM, 500, RICH, 2e5),
  ];
  const { pricer } = run(GROWN, { 40: pools });
  isCapOf(pricer.priceOf(NATIVE)!.capUsd, 40_000);
  isCapOf(pricer.priceOf(RICH)!.capUsd, 40_000);
  // The cap is the value of 200,000 RICH at 0.2 USD.
  isCapOf(pricer.priceOf(SCAM)!.capUsd, 40_000);
  const thin = run(GROWN, { 40: [...pools.slice(0, 2), v2(3, SCAM, 500, RICH, 1e5)] }).pricer.priceOf(SCAM)!;
  isCapOf(thin.capUsd, 20_000);
});

test('the cap is the sum over the pools of a hop, and a pool that the price excludes adds nothing', () => {
  const honest = [
    v2(1, RICH, 9_000, DAI, 9_000),
    v2(2, RICH, 8_000, USDC, 8_000),
    v2(3, RICH, 7_000, DAI, 7_000),
  ];
  isCapOf(priceAfter(GROWN, { 40: honest })!.capUsd, 24_000);
  const outlier = v2(4, RICH, 1_000, DAI, 6_000);
  isCapOf(priceAfter(GROWN, { 40: [...honest, outlier] })!.capUsd, 24_000);
});

test('the stored hop changes with the cap, so a reader of stored hops knows the cap', () => {
  const { pricer, hops } = run(190, { 40: [v2(1, RICH, 1e9, DAI, 1e9)], 180: [v2(1, RICH, 9e8, DAI, 9e8)] });
  const last = hops.filter((change) => change.token === RICH).at(-1)!;
  isCapOf(last.after.cap, 9e8);
  expect(last.price!.capUsd).toBe(pricer.priceOf(RICH)!.capUsd);
  expect(last.before!.price).toBe(last.after.price);
});

test('a trade that changes caps by less than one rounding step changes the stored hop of its own token only', () => {
  const script: Record<number, readonly TestPool[]> = { 40: [v2(1, RICH, 1e6, DAI, 1_000_001)] };
  for (let block = 170; block < 190; block += 1)
    script[block] = [v2(1, RICH, 1e6 - block, DAI, 1_000_001 + block)];
  const { hops } = run(260, script);
  expect(
    hops.filter((change) => change.token === RICH && Math.floor(change.after.price) === 1).length,
  ).toBeLessThan(25);
});

test('an honest pool keeps the value of both sides, however the cap is rounded', () => {
  const seed = 20_261_126;
  const random = createRandom(seed);
  for (let i = 0; i < 500; i += 1) {
    const usd = 10 ** (random() * 12);
    // At the spot price, the values of the two sides of an honest pool differ only in their last digits.
    const other = usd * (1 + (random() - 0.5) * 1e-12);
    const sides = [
      { usd, capUsd: inCapSteps(other), poolWorth: 1 },
      { usd: other, capUsd: Infinity, poolWorth: 1 },
    ];
    const [counted, anchor] = countSides(sides);
    expect([seed, i, counted, anchor]).toEqual([seed, i, usd, other]);
  }
});

test('the weights of a pool limit the value of one side by the capped value of the other side', () => {
  const sides = [
    { usd: 80, capUsd: 20, poolWorth: 0.8 },
    { usd: 20, capUsd: Infinity, poolWorth: 0.2 },
  ];
  expect(countSides(sides)).toEqual([80, 20]);
  expect(countSides([{ ...sides[0]!, usd: 1e9 }, sides[1]!])).toEqual([80, 20]);
  expect(countSides([sides[0]!, { usd: 0, capUsd: 0, poolWorth: 0.2 }])).toEqual([20, 0]);
});

test('a cap is a positive number for any amount', () => {
  for (const amount of [0, 5e-324, 1e-300, 1, 1e308, Infinity]) {
    expect(inCapSteps(amount)).toBeGreaterThan(0);
    expect(inCapSteps(amount)).toBeLessThan(Infinity);
  }
});
