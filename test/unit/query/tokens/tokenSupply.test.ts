/** The number of holders, the supply and the warnings of tokens whose transfers may be invented. */
import { ZERO_ADDRESS } from '../../../../src/domain/hex';
import type { BalanceChecks } from '../../../../src/query/holders/balanceChecks';
import { countOf, type TokenHolding } from '../../../../src/query/holders/holderCounts';
import {
  distributionOf,
  holdersOf,
  lpSupplyOf,
  supplyOf,
  warningsOfTransfers,
  type HoldingFacts,
} from '../../../../src/query/tokens/tokenSupply';

/** Sums the transfers as count_holders.sql does. */
function holdingOf(
  transfers: readonly (readonly [from: string, to: string, amount: bigint])[],
): TokenHolding {
  const balances = new Map<string, bigint>();
  for (const [from, to, amount] of transfers) {
    balances.set(from, (balances.get(from) ?? 0n) - amount);
    balances.set(to, (balances.get(to) ?? 0n) + amount);
  }
  const others = [...balances].filter(([holder]) => holder !== ZERO_ADDRESS).map(([, balance]) => balance);
  const positive = others.filter((balance) => balance > 0n).sort((a, b) => (a > b ? -1 : 1));
  return countOf({
    holders: positive.length,
    negatives: others.filter((balance) => balance < 0n).length,
    addresses: balances.size,
    zero_balance: String(balances.get(ZERO_ADDRESS) ?? 0n),
    watched: [...balances].map(([holder, balance]) => [holder, String(balance)]),
    largest: positive.slice(0, 64).map(String),
  });
}

const NOBODY = `0x${'99'.repeat(20)}`;
const user = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`;
const honest = Array.from({ length: 18 }, (_, index) => [ZERO_ADDRESS, user(index + 1), 1_000n] as const);
/** 3,000 transfers of one unit, all from this address. */
const inventedBy = (from: string) =>
  Array.from({ length: 3_000 }, (_, index) => [from, user(1_000 + index), 1n] as const);

const factsOf = (holding: TokenHolding, checks: BalanceChecks | null = null): HoldingFacts => ({
  holding,
  partial: false,
  checks,
});
const codesOf = (facts: HoldingFacts): string[] => warningsOfTransfers(facts).map(({ code }) => code);
const sampled = (held: number, unconfirmed: number, rebasing = false): BalanceChecks => ({
  rebasing,
  held,
  unconfirmed,
});

test('a token whose logs add up has a number of holders', () => {
  const facts = factsOf(holdingOf(honest));
  expect([holdersOf(facts), supplyOf(facts)?.total]).toEqual([18, 18_000n]);
  expect(codesOf(facts)).toEqual([]);
});

test('a token with 3,000 transfers from an address that never received any has no number of holders, and a flag', () => {
  const facts = factsOf(holdingOf([...honest, ...inventedBy(NOBODY)]));
  expect([holdersOf(facts), supplyOf(facts), distributionOf(facts)]).toEqual([null, null, null]);
  expect(codesOf(facts)).toEqual(['unbalanced_transfers']);
});

test('a token with 3,000 mints without balances loses its number of holders once a balance check finds them', () => {
  const holding = holdingOf([...honest, ...inventedBy(ZERO_ADDRESS)]);
  expect(holdersOf(factsOf(holding))).toBe(3_018);
  const checked = factsOf(holding, sampled(20, 19));
  expect([holdersOf(checked), supplyOf(checked), distributionOf(checked)]).toEqual([null, null, null]);
  expect(codesOf(checked)).toEqual(['unbalanced_transfers']);
});

test('a token keeps its number of holders with one unconfirmed address, or with a tenth of a large sample unconfirmed', () => {
  const holding = holdingOf(honest);
  expect(holdersOf(factsOf(holding, sampled(1, 1)))).toBe(18);
  expect(holdersOf(factsOf(holding, sampled(100, 10)))).toBe(18);
  expect(holdersOf(factsOf(holding, sampled(100, 11)))).toBeNull();
});

test('a rebasing token whose sampled holders are confirmed keeps its number of holders', () => {
  // A holder sold the tokens that a rebase gave to the holder.
  const holding = holdingOf([...honest, [user(1), user(2), 1_500n]]);
  expect(holding.supply).toBeNull();
  expect(holdersOf(factsOf(holding, sampled(8, 0, true)))).toBe(17);
  expect(holdersOf(factsOf(holding, sampled(7, 0, true)))).toBeNull();
  expect(holdersOf(factsOf(holding, sampled(20, 9, true)))).toBeNull();
  expect(holdersOf(factsOf(holding, sampled(20, 0, false)))).toBeNull();
  expect(codesOf(factsOf(holding, sampled(8, 0, true)))).toEqual(['rebasing', 'unbalanced_transfers']);
});

test('a token has no number of holders if its history begins late, or if it has no transfers', () => {
  expect(holdersOf({ ...factsOf(holdingOf(honest)), partial: true })).toBeNull();
  expect(holdersOf({ holding: null, partial: false, checks: null })).toBe(0);
});

test('an LP token whose logs do not add up has no number of holders', () => {
  const pool = { created_block: 5 };
  expect(lpSupplyOf(pool, { holding: holdingOf(honest), partial: false })?.holders).toBe(18);
  const unbalanced = holdingOf([...honest, ...inventedBy(NOBODY)]);
  expect(lpSupplyOf(pool, { holding: unbalanced, partial: false })?.holders).toBeNull();
});
