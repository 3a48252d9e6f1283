/** Checks that the score of an audit follows from its hops. */
import type { Audit } from '../../../../src/wire/audit';

/** The score is the product of the confidences of the hops. */
export function checkScore({ hops, confidence_score: score }: Audit): void {
  if (hops.length === 0) return;
  expect(score).toBe(
    Math.min(
      0.989,
      hops.reduce((product, hop) => product * hop.confidence, 1),
    ),
  );
}
