/**
 * Asks the node about a wallet as of the snapshot's block. The questions are the native coin, balances that do not
 * follow from logs, and amounts owed to V3 positions. All questions go into one batch of limited size. Without an
 * answer, values come from the logs.
 */
import { callData, readUint } from '../../domain/contractCall';
import { isQuantity, type Hex } from '../../domain/hex';
import type { AccountState, StateAnswers, StateQuestion } from '../../domain/accountState';
import { collectCall, readCollected, type Collected } from '../../protocols/positionManager';
import type { Balances } from '../holders/balances';
import type { BalanceSeeds } from '../holders/balanceSeeds';

/** Largest numbers of balances and of positions per batch. */
const BALANCES_ASKED_MAX = 300;
const POSITIONS_ASKED_MAX = 100;

export interface WalletNode {
  /** Access to the node; null if no node is configured. */
  readonly node: AccountState | null;
  readonly seeds: BalanceSeeds;
}

interface Wallet {
  readonly address: Hex;
  /** Balances by the logs at the block. */
  readonly balances: Balances;
  readonly positions: readonly { readonly manager: string; readonly position_id: string }[];
  /** Tokens whose balances do not follow from their logs. */
  readonly rebasing: Pick<ReadonlySet<string>, 'has'>;
  /** Tokens that the wallet may have held before the history began. Null if the history is complete. */
  readonly earlier: readonly string[] | null;
}

export interface WalletState {
  /** Balance of the native coin in wei; null if the node did not answer. */
  readonly native: bigint | null;
  /** Balances of the wallet: from the node where it answered, otherwise from the logs. */
  readonly balances: Balances;
  /** Tokens for which a balance from before the history (seed) was added to the sum of the logs. */
  readonly seeded: ReadonlySet<string>;
  /** Tokens whose balances do not follow from their logs, and for which the node gave no balance. */
  readonly guessed: ReadonlySet<string>;
  /** Amounts owed to positions, by `<manager>-<number>`. Positions without an answer are missing. */
  readonly owed: ReadonlyMap<string, Collected>;
  /** True if the batch was too small for all questions. */
  readonly truncated: boolean;
}

/** Sends one batch to the node. Never rejects: without a node, the result comes from the logs. */
export async function readWalletState(
  { node, seeds }: WalletNode,
  blockHash: Hex,
  wallet: Wallet,
): Promise<WalletState> {
  const { address, balances, rebasing, earlier } = wallet;
  const rebasingHeld = [...balances.keys()].filter((token) => rebasing.has(token));
  const candidates = earlier === null ? [] : [...new Set([...balances.keys(), ...earlier])];
  const unseeded = candidates.filter(
    (token) => !rebasing.has(token) && seeds.find(address, token) === undefined,
  );
  const withoutBalance = [...rebasingHeld, ...unseeded];
  const tokens = withoutBalance.slice(0, BALANCES_ASKED_MAX);
  const positions = wallet.positions.slice(0, POSITIONS_ASKED_MAX);
  const questions: StateQuestion[] = [
    { kind: 'coin', address },
    ...positions.map(({ manager, position_id }) => collectQuestion(manager, position_id, address)),
    ...tokens.map((token) => balanceQuestion(token, address)),
  ];
  const answers = (await node?.ask(blockHash, questions)) ?? null;
  const [coin, ...rest] = answers ?? [];
  const nodeBalances = readBalances(tokens, rest.slice(positions.length));
  for (const token of unseeded) {
    const nodeBalance = nodeBalances.get(token);
    if (nodeBalance === undefined) continue;
    // Sums of logs are modulo 2^256, read as signed.
    seeds.keep(address, token, BigInt.asIntN(256, nodeBalance - (balances.get(token) ?? 0n)));
  }
  const { known, seeded } = seedBalances(balances, candidates, seeds, wallet);
  const rebased = rebasingHeld.filter((token) => nodeBalances.has(token));
  for (const token of rebased) known.set(token, nodeBalances.get(token) ?? 0n);
  return {
    // The answer of a faulty node may not be a number.
    native: isQuantity(coin) ? BigInt(coin) : null,
    balances: known,
    seeded,
    guessed: new Set(rebasingHeld.filter((token) => !nodeBalances.has(token))),
    owed: readOwed(positions, rest),
    truncated: tokens.length < withoutBalance.length || positions.length < wallet.positions.length,
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

function collectQuestion(manager: string, positionId: string, owner: Hex): StateQuestion {
  return { kind: 'call', to: asHex(manager), data: collectCall(BigInt(positionId), owner), from: owner };
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

/** Adds the balances from before the history (seeds) to the sums of the logs. */
function seedBalances(
  balances: Balances,
  candidates: readonly string[],
  seeds: BalanceSeeds,
  { address, rebasing }: Wallet,
): { known: Map<string, bigint>; seeded: ReadonlySet<string> } {
  const seededBalances = new Map(balances);
  const seeded = new Set<string>();
  for (const token of candidates) {
    const seed = rebasing.has(token) ? undefined : seeds.find(address, token);
    if (seed === undefined) continue;
    seededBalances.set(token, BigInt.asIntN(256, (balances.get(token) ?? 0n) + seed));
    if (seed !== 0n) seeded.add(token);
  }
  return { known: seededBalances, seeded };
}

function readOwed(
  positions: readonly { readonly manager: string; readonly position_id: string }[],
  answers: StateAnswers,
): ReadonlyMap<string, Collected> {
  const owed = new Map<string, Collected>();
  positions.forEach(({ manager, position_id }, index) => {
    const collected = readCollected(answers[index]);
    if (collected !== null) owed.set(`${manager}-${position_id}`, collected);
  });
  return owed;
}
