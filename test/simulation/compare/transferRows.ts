/** Recomputes transfers and balances plainly from the canonical logs. Shares no code with the product. */
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

function listMoves(blocks: readonly ChainBlock[], wrapped: string): Move[] {
  const moves: Move[] = [];
  for (const block of blocks) {
    for (const { address, topics, data, logIndex } of block.logs) {
      const [first, second] = [holderOf(topics[1]), holderOf(topics[2])];
      let sides: readonly [string, string] | null = null;
      if (topics[0] === TRANSFER && topics.length === 3 && first !== null && second !== null)
        sides = [first, second];
      if (topics[0] === DEPOSIT && topics.length === 2 && address === wrapped && first !== null)
        sides = [NOBODY, first];
      if (topics[0] === WITHDRAWAL && topics.length === 2 && address === wrapped && first !== null)
        sides = [first, NOBODY];
      if (sides === null || data.length !== 66) continue;
      const [from, to] = sides;
      const amount = BigInt(data);
      const ord = block.number * 2 ** 20 + logIndex;
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
export function oracleTransfers(blocks: readonly ChainBlock[], wrapped: string): string[] {
  return listMoves(blocks, wrapped).map(({ line }) => line);
}

/** Balances by the key `token holder` after these blocks, modulo 2^256 as signed numbers. */
export function oracleBalances(blocks: readonly ChainBlock[], wrapped: string): Map<string, bigint> {
  return sumBalances(listMoves(blocks, wrapped));
}

/** Contracts with a Transfer log that is not the log of a transfer. */
export function oracleUnread(blocks: readonly ChainBlock[]): Set<string> {
  const logs = blocks.flatMap(({ logs: own }) => own).filter(({ topics }) => topics[0] === TRANSFER);
  const isRead = ({ topics, data }: (typeof logs)[number]): boolean =>
    topics.length === 3 && topics.slice(1).every((topic) => holderOf(topic) !== null) && data.length === 66;
  return new Set(logs.filter((log) => !isRead(log)).map(({ address }) => address));
}
