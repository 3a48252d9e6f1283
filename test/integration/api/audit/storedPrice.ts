/** Prices a token by the hops of the store, by plain computation. */
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { lastOrdOfBlock } from '../../../../src/domain/ord';

export interface StoredHop {
  readonly ord: string;
  readonly token: Hex;
  readonly next: Hex;
  readonly hop: number;
  readonly trust: number;
  readonly cap: number;
}

/**
 * A token's price and cap at a block according to the store: the product of the current hops, and the least USD that one
 * of them can pay out.
 */
export function storedPrice(
  rows: readonly StoredHop[],
  token: Hex,
  block: number,
): { readonly usd: number | null; readonly cap: number } {
  const hops = new Map(
    rows.filter(({ ord }) => Number(ord) <= lastOrdOfBlock(block)).map((row) => [row.token, row]),
  );
  let cap = Infinity;
  const price = (at: Hex): number => {
    const row = hops.get(at);
    if (row === undefined || row.hop === 0) return 0;
    if (row.next === ZERO_ADDRESS) return row.hop;
    const next = price(row.next);
    cap = Math.min(cap, row.cap * next);
    return row.hop * next;
  };
  const usd = price(token) || null;
  return { usd, cap: usd === null ? 0 : cap };
}
