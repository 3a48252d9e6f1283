/**
 * Attacks the random market of a seed. Tries a number of attacks for each aim (a direction and a size of the price
 * move).
 */
import { TRUSTED_MIN } from '../../../src/pricing/confidence';
import { AttackRunner, BLOCKS_MAX } from './attackPlan';
import { planMarket } from './makePools';
import { publishedCost } from './publishedCost';
import { AIMS, searchAttack, type Closest } from './searchAttack';
import { runHistory, type SimMarket } from './simMarket';

interface AttackedMarket {
  readonly seed: number;
  readonly label: string;
  readonly confidence: number;
  /** Number of evaluated attacks. */
  readonly attacks: number;
  /**
   * For each aim, the attack with the smallest ratio of loss to published cost. Aims that no attack reaches
   * are left out.
   */
  readonly closest: readonly Closest[];
}

/** `aimCount` is the number of aims, 1–6; the seed chooses them. `tries` is the number of attacks per aim. */
export function attackMarket(seed: number, tries: number, aimCount = AIMS.length): AttackedMarket {
  const aims = AIMS.map((_, index) => AIMS[(index + seed) % AIMS.length]!).slice(0, aimCount);
  const market: SimMarket = runHistory(planMarket(seed));
  const cost = publishedCost(market);
  const confidence = market.price?.confidence ?? 0;
  const noAttacks = { seed, label: market.plan.label, confidence, attacks: 0, closest: [] };
  if (cost === null || market.price === null) return noAttacks;
  const runner = new AttackRunner(market, market.plan.path[0]!, BLOCKS_MAX);
  const closest = aims.flatMap((aim) => {
    const published = (aim.isUp ? cost.up : cost.down)[aim.part];
    return searchAttack(market, runner, aim, published, tries) ?? [];
  });
  return { ...noAttacks, attacks: runner.evaluations, closest };
}

export const isTrustedMarket = ({ confidence }: AttackedMarket): boolean => confidence >= TRUSTED_MIN;
