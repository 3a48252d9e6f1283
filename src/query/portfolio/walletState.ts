/**
 * Asks the node about a wallet as of the snapshot's block. The questions are the native coin, balances that do not
 * follow from logs, and amounts owed to V3 positions. All questions go into one batch of limited size. Without an
 * answer, values come from the logs.
 */
import { callData, readUint, type ContractCall } from '../../domain/contractCall';
import { isQuantity, type Hex } from '../../domain/hex';
import type { AccountState, StateAnswers, StateQuestion } from '../../domain/accountState';
import { findProtocol } from '../../protocols/registry';
import { collectQuestions, type Collected } from '../../protocols/ticks/positionManager';
import type { Balances } from '../holders/balances';
import type { BalanceSeeds } from '../holders/balanceSeeds';
import type { StoredPool } from '../pairs/pools';
import type { OwnedPosition } from './portfolioPositions';

/** Largest numbers of balances and of positions per batch. */
const BALANCES_ASKED_MAX = 300;
const POSITIONS_ASKED_MAX = 100;

export interface WalletNode {
  /** Access to the node; null if no node is configured. */
  readonly node: AccountState | null;
  readonly seeds: BalanceSeeds;
}

/** A question about what is owed to the owner of a position. */
interface OwedQuestion {
  /** `<manager>-<number>`. */
  readonly id: string;
  readonly call: ContractCall;
  readonly read: (answer: Hex | null | undefined) => Collected | null;
}

interface Wallet {
  readonly address: Hex;
  /** Balances by the logs at the block. */
  readonly balances: Balances;
  readonly positions: readonly OwedQuestion[];
  /** Tokens whose balances do not follow from their logs. */
  readonly unfollowed: Pick<ReadonlySet<string>, 'has'>;
  /** Tokens that the wallet may have held before the history began. Null if the history is complete. */
  readonly earlierTokens: readonly string[] | null;
}

export interface WalletState {
  /** Balance of the native coin in wei; null if the node did not answer. */
  readonly native: bigint | null;
  /** Balances of the wallet: from the node where it answered, otherwise from the logs. */
  readonly balances: Balances;
  /** Tokens for which a balance from before the history (seed) was added to the sum of the logs. */
  readonly seededTokens: ReadonlySet<string>;
  /** Tokens whose balances do not follow from their logs, and for which the node gave no balance. */
  readonly guessedTokens: ReadonlySet<string>;
  /** Amounts owed to positions, by `<manager>-<number>`. Positions without an answer are missing. */
  readonly owedByPosition: ReadonlyMap<string, Collected>;
  /** True if the batch was too small for all questions. */
  readonly isTruncated: boolean;
}

/** Sends one batch to the node. Never rejects: without a node, the result comes from the logs. */
export async function readWalletState(
  { node, seeds }: WalletNode,
  blockHash: Hex,
  wallet: Wallet,
): Promise<WalletState> {
  const { address, balances, unfollowed, earlierTokens } = wallet;
  const rebasingTokens = [...balances.keys()].filter((token) => unfollowed.has(token));
  const candidates = earlierTokens === null ? [] : [...new Set([...balances.keys(), ...earlierTokens])];
  const unseededTokens = candidates.filter(
    (token) => !unfollowed.has(token) && seeds.find(address, token) === undefined,
  );
  const unknownTokens = [...rebasingTokens, ...unseededTokens];
  const askedTokens = unknownTokens.slice(0, BALANCES_ASKED_MAX);
  const askedPositions = wallet.positions.slice(0, POSITIONS_ASKED_MAX);
  const questions: StateQuestion[] = [
    { kind: 'coin', address },
    ...askedPositions.map(({ call }): StateQuestion => ({ kind: 'call', ...call })),
    ...askedTokens.map((token) => balanceQuestion(token, address)),
  ];
  const answers = (await node?.ask(blockHash, questions)) ?? null;
  const [coinAnswer, ...otherAnswers] = answers ?? [];
  const nodeBalances = readBalances(askedTokens, otherAnswers.slice(askedPositions.length));
  // The seed of each token that has none yet.
  for (const token of unseededTokens) {
    const nodeBalance = nodeBalances.get(token);
    if (nodeBalance === undefined) continue;
    // Sums of logs are modulo 2^256, read as signed.
    seeds.keep(address, token, BigInt.asIntN(256, nodeBalance - (balances.get(token) ?? 0n)));
  }
  const { known: knownBalances, seeded: seededTokens } = seedBalances(balances, candidates, seeds, wallet);
  const answeredRebasing = rebasingTokens.filter((token) => nodeBalances.has(token));
  for (const token of answeredRebasing) knownBalances.set(token, nodeBalances.get(token) ?? 0n);
  return {
    // The answer of a faulty node may not be a number.
    native: isQuantity(coinAnswer) ? BigInt(coinAnswer) : null,
    balances: knownBalances,
    seededTokens,
    guessedTokens: new Set(rebasingTokens.filter((token) => !nodeBalances.has(token))),
    owedByPosition: readOwed(askedPositions, otherAnswers),
    isTruncated: askedTokens.length < unknownTokens.length || askedPositions.length < wallet.positions.length,
  };
}

/** What the node is asked about a position in this pool. */
export function toOwedQuestion(position: OwnedPosition, pool: StoredPool, owner: Hex): OwedQuestion {
  const { manager, position_id, tick_lower: tickLower, tick_upper: tickUpper } = position;
  const questions = findProtocol(pool.protocol)?.owedQuestions ?? collectQuestions;
  const { factory, pool_id: poolId } = pool;
  const managed = { manager, tokenId: BigInt(position_id), owner, tickLower, tickUpper, factory, poolId };
  return {
    id: `${manager}-${position_id}`,
    call: questions.owedCall(managed),
    read: (answer) => questions.readOwed(answer, managed),
  };
}

/** Supplies of tokens from their contracts, in raw units. Tokens without an answer have no entry. */
export async function readSupplies(
  { node }: WalletNode,
  blockHash: Hex,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const askedTokens = tokens.slice(0, BALANCES_ASKED_MAX);
  const questions = askedTokens.map((token): StateQuestion => ({
    kind: 'call',
    to: asHex(token),
    data: callData('totalSupply()'),
  }));
  return readBalances(askedTokens, (await node?.ask(blockHash, questions)) ?? []);
}

function balanceQuestion(token: string, holder: Hex): StateQuestion {
  return { kind: 'call', to: asHex(token), data: callData('balanceOf(address)', holder) };
}

function asHex(address: string): Hex {
  return `0x${address.slice(2)}`;
}

function readBalances(tokens: readonly string[], answers: StateAnswers): ReadonlyMap<string, bigint> {
  const balances = new Map<string, bigint>();
  tokens.forEach((token, index) => {
    const balance = readUint(answers[index]);
    if (balance !== null) balances.set(token, balance);
  });
  return balances;
}

/** Adds the balances from before the first indexed block (seeds) to the sums of the logs. */
function seedBalances(
  balances: Balances,
  candidates: readonly string[],
  seeds: BalanceSeeds,
  { address, unfollowed }: Wallet,
): { known: Map<string, bigint>; seeded: ReadonlySet<string> } {
  const seededBalances = new Map(balances);
  const seededTokens = new Set<string>();
  for (const token of candidates) {
    const seed = unfollowed.has(token) ? undefined : seeds.find(address, token);
    if (seed === undefined) continue;
    seededBalances.set(token, BigInt.asIntN(256, (balances.get(token) ?? 0n) + seed));
    if (seed !== 0n) seededTokens.add(token);
  }
  return { known: seededBalances, seeded: seededTokens };
}

function readOwed(positions: readonly OwedQuestion[], answers: StateAnswers): ReadonlyMap<string, Collected> {
  const owedByPosition = new Map<string, Collected>();
  positions.forEach(({ id, read }, index) => {
    const collected = read(answers[index]);
    if (collected !== null) owedByPosition.set(id, collected);
  });
  return owedByPosition;
}
