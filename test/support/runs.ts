/** The share of the random cases that `npm test` tries; `npm run simulate -- --properties` tries all. */
const SHARE = Number(process.env['PROPERTY_SHARE'] ?? 0.2);

/** How many random cases a property is tried with. `whole`: as many as a thorough search takes. */
export const runsOf = (whole: number): number => Math.ceil(whole * SHARE);
