/** Sets how many random cases `npm test` tries. `npm run simulate -- --properties` tries all. */
const SHARE = Number(process.env['PROPERTY_SHARE'] ?? 0.2);

/** Number of random cases for a property. `fullRuns` is the number for a thorough search. */
export const runsOf = (fullRuns: number): number => Math.ceil(fullRuns * SHARE);

/** Whether the attack suite runs in full, as in `npm run attack`. */
export const IS_FULL_ATTACK = process.env['ATTACK_SIZE'] === 'full';
