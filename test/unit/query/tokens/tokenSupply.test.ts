/** The number of holders, the supply and the warnings of tokens whose transfers may be invented. */
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import type { WatchedHolder } from '../../../../src/domain/chainDescription';
import type { BalanceChecks } from '../../../../src/query/holders/balanceChecks';
import { countOf, type TokenHolding } from '../../../../src/query/holders/holderCounts';
import {
  circulationOf,
  distributionOf,
  holdersOf,
  lpSupplyOf,
  supplyOf,
  warningsOfTransfers,
  type HoldingFacts,
} from '../../../../src/query/tokens/tokenSupply';

/** Number of holders and sums of balances after these transfers, in plain code for the query count_holders.sql. */
function holdingOf(transfers: readonly (readonly [from: Hex, to: Hex, amount: bigint])[]): TokenHolding {
  const balances = new Map<Hex, bigint>();
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
    zero_balance: balances.get(ZERO_ADDRESS) ?? 0n,
    watched: [...balances],
    largest: positive.slice(0, 64),
  });
}

const NOBODY: Hex = `0x${'99'.repeat(20)}`;
const user = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`;
const honest = Array.from({ length: 18 }, (_, index) => [ZERO_ADDRESS, user(index + 1), 1_000n] as const);
/** 3,000 transfers of one unit, all from this address. */
const inventedBy = (from: Hex) =>
  Array.from({ length: 3_000 }, (_, index) => [from, user(1_000 + index), 1n] as const);

const sampled = (heldChecked: number, unconfirmed: number, rebasing = false): BalanceChecks => ({
  rebasing,
  heldChecked,
  unconfirmed,
  sampledHolders: 5_000,
  doubted: false,
  odd: null,
});
const factsOf = (holding: TokenHolding, checks: BalanceChecks | null = sampled(8, 0)): HoldingFacts => ({
  holding,
  partial: false,
  checks,
});
const codesOf = (facts: HoldingFacts): string[] => warningsOfTransfers(facts).map(({ code }) => code);

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

test('a token with 3,000 mints without balances never has a number of holders, and a flag once a check finds them', () => {
  const holding = holdingOf([...honest, ...inventedBy(ZERO_ADDRESS)]);
  // The holders were never sampled, or they were sampled before the mints.
  for (const checks of [
    null,
    { ...sampled(8, 0), sampledHolders: 0 },
    { ...sampled(18, 0), sampledHolders: 18 },
  ])
    expect([holdersOf(factsOf(holding, checks)), distributionOf(factsOf(holding, checks))]).toEqual([
      null,
      null,
    ]);
  const checked = factsOf(holding, sampled(8, 4));
  expect([holdersOf(checked), supplyOf(checked), distributionOf(checked)]).toEqual([null, null, null]);
  expect(codesOf(checked)).toEqual(['unbalanced_transfers']);
});

test('a token with a Transfer log that cannot be read has no holders, no supply and a flag, whatever checks find', () => {
  const facts = factsOf(holdingOf(honest), { ...sampled(100, 0, true), odd: 'unread_transfer' });
  expect([holdersOf(facts), supplyOf(facts), distributionOf(facts)]).toEqual([null, null, null]);
  expect(codesOf({ ...facts, checks: { ...sampled(8, 0), odd: 'unread_transfer' } })).toEqual([
    'unbalanced_transfers',
  ]);
  const told = { total: 900n, watched: new Map<Hex, bigint>() };
  expect(supplyOf({ ...facts, partial: true, told })).toBeNull();
});

test('a token with unpaired Deposit logs has holders and a supply only while a sample confirms its balances', () => {
  const odd = 'unpaired_deposit';
  const confirmed = factsOf(holdingOf(honest), { ...sampled(8, 0), odd });
  expect([holdersOf(confirmed), supplyOf(confirmed)?.total]).toEqual([18, 18_000n]);
  for (const checks of [
    { ...sampled(8, 0), sampledHolders: 0 },
    { ...sampled(8, 0), doubted: true },
    sampled(100, 0, true),
    sampled(8, 4),
  ]) {
    const facts = factsOf(holdingOf(honest), { ...checks, odd });
    expect([holdersOf(facts), supplyOf(facts), distributionOf(facts)]).toEqual([null, null, null]);
  }
});

test('the number of holders may double after a sample, then a new sample is needed', () => {
  const checks = { ...sampled(8, 0), sampledHolders: 9 };
  expect(holdersOf(factsOf(holdingOf(honest), checks))).toBe(18);
  expect(holdersOf(factsOf(holdingOf(honest), { ...checks, sampledHolders: 8 }))).toBeNull();
});

test('a token keeps its number of holders if a tenth of the sample is unconfirmed', () => {
  const holding = holdingOf(honest);
  expect(holdersOf(factsOf(holding, sampled(1, 1)))).toBeNull();
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
  expect(holdersOf({ holding: null, partial: false, checks: sampled(8, 0) })).toBeNull();
});

test('after a late start, a token without a supply has a warning that says why', () => {
  const late = (change: Partial<HoldingFacts>): HoldingFacts => ({
    ...factsOf(holdingOf(honest)),
    partial: true,
    ...change,
  });
  const told = { total: 5n, watched: new Map<Hex, bigint>() };
  const rows: readonly (readonly [
    facts: HoldingFacts,
    total: bigint | undefined,
    codes: readonly string[],
  ])[] = [
    [late({ told }), 5n, ['partial_history']],
    [late({ told: null }), undefined, ['partial_history', 'supply_unknown']],
    [late({}), undefined, ['partial_history', 'supply_unknown']],
    [late({ told, checks: sampled(20, 19) }), undefined, ['partial_history', 'unbalanced_transfers']],
    [late({ told, checks: sampled(8, 0, true) }), undefined, ['rebasing', 'partial_history']],
  ];
  for (const [facts, total, codes] of rows)
    expect([supplyOf(facts)?.total, codesOf(facts)]).toEqual([total, codes]);
});

test('an LP token whose logs do not add up has no number of holders', () => {
  const pool = { created_block: 5 };
  expect(lpSupplyOf(pool, { holding: holdingOf(honest), partial: false })?.holders).toBe(18);
  const unbalanced = holdingOf([...honest, ...inventedBy(NOBODY)]);
  expect(lpSupplyOf(pool, { holding: unbalanced, partial: false })?.holders).toBeNull();
});

describe('circulating supply leaves out balances that do not circulate', () => {
  const [burn, team, other] = [user(1), user(2), user(3)] as const;
  const apart = (address: string, kind: WatchedHolder['kind'], tokens: readonly string[] | null = null) =>
    ({ address, label: kind, kind, tokens }) as WatchedHolder;
  const TOKEN = user(77);

  test('circulating supply is the total supply without the balances of burn addresses, treasuries and lockers', () => {
    const facts = { ...factsOf(holdingOf(honest)), watched: [apart(burn, 'burn'), apart(team, 'treasury')] };
    expect(supplyOf(facts)).toEqual({ total: 18_000n, burned: 1_000n });
    expect(circulationOf(facts, TOKEN)).toEqual({
      circulating: 16_000n,
      excludes: [
        { address: burn, label: 'burn', amount: 1_000n },
        { address: team, label: 'treasury', amount: 1_000n },
      ],
    });
  });

  test('the balance of the zero address is burned supply, as far as the contract still counts it', () => {
    const facts = { ...factsOf(holdingOf(honest)), watched: [apart(team, 'locker')], keptAtZero: 500n };
    expect(supplyOf(facts)).toEqual({ total: 18_500n, burned: 500n });
    expect(circulationOf(facts, TOKEN)?.circulating).toBe(17_000n);
    expect(circulationOf(facts, TOKEN)?.excludes[0]).toEqual({
      address: ZERO_ADDRESS,
      label: 'Burn address',
      amount: 500n,
    });
  });

  test('circulating supply is null without a treasury or locker of the token, and without a supply', () => {
    const facts = factsOf(holdingOf(honest));
    expect(circulationOf(facts, TOKEN)).toBeNull();
    expect(circulationOf({ ...facts, watched: [apart(burn, 'burn')] }, TOKEN)).toBeNull();
    expect(circulationOf({ ...facts, watched: [apart(team, 'treasury', [other])] }, TOKEN)).toBeNull();
    expect(circulationOf({ ...facts, watched: [apart(team, 'treasury', [TOKEN])] }, TOKEN)).not.toBeNull();
    expect(circulationOf({ ...facts, holding: null, watched: [apart(team, 'treasury')] }, TOKEN)).toBeNull();
  });

  test('if the token is older than the start block, circulating supply needs the earlier balance of every treasury and locker', () => {
    const told = { total: 900n, watched: new Map([[burn, 40n]]) };
    const facts = { holding: null, partial: true, checks: null, told };
    expect(supplyOf({ ...facts, watched: [apart(burn, 'burn')] })).toEqual({ total: 900n, burned: 40n });
    const watched = [apart(burn, 'burn'), apart(team, 'treasury')];
    expect(circulationOf({ ...facts, watched }, TOKEN)).toBeNull();
    const both = {
      total: 900n,
      watched: new Map([
        [burn, 40n],
        [team, 60n],
      ]),
    };
    expect(circulationOf({ ...facts, told: both, watched }, TOKEN)?.circulating).toBe(800n);
  });
});
