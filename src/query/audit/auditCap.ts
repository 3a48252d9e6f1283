/** Decides whether a token's value cap lowers the value of its pools. Pure. */
import type { Hex } from '../../domain/hex';
import { countSides, type CappedValue } from '../../pricing/cap';
import { isTrusted } from '../../pricing/confidence';
import type { AuditInputs, AuditLeg } from './auditInputs';

/** The price of the audited token. */
interface CappedPrice {
  /** USD per whole token; null without a price. */
  readonly usd: number | null;
  readonly confidence: number;
  /** Cap of the token's value in USD; Infinity for an anchor. */
  readonly capUsd: number;
}

/** Whether the liquidity figure of one of the token's pools includes less than its whole balance of the token. */
export function isValueCapped(token: Hex, price: CappedPrice, inputs: AuditInputs): boolean {
  if (!isTrusted(price) || price.capUsd === Infinity) return false;
  for (const auditLeg of inputs.legs.values()) {
    const { token0, token1 } = auditLeg.leg;
    if (token0 !== token && token1 !== token) continue;
    const [ownSide, otherSide] = sidesOf(auditLeg, token, price, inputs);
    const [countedUsd = 0] = countSides([ownSide, otherSide]);
    if (countedUsd < ownSide.usd) return true;
  }
  return false;
}

/** The two sides of a leg: first the audited token's side, then the other token's side. */
function sidesOf(
  { leg, pool, index0, index1 }: AuditLeg,
  token: Hex,
  price: CappedPrice,
  { market, hops }: AuditInputs,
): readonly [CappedValue, CappedValue] {
  const { reserve0, reserve1 } = market.stateOf(leg);
  const sideOf = (sideToken: Hex, amount: number, index: number): CappedValue => {
    const sidePrice = sideToken === token ? price : hops.priceOf(sideToken);
    const poolWorth = pool.weights.length === 0 ? 1 : Number(pool.weights[index] ?? 0);
    return isTrusted(sidePrice)
      ? { usd: amount * sidePrice.usd, capUsd: sidePrice.capUsd, poolWorth }
      : { usd: 0, capUsd: 0, poolWorth };
  };
  const [side0, side1] = [sideOf(leg.token0, reserve0, index0), sideOf(leg.token1, reserve1, index1)];
  return leg.token0 === token ? [side0, side1] : [side1, side0];
}
