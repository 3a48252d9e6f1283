/**
 * Balancer V3: events against ethers, the part of each fee that the vault keeps, and pools that have no price.
 * test/full/protocols/balancerV3.test.ts compares the rest with the published contracts.
 */
import { AbiCoder, Interface } from 'ethers';
import fc from 'fast-check';

import type { ChainLog } from '../../../../src/domain/block';
import { callData } from '../../../../src/domain/contractCall';
import { ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import { ManyTokenDiscovery } from '../../../../src/ingest/pools/discoverManyTokenPools';
import { PoolRegistry } from '../../../../src/ingest/pools/poolRegistry';
import { createLog } from '../../../../src/log';
import { balancerV3 } from '../../../../src/protocols/balancerV3/balancerV3';
import { decodeV3Event, V3_VAULT_TOPICS } from '../../../../src/protocols/balancerV3/decodeV3Event';
import { DOUBTS } from '../../../../src/domain/pools/doubts';
import type { ManyTokenState } from '../../../../src/protocols/manyTokenProtocol';
import { answeringCalls } from '../../../support/node/vaultSetup';
import { runsOf } from '../../../support/run/runs';
import { encode, toLog } from '../reference';
import { oneDigitOff, otherLayout } from '../spoiltLogs';

const ONE = 10n ** 18n;
const E24 = 10n ** 24n;
const NOW = 1_700_000_000;
const POOL: Hex = `0x${'5a'.repeat(20)}`;
const VAULT: Hex = `0x${'ba'.repeat(20)}`;
const [A, B]: readonly [Hex, Hex] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`];
const coder = AbiCoder.defaultAbiCoder();
const HOOKS = `${'bool,'.repeat(10)}address`;
const EVENTS = new Interface([
  `event PoolRegistered(address indexed pool, address indexed factory, (address,uint8,address,bool)[], uint256, uint32, (address,address,address), (${HOOKS}), (bool,bool,bool,bool))`,
  'event Swap(address indexed pool, address indexed tokenIn, address indexed tokenOut, uint256, uint256, uint256, uint256)',
  'event LiquidityAdded(address indexed pool, address indexed provider, uint8 indexed kind, uint256, uint256[], uint256[])',
  'event LiquidityRemoved(address indexed pool, address indexed provider, uint8 indexed kind, uint256, uint256[], uint256[])',
  'event SwapFeePercentageChanged(address indexed pool, uint256)',
  'event AggregateSwapFeePercentageChanged(address indexed pool, uint256)',
  'event PoolRecoveryModeStateChanged(address indexed pool, bool)',
  'event AmpUpdateStopped(uint256)',
]);
const accounts = [A, B, ZERO_ADDRESS];
const hooks = [...Array<boolean>(10).fill(false), ZERO_ADDRESS];
const LOGS = {
  PoolRegistered: [
    POOL,
    A,
    [
      [A, 0, ZERO_ADDRESS, false],
      [B, 1, A, true],
    ],
    ONE / 100n,
    7,
    accounts,
    hooks,
    [false, true, false, true],
  ],
  Swap: [POOL, A, B, 1_000n, 990n, ONE / 100n, 10n],
  LiquidityAdded: [POOL, A, 1, ONE, [500n, 0n], [3n, 0n]],
  LiquidityRemoved: [POOL, A, 0, ONE, [500n, 20n], [0n, 0n]],
  SwapFeePercentageChanged: [POOL, ONE / 200n],
  AggregateSwapFeePercentageChanged: [POOL, ONE / 2n],
  PoolRecoveryModeStateChanged: [POOL, true],
} as const;
const DECODED = {
  PoolRegistered: { kind: 'registered', tokens: [A, B], swapFee: ONE / 100n },
  Swap: {
    kind: 'swap',
    tokenIn: A,
    tokenOut: B,
    amountIn: 1_000n,
    amountOut: 990n,
    swapFee: ONE / 100n,
    feeAmount: 10n,
  },
  LiquidityAdded: { kind: 'mint', provider: A, amounts: [500n, 0n], fees: [3n, 0n] },
  LiquidityRemoved: { kind: 'burn', provider: A, amounts: [500n, 20n], fees: [0n, 0n] },
  SwapFeePercentageChanged: { kind: 'swap_fee', fee: ONE / 200n },
  AggregateSwapFeePercentageChanged: { kind: 'aggregate_fee', fee: ONE / 2n },
  PoolRecoveryModeStateChanged: { kind: 'recovery', isOn: true },
};
type Name = keyof typeof LOGS;
const NAMES = Object.keys(LOGS) as Name[];
const logOf = (name: Name, values: readonly unknown[] = LOGS[name]): ChainLog => ({
  ...toLog(encode(EVENTS, name, values)),
  address: VAULT,
});

test.each(NAMES)('a %s log of Balancer V3 is decoded, and refused with a word more or less', (name) => {
  const log = logOf(name);
  expect(decodeV3Event(log)).toEqual(DECODED[name]);
  expect(V3_VAULT_TOPICS.has(log.topics[0]!)).toBe(true);
  const word = '00'.repeat(32);
  for (const data of [log.data + word, log.data.slice(0, -64), '0x'] as Hex[])
    expect(decodeV3Event({ ...log, data })).toBeNull();
  for (const topics of [[], log.topics.slice(0, -1), [...log.topics, `0x${word}` as Hex]])
    expect(decodeV3Event({ ...log, topics })).toBeNull();
});

test('a spoilt log of Balancer V3 is refused unless ethers reads and writes the same data', () => {
  // Accounts, hooks and flags of PoolRegistered are not read.
  const read = NAMES.filter((name) => name !== 'PoolRegistered');
  const logs = fc.constantFrom(...read.map((name) => encode(EVENTS, name, LOGS[name])));
  fc.assert(
    fc.property(fc.oneof(oneDigitOff(logs), otherLayout(logs)), (words) => {
      if (decodeV3Event(toLog(words)) === null) return;
      const { inputs } = EVENTS.getEvent(words.topics[0]!)!;
      const types = inputs.filter(({ indexed }) => indexed !== true);
      expect(coder.encode(types, coder.decode(types, words.data).toArray(true))).toBe(words.data);
    }),
    { numRuns: runsOf(2_000) },
  );
});

const answerOf = (types: readonly string[], values: readonly unknown[]): Hex =>
  coder.encode(types, values) as Hex;
const infoOf = (
  kinds: readonly [number, number],
  yields: boolean,
  balances: readonly bigint[] = [E24, E24],
): Hex =>
  answerOf(
    ['address[]', '(uint8,address,bool)[]', 'uint256[]', 'uint256[]'],
    [[A, B], kinds.map((kind) => [kind, A, yields]), balances, balances],
  );
const NO_HOOK = answerOf(HOOKS.split(','), hooks);
const RATES = answerOf(
  ['uint256[]', 'uint256[]'],
  [
    [1n, 1n],
    [ONE, ONE],
  ],
);
const WEIGHTS = answerOf(['uint256[]'], [[ONE / 2n, ONE / 2n]]);
const AMP = answerOf(['uint256', 'bool', 'uint256'], [200_000, false, 1_000]);
const configOf = (fee: bigint, kept: bigint, recovery: boolean): Hex =>
  answerOf(
    [
      ...Array<string>(4).fill('bool'),
      'uint256',
      'uint256',
      'uint256',
      'uint40',
      'uint32',
      ...Array<string>(4).fill('bool'),
    ],
    [true, true, true, true, fee, kept, 0, 0, 0, true, true, false, recovery],
  );

const created = balancerV3.readCreation(logOf('PoolRegistered'))!.state;
const factsOf = (...answers: (Hex | null)[]) => balancerV3.withFacts(created, answers)?.state ?? null;
const weighted = factsOf(infoOf([0, 0], false), NO_HOOK, RATES, WEIGHTS)!;
const stable = factsOf(infoOf([0, 0], false), NO_HOOK, RATES, null, AMP)!;
const booksOf = (state: ManyTokenState, recovery = false) =>
  balancerV3.withBooks(state, [configOf(ONE / 100n, ONE / 2n, recovery), infoOf([0, 0], false), AMP], false);
const after = (
  state: ManyTokenState,
  name: Name,
  values?: readonly unknown[],
  logs: readonly ChainLog[] = [],
) => {
  const step = balancerV3.readLog(state, logOf(name, values), logs, NOW);
  if (typeof step === 'string') throw new Error(step);
  return step.after;
};

test('the vault keeps its part of a fee outside the balances, and nothing in recovery mode', () => {
  const open = booksOf(weighted);
  const fee = 10n ** 16n + 1n;
  const swap = (state: ManyTokenState) =>
    after(state, 'Swap', [POOL, A, B, ONE, 5n, ONE / 100n, fee]).balances;
  const kept = fee / 2n;
  expect(swap(open)).toEqual([E24 + ONE - kept, E24 - 5n]);
  expect(swap(booksOf(weighted, true))).toEqual([E24 + ONE, E24 - 5n]);
  const inRecovery = after(open, 'PoolRecoveryModeStateChanged');
  expect(swap(inRecovery)).toEqual([E24 + ONE, E24 - 5n]);
  expect(swap(after(inRecovery, 'PoolRecoveryModeStateChanged', [POOL, false]))).toEqual(swap(open));
  expect(swap(after(open, 'AggregateSwapFeePercentageChanged', [POOL, 0n]))).toEqual([E24 + ONE, E24 - 5n]);
  expect(after(open, 'LiquidityAdded').balances).toEqual([E24 + 500n - 1n, E24]);
  expect(after(open, 'LiquidityRemoved').balances).toEqual([E24 - 500n, E24 - 20n]);
  expect(after(open, 'SwapFeePercentageChanged').swapFee).toBe(ONE / 200n);
  expect(after(open, 'SwapFeePercentageChanged', [POOL, ONE / 5n]).doubts).toBe(DOUBTS.terms);
  expect(
    balancerV3.readLog(open, logOf('LiquidityAdded', [POOL, A, 1, ONE, [1n, 1n, 1n], [0n, 0n, 0n]]), [], NOW),
  ).toBe('malformed');
});

test.each([
  ['weighted', weighted],
  ['stable', stable],
])('a swap of a %s pool must fit the formula within a pip', (_kind, listed) => {
  const open = booksOf(listed);
  const paid = E24 / 100n;
  const out = balancerV3.quote(open, 0, 1, paid, NOW)!;
  const swap = (amountOut: bigint, fee = ONE / 100n) =>
    after(open, 'Swap', [POOL, A, B, paid, amountOut, fee, 0n]).doubts;
  expect([swap(out), swap((out * 1_000_002n) / 1_000_000n), swap((out * 999_998n) / 1_000_000n)]).toEqual([
    0,
    DOUBTS.weights,
    DOUBTS.weights,
  ]);
  // The fee of the swap counts, not that of the pool.
  expect(swap(out, ONE / 50n)).toBe(DOUBTS.weights);
});

test('a pool has no price until the node told its books, also if the kept part changes in the block of its creation', () => {
  const asked = balancerV3.withBooks(
    weighted,
    [configOf(1n, ONE / 2n, false), infoOf([0, 0], false), null],
    true,
  );
  expect([asked.balances, asked.swapFee]).toEqual([[0n, 0n], ONE / 100n]);
  const logs = [logOf('AggregateSwapFeePercentageChanged')];
  const fill = (state: ManyTokenState) =>
    after(state, 'LiquidityAdded', [POOL, A, 1, ONE, [E24, E24], [0n, 0n]]);
  const [certain, uncertain] = [[], logs].map((all) => fill(after(asked, 'PoolRegistered', undefined, all)));
  expect(balancerV3.spotPrice(certain!, 0, 1, NOW)).toBe(1);
  for (const state of [uncertain!, fill(weighted), fill(stable)]) {
    expect([balancerV3.spotPrice(state, 0, 1, NOW), balancerV3.lacksBooks(state)]).toEqual([null, true]);
    const known = balancerV3.fillState(state, booksOf(state));
    expect([balancerV3.spotPrice(known, 0, 1, NOW), balancerV3.lacksBooks(known)]).toEqual([1, false]);
    expect(balancerV3.restoreState({ ...known, swapFee: 0n })).toEqual(known);
  }
  expect(balancerV3.withBooks(weighted, [null, infoOf([0, 0], false), null], false)).toBe(weighted);
});

const ratesOf = (...rates: readonly bigint[]): Hex => answerOf(['uint256[]', 'uint256[]'], [[1n, 1n], rates]);

/** The states after each of these logs of a block. */
function statesAfter(from: ManyTokenState, ...block: readonly ChainLog[]): ManyTokenState[] {
  const logs = block.map((log, logIndex) => ({ ...log, logIndex }));
  const states: ManyTokenState[] = [];
  for (const log of logs) {
    const step = balancerV3.readLog(states.at(-1) ?? from, log, logs, NOW);
    if (typeof step !== 'string') states.push(step.after);
  }
  return states;
}

test.each([
  ['stable', factsOf(infoOf([1, 0], false), NO_HOOK, RATES, null, AMP)!],
  ['weighted', factsOf(infoOf([1, 0], true), NO_HOOK, RATES, WEIGHTS)!],
])(
  'a %s pool with rates or yield has a price if its last swap follows from what the node told',
  (kind, listed) => {
    const config = configOf(ONE / 100n, ONE / 2n, false);
    const open = balancerV3.withBooks(listed, [config, infoOf([1, 0], false), AMP, ratesOf(ONE, ONE)], false);
    const priceOf = (state: ManyTokenState) => balancerV3.spotPrice(state, 0, 1, NOW);
    expect(priceOf(open)).toBe(1);
    const calls = ['getPoolTokenInfo(address)', 'getPoolTokenRates(address)'];
    expect(balancerV3.rateCalls(VAULT, open)).toEqual(
      calls.map((name) => ({ to: VAULT, data: callData(name, POOL) })),
    );
    // Before its first swap of the block, the vault takes a fee on yield.
    const start = [E24 - E24 / 1_000n, E24];
    const rates = ratesOf((ONE * 21n) / 20n, ONE);
    const told = (balances: readonly bigint[], from = open) =>
      balancerV3.withRates(from, [infoOf([1, 0], false, balances), rates]);
    const paid = E24 / 100n;
    const begun = after(told(start), 'SwapFeePercentageChanged', [POOL, ONE / 100n]);
    const out = balancerV3.quote(begun, 0, 1, paid, NOW)!;
    const wrong = (out * 99n) / 100n;
    const log = (amountOut: bigint) => logOf('Swap', [POOL, A, B, paid, amountOut, ONE / 100n, 1_000n]);
    const swaps = (from: ManyTokenState, ...amounts: readonly bigint[]): ManyTokenState =>
      statesAfter(from, ...amounts.map(log)).at(-1)!;
    const end = [start[0]! + paid - 500n, E24 - out];
    const swapped = swaps(told(end), out);
    expect([swapped.balances, swapped.doubts]).toEqual([end, 0]);
    expect(priceOf(swapped)).not.toBeNull();
    expect(balancerV3.restoreState({ ...swapped, swapFee: 0n })).toEqual(swapped);
    // The swap does not follow: the balances are still those of the vault.
    const doubtful = swaps(told([end[0]!, E24 - wrong]), wrong);
    expect([doubtful.balances, doubtful.doubts, priceOf(doubtful)]).toEqual([[end[0], E24 - wrong], 0, null]);
    const { params, doubts } = doubtful;
    expect(balancerV3.isFollowed({ weights: listed.weights ?? [], params, doubts })).toBe(false);
    const added = after(told([end[0]! + 499n, end[1]!], doubtful), 'LiquidityAdded');
    expect(priceOf(added)).toBeNull();
    const next = (from: ManyTokenState) => swaps(told(end, from), out);
    expect(next(added)).toEqual(swapped);
    // Without an answer, no older rate counts.
    const untold = balancerV3.withRates(swapped, [null, rates]);
    expect([priceOf(untold), priceOf(after(untold, 'LiquidityAdded')), priceOf(swaps(untold, out))]).toEqual([
      null,
      null,
      null,
    ]);
    expect(next(untold)).toEqual(swapped);
    // Two events: the swap shows that the vault took the fee before it only if it must follow to the last unit.
    const filled = [end[0]! + 499n, end[1]!];
    const both = statesAfter(told(filled), log(out), logOf('LiquidityAdded'));
    expect(both.map(({ balances }) => balances)).toEqual([end, filled]);
    expect(both.map((state) => priceOf(state) === null)).toEqual([kind === 'weighted', false]);
    // Without a fee, it needs not show.
    const free = statesAfter(told(filled, { ...open, balances: start }), log(out), logOf('LiquidityAdded'));
    expect(free.map((state) => priceOf(state) === null)).toEqual([false, false]);
  },
);

test('hooks that take part in amounts leave a pool without a price, rates do not', () => {
  const adjusting = answerOf(HOOKS.split(','), [true, ...hooks.slice(1)]);
  const doubtsOf = (...answers: (Hex | null)[]) => factsOf(...answers)?.doubts;
  expect(doubtsOf(infoOf([0, 1], true), NO_HOOK, RATES, WEIGHTS)).toBe(0);
  expect(balancerV3.rateCalls(VAULT, factsOf(infoOf([0, 1], false), NO_HOOK, RATES, WEIGHTS)!)).toEqual([]);
  expect(doubtsOf(infoOf([0, 1], false), NO_HOOK, RATES, null, AMP)).toBe(0);
  expect(doubtsOf(infoOf([0, 0], false), adjusting, RATES, WEIGHTS)).toBe(DOUBTS.unfollowed);
  // Neither weights nor an amplification, or not of this vault.
  expect(factsOf(infoOf([0, 0], false), NO_HOOK, RATES)).toBeNull();
  expect(factsOf(null, NO_HOOK, RATES, WEIGHTS)).toBeNull();
  // Weights that change in every block.
  const gradual = answerOf(['uint256', 'uint256', 'uint256[]', 'uint256[]'], [1, 2, [ONE], [ONE]]);
  for (const answers of [
    [gradual, null],
    [null, answerOf(['uint256'], [600])],
  ] as const)
    expect(factsOf(infoOf([0, 0], false), NO_HOOK, RATES, WEIGHTS, null, ...answers)).toMatchObject({
      weights: null,
    });
});

test('a pool whose contract and vault emit logs before its registration is found with its creation', async () => {
  const answers: Readonly<Record<string, Hex>> = {
    [callData('getPoolTokenInfo(address)', POOL)]: infoOf([0, 0], false, [5n, 5n]),
    [callData('getHooksConfig(address)', POOL)]: NO_HOOK,
    [callData('getPoolTokenRates(address)', POOL)]: RATES,
    [callData('getPoolConfig(address)', POOL)]: configOf(0n, ONE / 2n, false),
    [callData('getAmplificationParameter()')]: AMP,
  };
  const discovery = new ManyTokenDiscovery({
    rpc: answeringCalls(({ data }) => answers[data] ?? null),
    dexes: [{ name: 'vault', displayName: 'Vault', protocol: 'balancer_v3', factory: VAULT }],
    baseIsToken0: () => true,
    quoteRank: () => Infinity,
    log: createLog('silent', false),
  });
  const amp = { ...toLog(encode(EVENTS, 'AmpUpdateStopped', [200_000])), address: POOL };
  const fee = logOf('SwapFeePercentageChanged', [POOL, ONE / 100n]);
  const logs = [amp, fee, logOf('PoolRegistered')].map((log, logIndex) => ({ ...log, logIndex }));
  const block = { number: 7, hash: ZERO_HASH, parentHash: ZERO_HASH, timestamp: NOW, logs };
  const more = { baseFeePerGas: null, transactionCount: 1, transactions: [] };
  const findings = await discovery.discover([{ ...block, ...more }], new PoolRegistry(), true);
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatchObject({
    ord: toOrd(7, 2),
    createdTx: amp.transactionHash,
    pool: { address: POOL, poolType: 5, feePips: 10_000 },
    state: { tokens: [A, B], balances: [0n, 0n], swapFee: ONE / 100n, doubts: 0 },
  });
  // Each log of the block leaves the amplification and the fee as they are.
  const { state } = findings[0] as { state: ManyTokenState };
  for (const log of logs.slice(0, 2))
    expect(balancerV3.readLog(state, log, logs, NOW)).toMatchObject({ after: state, isStored: false });
});
