/**
 * Searches the cheapest attack on a market. Tries plain attacks first, then random changes to the best attacks.
 * Compares the loss with the cost that was published in the block before the attack.
 */
import type { MoveCosts } from '../../../src/pricing/cost/manipulationCost';
import { Random } from '../random';
import type { AttackPlan, AttackResult, AttackRunner } from './attackPlan';
import { knownTricks, plainPlans } from './knownTricks';
import { changeAtRandom } from './randomChange';
import type { SimMarket } from './simMarket';

/** Smallest allowed loss of an attack, as a fraction of the published cost. */
export const RATIO_MIN = 0.5;
/** Share of tries with plain attacks and known tricks, 0–1. The other tries change the best attacks at random. */
const PLAIN_PART = 0.6;
/** Number of attacks that random changes start from. */
const BEST_KEPT = 6;
const PARTS = { p2: 0.02, p10: 0.1, p50: 0.5 } as const;
type Part = keyof MoveCosts;

interface Aim {
  readonly part: Part;
  readonly isUp: boolean;
}

export const AIMS: readonly Aim[] = (['p2', 'p10', 'p50'] as const).flatMap((part) => [
  { part, isUp: true },
  { part, isUp: false },
]);

export interface Closest {
  readonly aim: Aim;
  readonly plan: AttackPlan;
  readonly result: AttackResult;
  readonly published: number;
  /** Loss of the attack divided by the published cost. */
  readonly ratio: number;
}

/** Finds the attack with the smallest ratio for an aim. Null if no attack reaches the aim. */
export function searchAttack(
  market: SimMarket,
  runner: AttackRunner,
  aim: Aim,
  published: number,
  tries: number,
): Closest | null {
  const random = new Random(
    market.plan.seed * 7 + AIMS.findIndex(({ part, isUp }) => part === aim.part && isUp === aim.isUp),
  );
  const priceChange = PARTS[aim.part];
  const wantedLog = Math.log(aim.isUp ? 1 + priceChange : 1 - priceChange);
  const best: Closest[] = [];
  const attempt = (plan: AttackPlan): void => {
    const result = runner.run(plan, wantedLog);
    if (result === null) return;
    best.push({ aim, plan, result, published, ratio: ratioOf(result.loss, published) });
    best.sort((a, b) => a.ratio - b.ratio);
    best.splice(BEST_KEPT);
  };
  const tricks = knownTricks(market, wantedLog, random);
  const firstPlans = [...plainPlans(market), ...tricks].slice(0, Math.ceil(tries * PLAIN_PART));
  for (const plan of firstPlans) attempt(plan);
  for (let i = firstPlans.length; i < tries; i += 1) {
    const basePlan =
      best.length > 0 && random.chance(0.85) ? random.pick(best).plan : random.pick(firstPlans);
    let plan = basePlan;
    for (let changes = random.int(1, 3); changes > 0; changes -= 1)
      plan = changeAtRandom(plan, market, random);
    attempt(plan);
  }
  return best[0] ?? null;
}

/** A published cost of 0 promises nothing, so no attack is cheaper. */
function ratioOf(loss: number, published: number): number {
  return published > 0 ? loss / published : Infinity;
}
