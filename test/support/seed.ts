/** Seed of tests over random worlds: the same in every run, so that a run is repeatable; `SEED=7 npm test` tries another. */
export const SEED = Number(process.env['SEED'] ?? 20_261_121);
