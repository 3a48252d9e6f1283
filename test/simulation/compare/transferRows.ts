/** Recomputes transfers and balances plainly from the canonical logs. Shares no code with the product. */
import { plainOrd } from './oraclePairs';
import type { ChainBlock } from '../../../src/domain/block';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const DEPOSIT = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
const WITHDRAWAL = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';
const NOBODY = `0x${'0'.repeat(40)}`;

interface Move {
  readonly block: number;
  readonly line: string;
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

function holderOf(topic: string | undefined): string | null {
  return topic !== undefined && /^0x0{24}[0-9a-f]{40}$/.test(topic) ? `0x${topic.slice(26)}` : null;
}

type Log = ChainBlock['logs'][number];

/** The two sides of a Transfer log; null for other logs. */
function transferOf({ topics, data }: Log): readonly [string, string] | null {
  const [from, to] = [holderOf(topics[1]), holderOf(topics[2])];
  const isTransfer = topics[0] === TRANSFER && topics.length === 3 && data.length === 66;
  return isTransfer && from !== null && to !== null ? [from, to] : null;
}

/** The two sides of a Deposit or Withdrawal log that no Transfer log of its transaction explains. */
function wrappingOf(log: Log, logs: readonly Log[], wrappedNative: string): readonly [string, string] | null {
  const { topics, data, address, transactionIndex } = log;
  const holder = holderOf(topics[1]);
  if (topics.length !== 2 || data.length !== 66 || holder === null) return null;
  if (topics[0] !== DEPOSIT && topics[0] !== WITHDRAWAL) return null;
  const isDeposit = topics[0] === DEPOSIT;
  const isExplained = logs.some((other) => {
    const sides = transferOf(other);
    if (other.address !== address || other.transactionIndex !== transactionIndex || sides === null)
      return false;
    // A Deposit is explained by tokens from nobody, or by coins to the contract; a Withdrawal by the reverse.
    const [source, target] = isDeposit ? sides : [sides[1], sides[0]];
    return sides.includes(holder) && (source === NOBODY || target === address);
  });
  if (isExplained && address !== wrappedNative) return null;
  return isDeposit ? [NOBODY, holder] : [holder, NOBODY];
}

function listMoves(blocks: readonly ChainBlock[], wrappedNative: string): Move[] {
  const moves: Move[] = [];
  for (const block of blocks) {
    for (const log of block.logs) {
      const sides = transferOf(log) ?? wrappingOf(log, block.logs, wrappedNative);
      if (sides === null) continue;
      const { address, data, logIndex } = log;
      const [from, to] = sides;
      const amount = BigInt(data);
      const ord = plainOrd(block.number, logIndex);
      const line = [ord, block.timestamp, address, from, to, amount].join(' ');
      moves.push({ block: block.number, line, token: address, from, to, amount });
    }
  }
  return moves;
}

/** Balances by the key `token holder`, modulo 2^256 as signed numbers. */
function sumBalances(moves: readonly Move[]): Map<string, bigint> {
  const balances = new Map<string, bigint>();
  const add = (key: string, amount: bigint): void => {
    balances.set(key, BigInt.asIntN(256, (balances.get(key) ?? 0n) + amount));
  };
  for (const { token, from, to, amount } of moves) {
    add(`${token} ${from}`, -amount);
    add(`${token} ${to}`, amount);
  }
  return balances;
}

/** Transfers as lines of: ord, time, token, sender, recipient, amount. */
export function oracleTransfers(blocks: readonly ChainBlock[], wrappedNative: string): string[] {
  return listMoves(blocks, wrappedNative).map(({ line }) => line);
}

/** Balances by the key `token holder` after these blocks, modulo 2^256 as signed numbers. */
export function oracleBalances(blocks: readonly ChainBlock[], wrappedNative: string): Map<string, bigint> {
  return sumBalances(listMoves(blocks, wrappedNative));
}

/** Contracts with a Transfer log that is not the log of a transfer. */
export function oracleUnread(blocks: readonly ChainBlock[]): Set<string> {
  const logs = blocks
    .flatMap(({ logs: blockLogs }) => blockLogs)
    .filter(({ topics }) => topics[0] === TRANSFER);
  return new Set(logs.filter((log) => transferOf(log) === null).map(({ address }) => address));
}
