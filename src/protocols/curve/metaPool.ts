/**
 * What StableSwap pools take from other logs and pools. The second coin of a meta pool is the LP token of its base pool, and
 * the rate of this coin is the virtual price of the base pool.
 */
import type { ChainLog } from '../../domain/block';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { NATIVE_COIN } from '../../domain/pools/nativeCoin';
import type { ManyTokenState } from '../manyTokenProtocol';
import type { CurveEvent } from './curveEvents';
import { curveIdOfPool } from './curveFamily';
import { lacksCurveBooks, toCurvePool } from './curveParams';
import { virtualPrice, type CurvePool } from './curvePool';

/** Topic of Transfer(address indexed from, address indexed to, uint256). */
export const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

export type CurveExchange = Extract<CurveEvent, { kind: 'exchange' | 'exchange_underlying' }>;

/** Virtual prices of the base pool at these states. Unknown ones are left out. */
export function virtualPricesOf(states: readonly ManyTokenState[], timestamp: number): bigint[] {
  return states.flatMap((state) => {
    const pool = toCurvePool(state);
    const isKnown = pool !== null && state.doubts === 0 && !lacksCurveBooks(state);
    return (isKnown ? virtualPrice(pool, timestamp) : null) ?? [];
  });
}

/** A meta pool with this virtual price of its base pool. */
export function withBaseRate(pool: CurvePool, price: bigint | undefined): CurvePool {
  const [first = 0n] = pool.rates;
  return price === undefined ? pool : { ...pool, rates: [first, price] };
}

/** The coin that the pool paid out just before its event. No Transfer shows the native coin. Null if it is unknown. */
export function findPaidCoin(
  tokens: readonly Hex[],
  amount: bigint,
  log: ChainLog,
  logs: readonly ChainLog[],
): number | null {
  const transfer = findTransfer(
    log,
    logs,
    ({ address, topics: [, from], data }) =>
      tokens.includes(address) && from === curveIdOfPool(log.address) && BigInt(data) === amount,
  );
  const index = tokens.indexOf(transfer?.address ?? NATIVE_COIN);
  return index === -1 ? null : index;
}

/**
 * The swap of the two coins of a meta pool behind a swap with a coin of its base pool. The amount of LP tokens is that of the
 * Transfer with which the base pool mints them to the meta pool, or burns them.
 */
export function readMetaExchange(
  tokens: readonly Hex[],
  event: CurveExchange,
  log: ChainLog,
  logs: readonly ChainLog[],
): CurveEvent | null {
  const isSold = event.soldId > 0;
  const self = curveIdOfPool(log.address);
  const [sender, receiver] = isSold ? [ZERO_HASH, self] : [self, ZERO_HASH];
  const transfer = findTransfer(
    log,
    logs,
    ({ address, topics: [, from, to] }) => address === tokens[1] && from === sender && to === receiver,
  );
  if (transfer === undefined) return null;
  const shares = BigInt(transfer.data);
  return isSold
    ? { ...event, kind: 'exchange', soldId: 1, sold: shares, boughtId: 0 }
    : { ...event, kind: 'exchange', soldId: 0, boughtId: 1, bought: shares };
}

/**
 * The swap of lending tokens behind a swap of the lent tokens. The pool mints what it gets, and redeems what it pays, so the
 * amounts are those of its last Transfers of both. A coin with the factor 0 is itself what the event names.
 */
export function readLentExchange(
  tokens: readonly Hex[],
  { lentUnits }: CurvePool,
  event: CurveExchange,
  log: ChainLog,
  logs: readonly ChainLog[],
): CurveEvent | null {
  const self = curveIdOfPool(log.address);
  const isLent = (id: number): boolean => (lentUnits[id] ?? 0n) > 0n;
  const [minted, redeemed] = (
    [
      [event.soldId, 2],
      [event.boughtId, 1],
    ] as const
  ).map(([id, side]) =>
    isLent(id)
      ? findTransfer(log, logs, ({ address, topics }) => address === tokens[id] && topics[side] === self)
      : undefined,
  );
  const isSoldLent = isLent(event.soldId);
  if ((isSoldLent && minted === undefined) || (isLent(event.boughtId) && redeemed === undefined)) return null;
  const sold = minted === undefined ? event.sold : BigInt(minted.data);
  const bought = redeemed === undefined ? event.bought : BigInt(redeemed.data);
  return { ...event, kind: 'exchange', sold, bought, ...(isSoldLent && { lent: event.sold }) };
}

/** The last Transfer before a log, in the same transaction, that fits. */
function findTransfer(
  { transactionHash, logIndex }: ChainLog,
  logs: readonly ChainLog[],
  fits: (log: ChainLog) => boolean,
): ChainLog | undefined {
  return logs.findLast(
    (each) =>
      each.transactionHash === transactionHash &&
      each.logIndex < logIndex &&
      each.topics[0] === TRANSFER &&
      each.data.length === ZERO_HASH.length &&
      fits(each),
  );
}
